// Requests to the sandbox. The page gets the public key with its HTML; any other key is typed in.

const storageName = "knowctl-sandbox-key";
const meta = /** @type {HTMLMetaElement} */ (document.querySelector('meta[name="sandbox-key"]'));
let key = meta.content || sessionStorage.getItem(storageName) || "";

/** The sandbox refused the key. */
export class Denied extends Error {}

export const hasKey = () => key !== "";

/** @param {string} text */
export function useKey(text) {
  key = text;
  sessionStorage.setItem(storageName, text);
}

export function forgetKey() {
  key = "";
  sessionStorage.removeItem(storageName);
}

/**
 * Throws Denied for a key that no header can hold.
 * @param {string} path
 * @param {{ method?: string, body?: unknown, signal?: AbortSignal }} [options]
 * @returns {Promise<Response>}
 */
export async function send(path, { method = "GET", body, signal } = {}) {
  // The browser refuses such a header, which would look like a lost connection.
  if (/[^\u0020-\u007e]/.test(key)) throw new Denied();
  const headers = new Headers({ authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set("content-type", "application/json");
  return await fetch(path, {
    method,
    headers,
    cache: "no-store",
    redirect: "error",
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    ...(signal ? { signal } : {}),
  });
}

/**
 * One of the sandbox's own endpoints, which no fault touches.
 * @param {string} path
 * @param {{ method?: string, body?: unknown }} [options]
 * @returns {Promise<any>}
 */
export async function control(path, options = {}) {
  const signal = AbortSignal.timeout(10_000);
  const response = await send(`/sandbox/${path}`, { ...options, signal });
  if (response.status === 401 || response.status === 403) throw new Denied();
  if (response.status === 404) throw new Error("The sandbox does not have it.");
  if (!response.ok) throw new Error(`The sandbox answered with status ${response.status}.`);
  return await response.json();
}
