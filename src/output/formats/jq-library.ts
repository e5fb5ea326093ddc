import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** jq-web for a worker thread: its CommonJS code, and jq itself as WebAssembly. */
export interface JqLibrary {
  code: string;
  wasm: Uint8Array;
}

/**
 * Reads both files of jq-web. The single-file build (`npm run bundle`) replaces this
 * function, because it has no files beside it.
 */
export function readJqLibrary(): JqLibrary {
  const path = require.resolve("jq-web");
  return { code: readFileSync(path, "utf8"), wasm: readFileSync(join(dirname(path), "jq.wasm")) };
}
