// Drives a headless Chromium over the pipes of its DevTools protocol: for the tests of the sandbox's
// page and for its picture.
import { spawn } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";

/** Ends what hangs; far above what a busy machine needs. */
const patienceMs = 30_000;

const names = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome"];
const elsewhere = [
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];

function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** The path of Chromium or Chrome: `$CHROMIUM`, else in PATH or its usual place; undefined without. */
export function findChromium(env = process.env) {
  if (env["CHROMIUM"]) return env["CHROMIUM"];
  const folders = (env["PATH"] ?? "").split(delimiter).filter(Boolean);
  const inPath = folders.flatMap((folder) => names.map((name) => join(folder, name)));
  return [...inPath, ...elsewhere].find(isExecutable);
}

const flags = [
  "--headless=new",
  "--remote-debugging-pipe",
  "--no-first-run",
  "--disable-extensions",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-gpu",
  "--hide-scrollbars",
  "--force-color-profile=srgb",
];

/** Windows key codes, and what the keys type. */
const keys = {
  Enter: [13, "\r"],
  Escape: [27],
  Tab: [9],
  Space: [32, " "],
  ArrowUp: [38],
  ArrowDown: [40],
};

/** Sends commands and hands on events; messages end with NUL. */
function createConnection(child) {
  const [, , , input, output] = child.stdio;
  const waiting = new Map();
  const listeners = new Set();
  let next = 0;
  let rest = "";
  let ended;
  const fail = (reason) => {
    ended ??= reason;
    for (const { reject } of waiting.values()) reject(ended);
    waiting.clear();
  };
  const receive = ({ id, method, params, sessionId, result, error }) => {
    if (id === undefined) {
      for (const listener of listeners) listener(method, params, sessionId);
      return;
    }
    const { resolve, reject, command } = waiting.get(id);
    waiting.delete(id);
    if (error) reject(new Error(`${command}: ${error.message}`));
    else resolve(result);
  };
  output.setEncoding("utf8").on("data", (text) => {
    const messages = (rest + text).split("\0");
    rest = messages.pop();
    for (const message of messages) receive(JSON.parse(message));
  });
  input.on("error", fail);
  child.once("error", fail);
  child.once("exit", (code) => fail(new Error(`Chromium ended with exit ${code}`)));
  const send = (command, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      const id = (next += 1);
      waiting.set(id, { resolve, reject, command });
      input.write(`${JSON.stringify({ id, method: command, params, sessionId })}\0`);
    });
  return { send, listeners };
}

async function openPage({ send, listeners }) {
  const { browserContextId } = await send("Target.createBrowserContext");
  const { targetId } = await send("Target.createTarget", { url: "about:blank", browserContextId });
  const { sessionId } = await send("Target.attachToTarget", { targetId, flatten: true });
  const page = {
    send: (command, params) => send(command, params, sessionId),
    /** Calls `listener` with the parameters of each event of this name. */
    on(event, listener) {
      listeners.add((method, params, session) => {
        if (method === event && session === sessionId) listener(params);
      });
    },
    /** The value of an expression, awaited; throws what it throws. */
    async evaluate(expression) {
      const options = { expression, awaitPromise: true, returnByValue: true };
      const { result, exceptionDetails } = await page.send("Runtime.evaluate", options);
      if (!exceptionDetails) return result.value;
      throw new Error(`${expression}: ${exceptionDetails.exception?.description ?? "failed"}`);
    },
    /** Waits until an expression is true, which is looked at in each frame; rejects when it never is. */
    until: (expression) =>
      page.evaluate(`new Promise((resolve, reject) => {
        setTimeout(() => reject(new Error("never true; the page shows: " + document.body.innerText)), ${patienceMs});
        const look = () => ((${expression}) ? resolve(true) : requestAnimationFrame(look));
        look();
      })`),
    type: (text) => page.send("Input.insertText", { text }),
    /** Presses and releases one of the keys above. */
    async press(key) {
      const [code, text] = keys[key];
      const event = { key: text === " " ? text : key, code: key, windowsVirtualKeyCode: code };
      await page.send("Input.dispatchKeyEvent", { ...event, type: "keyDown", text });
      await page.send("Input.dispatchKeyEvent", { ...event, type: "keyUp" });
    },
    /** Loads an address and waits for its load event. */
    async open(url) {
      const loaded = new Promise((resolve) => page.on("Page.loadEventFired", resolve));
      await page.send("Page.navigate", { url });
      await loaded;
    },
    close: () => send("Target.disposeBrowserContext", { browserContextId }),
    /** Width and height in CSS pixels. */
    resize: (width, height) =>
      page.send("Emulation.setDeviceMetricsOverride", {
        width,
        height,
        deviceScaleFactor: 1,
        mobile: false,
      }),
    /** PNG of the visible part, or of the whole page. */
    async picture({ isWhole = false, scale = 1 } = {}) {
      const { cssContentSize, cssLayoutViewport } = await page.send("Page.getLayoutMetrics");
      const height = isWhole ? cssContentSize.height : cssLayoutViewport.clientHeight;
      const clip = { x: 0, y: 0, width: cssLayoutViewport.clientWidth, height, scale };
      const options = { format: "png", clip, captureBeyondViewport: true };
      const { data } = await page.send("Page.captureScreenshot", options);
      return Buffer.from(data, "base64");
    },
  };
  for (const domain of ["Page", "Runtime", "Log"]) await page.send(`${domain}.enable`);
  // Else only one page of the browser would show its focus.
  await page.send("Emulation.setFocusEmulationEnabled", { enabled: true });
  return page;
}

/**
 * Starts Chromium without a window. `newPage` opens a page with cookies and storage of its own;
 * `close` ends the browser and removes its profile. Rejects if Chromium does not start.
 */
export async function startChromium(path) {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-chromium-"));
  const isRoot = process.getuid?.() === 0;
  const args = [...flags, `--user-data-dir=${folder}`, ...(isRoot ? ["--no-sandbox"] : [])];
  const child = spawn(path, args, { stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"] });
  const gone = new Promise((resolve) => child.once("close", resolve));
  const connection = createConnection(child);
  const close = async () => {
    await connection.send("Browser.close").catch(() => child.kill());
    await gone;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  try {
    await connection.send("Browser.getVersion");
  } catch (error) {
    rmSync(folder, { recursive: true, force: true });
    throw error;
  }
  return { newPage: () => openPage(connection), close };
}
