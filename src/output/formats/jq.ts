import { Worker } from "node:worker_threads";
import { CliError } from "../../errors.ts";
import { readJqLibrary } from "./jq-library.ts";

// A worker, because jq-web runs without a pause (an endless expression could not
// be interrupted), writes to the console past the output gate and sets process.exitCode.
// The library is run from its text, which may have come out of a single file; the one file
// that it reads itself is its WebAssembly.
const program = `
const { parentPort, workerData } = require("node:worker_threads");
const { code, wasm } = workerData.library;
const files = { __proto__: require("node:fs"), readFileSync: () => wasm };
const module = { exports: {} };
new Function("module", "exports", "require", "__dirname", code)(
  module, module.exports, (name) => (name === "fs" ? files : require(name)), "");
module.exports
  .then((jq) => jq.raw(workerData.json, workerData.expression, ["-c", "--"]))
  .then((text) => parentPort.postMessage({ text: text ?? "" }))
  .catch((error) => parentPort.postMessage({ failure: String(error.stderr || error.message) }));
`;

type Answer = { text: string } | { failure: string };

function createFailure(expression: string, words: string): CliError {
  const first = words.split("\n")[0] ?? "";
  const reason = first.replace(/^jq: error(?: \([^)]*\))?: /, "").replace(/ \(Unix shell.*/, "");
  return new CliError("usage", `--jq ${expression}: ${reason}`, {
    hints: ["try `.` to see the data the expression is given"],
  });
}

interface JqOptions {
  /** The longest that an expression may take. */
  timeoutMs?: number;
  /** Ends the expression; the promise rejects with its reason. */
  signal?: AbortSignal;
}

function ask(expression: string, json: string, options: JqOptions): Promise<Answer> {
  const { timeoutMs = 60_000, signal } = options;
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const worker = new Worker(program, {
      eval: true,
      workerData: { library: readJqLibrary(), expression, json },
      env: {},
      stdout: true,
      stderr: true,
    });
    const finish = (end: () => void): void => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", interrupt);
      void worker.terminate();
      end();
    };
    const interrupt = (): void => finish(() => reject(signal?.reason as Error));
    const timer = setTimeout(() => {
      const failure = `gave no result within ${Math.round(timeoutMs / 1000)} s`;
      finish(() => resolve({ failure }));
    }, timeoutMs);
    signal?.addEventListener("abort", interrupt);
    worker.once("message", (answer: Answer) => finish(() => resolve(answer)));
    worker.once("error", (error) => finish(() => reject(error)));
  });
}

/**
 * Results of a jq expression on a text of JSON, each as one line of JSON.
 * The language is that of jq itself (jq-web is jq compiled to WebAssembly).
 * Throws CliError `usage` where the expression is wrong, fails on this data or
 * does not end in time.
 */
export async function runJq(
  expression: string,
  json: string,
  options: JqOptions = {},
): Promise<string[]> {
  const answer = await ask(expression, json, options);
  if ("failure" in answer) throw createFailure(expression, answer.failure);
  return answer.text.split("\n").filter((line) => line !== "");
}
