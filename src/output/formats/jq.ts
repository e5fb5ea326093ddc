import { Worker } from "node:worker_threads";
import { CliError } from "../../errors.ts";
import { readJqLibrary } from "./jq-library.ts";

// A worker, because jq-web blocks its thread (an endless expression could not be
// interrupted), writes to the console past the output gate and sets process.exitCode.
// The worker runs the library from its text, so that it works in a single-file build. The
// library reads one file itself, its WebAssembly, and compiles it: the fake `fs` returns nothing, and
// the fake `WebAssembly` the module that this thread has compiled once.
const workerCode = `
const { parentPort, workerData } = require("node:worker_threads");
const { code, compiled } = workerData;
const files = { __proto__: require("node:fs"), readFileSync: () => new Uint8Array() };
const instantiate = (_bytes, imports) =>
  WebAssembly.instantiate(compiled, imports).then((instance) => ({ module: compiled, instance }));
const module = { exports: {} };
new Function("module", "exports", "require", "__dirname", "WebAssembly", code)(
  module, module.exports, (name) => (name === "fs" ? files : require(name)), "",
  { __proto__: WebAssembly, instantiate });
parentPort.on("message", ({ json, expression }) =>
  module.exports
    .then((jq) => jq.raw(json, expression, ["-c", "--"]))
    .then((text) => parentPort.postMessage({ text: text ?? "" }))
    .catch((error) => parentPort.postMessage({ failure: String(error.stderr || error.message) })));
`;

type Answer = { text: string } | { failure: string };

function createFailure(expression: string, message: string): CliError {
  const first = message.split("\n")[0] ?? "";
  const reason = first.replace(/^jq: error(?: \([^)]*\))?: /, "").replace(/ \(Unix shell.*/, "");
  return new CliError("usage", `--jq ${expression}: ${reason}`, {
    hints: ["run with `--jq .` to see the input of the expression"],
  });
}

interface JqOptions {
  /** Time limit of an expression. */
  timeoutMs?: number;
  /** Stops the expression; the promise rejects with the signal's reason. */
  signal?: AbortSignal;
}

// The types of Node lack it.
const { WebAssembly } = globalThis as unknown as {
  WebAssembly: { compile(bytes: Uint8Array): Promise<object> };
};

interface Library {
  code: string;
  compiled: object;
}

let library: Promise<Library> | undefined;

async function compileLibrary(): Promise<Library> {
  const { code, wasm } = readJqLibrary();
  return { code, compiled: await WebAssembly.compile(wasm) };
}

/** A worker whose last expression succeeded: what checks an expression runs it, too. */
let idle: Worker | undefined;

function startWorker(workerData: Library): Worker {
  const options = { eval: true, workerData, env: {}, stdout: true, stderr: true };
  return new Worker(workerCode, options);
}

async function runInWorker(expression: string, json: string, options: JqOptions): Promise<Answer> {
  const { timeoutMs = 60_000, signal } = options;
  library ??= compileLibrary();
  const loaded = await library;
  signal?.throwIfAborted();
  const worker = idle ?? startWorker(loaded);
  idle = undefined;
  worker.ref();
  return await new Promise((resolve, reject) => {
    const finish = (end: () => void, isIdle = false): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
      worker.off("message", answered).off("error", failed);
      if (isIdle && !idle) {
        idle = worker;
        // It keeps no process alive.
        worker.unref();
      } else void worker.terminate();
      end();
    };
    const answered = (answer: Answer): void => finish(() => resolve(answer), "text" in answer);
    const failed = (error: Error): void => finish(() => reject(error));
    const interrupt = (): void => finish(() => reject(signal?.reason as Error));
    const timer = setTimeout(() => {
      const failure = `no result within ${Math.round(timeoutMs / 1000)} s`;
      finish(() => resolve({ failure }));
    }, timeoutMs);
    signal?.addEventListener("abort", interrupt);
    worker.on("message", answered).on("error", failed);
    worker.postMessage({ expression, json }, []);
  });
}

/**
 * Results of a jq expression on a JSON text, each as one line of JSON. The
 * language is the one of jq itself (jq-web is jq compiled to WebAssembly). Throws
 * CliError `usage` for an invalid expression, an error on this data, or a timeout.
 */
export async function runJq(
  expression: string,
  json: string,
  options: JqOptions = {},
): Promise<string[]> {
  const answer = await runInWorker(expression, json, options);
  if ("failure" in answer) throw createFailure(expression, answer.failure);
  return answer.text.split("\n").filter((line) => line !== "");
}
