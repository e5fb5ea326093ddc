// `npm run bundle [-- FOLDER]`: build/knowctl.cjs, the whole program as one file that Node alone runs.
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { brotliCompressSync, constants } from "node:zlib";
import { build } from "./build.js";
import { ensureInstalled, projectFolder } from "./install.js";
import { licences } from "./licences.js";

// Not dist/, which npm packs and each build empties.
const outputFolder = join(projectFolder, "build");

const inProject = (...names) => join(projectFolder, ...names);

// jq is no file beside the program, so it is asked for where everything else is carried.
const carriedJq = {
  name: "carried-jq",
  load: (id) =>
    id.endsWith("/src/output/formats/jq-library.ts")
      ? `export const readJqLibrary = () => ({ code: carried("jq.js"), wasm: carried("jq.wasm") });`
      : null,
};

/**
 * Builds the program and gives each file that it loads when it runs, by its name
 * (`bin/knowctl.cjs`, `dist/…`, `jq.wasm`), and `LICENSES.txt` for everything in them.
 */
async function collectFiles() {
  const dist = mkdtempSync(join(tmpdir(), "knowctl-carry-"));
  try {
    const moduleIds = await build({ dist, plugins: [carriedJq] });
    const files = new Map([
      ["bin/knowctl.cjs", readFileSync(inProject("bin", "knowctl.cjs"))],
      ["jq.js", readFileSync(inProject("node_modules", "jq-web", "jq.js"))],
      ["jq.wasm", readFileSync(inProject("node_modules", "jq-web", "jq.wasm"))],
    ]);
    for (const name of readdirSync(dist, { recursive: true })) {
      if (/\.(cjs|json)$/.test(name) && name !== "package.json") {
        files.set(`dist/${name.replaceAll("\\", "/")}`, readFileSync(join(dist, name)));
      }
    }
    files.set("LICENSES.txt", Buffer.from(licences(moduleIds, ["jq-web"])));
    return files;
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}

const mark = "\u0001";

/**
 * Text that may stand in a comment of a file of ASCII alone, which Node reads fastest:
 * `*` before `/` and what is not ASCII become a mark and four digits. `read` below undoes it.
 */
function toComment(text) {
  const encode = (unit) => mark + unit.charCodeAt(0).toString(16).padStart(4, "0");
  return text.replace(/[\u0001\u007f-\uffff]|\*(?=\/)/g, encode);
}

// What is large (PDF, jq, the languages of code) is seldom loaded and is packed. The rest stays
// legible: whoever must look through a program before it is run can.
const largest = 256 * 1024;
const isPacked = (bytes) => bytes.length > largest;

// At the highest level, packing takes ten times as long for a tenth less.
const packing = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const content = (bytes) =>
  isPacked(bytes)
    ? brotliCompressSync(bytes, packing).toString("base64")
    : toComment(bytes.toString());

// Runs in the file. Modules stand in a comment at its end, which Node skips in 5 ms a megabyte;
// literals would cost 15 ms, at every start. What is loaded is read from there and compiled.
const read = `function read(name) {
  const [from, length, packed] = places[name] || [];
  if (from === undefined) throw new Error("not carried: " + name);
  const bytes = Buffer.allocUnsafe(length);
  const file = fs.openSync(__filename, "r");
  try {
    const read = fs.readSync(file, bytes, 0, length, size + from);
    if (read !== length) throw new Error(__filename + " is cut off");
  } finally {
    fs.closeSync(file);
  }
  const text = bytes.latin1Slice();
  if (packed) return require("node:zlib").brotliDecompressSync(Buffer.from(text, "base64"));
  return text.replace(/${mark}([0-9a-f]{4})/g, (_, digits) => String.fromCharCode(parseInt(digits, 16)));
}`;

function compose(files) {
  const carrier = readFileSync(join(projectFolder, "scripts", "carrier.cjs"), "utf8");
  const places = {};
  let carried = "";
  for (const [name, bytes] of files) {
    const text = content(bytes);
    carried += `\n==== ${name} ====\n`;
    places[name] = [carried.length, text.length, isPacked(bytes)];
    carried += text;
  }
  const head = (size) => `#!/usr/bin/env node
// The whole of knowctl in one file: node knowctl.cjs --help. Its licences: LICENSES.txt below.
"use strict";
const fs = require("node:fs");
const size = ${String(size).padStart(6)};
const places = ${JSON.stringify(places)};

${read}

${carrier.slice(carrier.indexOf("/**"))}
// The same file is the script of the worker threads.
const { isMainThread } = require("node:worker_threads");
const load = createCarrier(require, read, __filename);
load(isMainThread ? "bin/knowctl.cjs" : "dist/worker.cjs");
/*`;
  return `${head(head(0).length)}${carried}\n*/\n`;
}

async function bundle(folder) {
  const text = compose(await collectFiles());
  mkdirSync(folder, { recursive: true });
  const path = join(folder, "knowctl.cjs");
  writeFileSync(path, text, { mode: 0o755 });
  console.log(`${path}: ${(text.length / 1e6).toFixed(1)} MB`);
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  ensureInstalled();
  await bundle(process.argv[2] ?? outputFolder);
}
