import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

const require = createRequire(import.meta.url);

/** jq-web as it is run in a thread: its CommonJS code, and jq itself as WebAssembly. */
export interface JqLibrary {
  code: string;
  wasm: Uint8Array;
}

/**
 * Reads both files of jq-web. The single file (`npm run bundle`) has another
 * function in this one's place: there are no files beside it to read.
 */
export function readJqLibrary(): JqLibrary {
  const path = require.resolve("jq-web");
  return { code: readFileSync(path, "utf8"), wasm: readFileSync(join(dirname(path), "jq.wasm")) };
}
