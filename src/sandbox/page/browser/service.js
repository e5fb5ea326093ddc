// Requests to the sandbox. The page gets the public key with its HTML; any other key is typed in.

const storageName = "knowctl-sandbox-key";
const written = document.querySelector('meta[name="sandbox-key"]')?.getAttribute("content");
let key = written || sessionStorage.getItem(storageName) || "";

/** The sandbox refused the key. */
export class Denied extends Error {}

export const hasKey = () => key !== "";

/** Keeps the key as long as this tab is open; "" forgets it. */
export function useKey(text) {
  key = text;
  sessionStorage.setItem(storageName, text);
}

/**
 * Throws Denied for a key that no header can hold: the browser's error would look like a lost connection.
 * @param {string} path
 * @param {string} [method]
 * @param {unknown} [body]
 * @param {AbortSignal} [signal]
 */
export async function send(path, method, body, signal) {
  if (/[^\u0020-\u007e]/.test(key)) throw new Denied();
  const headers = new Headers({ authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  const init = { method, headers, body: JSON.stringify(body), signal };
  return await fetch(path, { ...init, cache: "no-store", redirect: "error" });
}

/**
 * One of the sandbox's own endpoints, which no fault touches.
 * @param {string} path
 * @param {string} [method]
 * @param {unknown} [body]
 */
export async function control(path, method, body) {
  const response = await send(`/sandbox/${path}`, method, body, AbortSignal.timeout(10_000));
  if (response.status === 401 || response.status === 403) throw new Denied();
  if (response.status === 404) throw new Error("The sandbox does not have it.");
  if (!response.ok) throw new Error(`The sandbox answered with status ${response.status}.`);
  return await response.json();
}
