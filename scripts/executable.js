// `npm run executable [-- FOLDER]`: build/knowctl, Node and the program in one file, by Node's own means alone.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { collectFiles, outputFolder } from "./carry.js";
import { ensureInstalled, projectFolder, runStep } from "./install.js";

// Node 25.5 brought --build-sea; before it, another program had to put the parts together.
const needed = [25, 5];

function checkNode() {
  const [major, minor] = process.versions.node.split(".").map(Number);
  if (major > needed[0] || (major === needed[0] && minor >= needed[1])) return;
  throw new Error(
    `this is Node ${process.versions.node}, and only Node ${needed.join(".")} or newer can make an executable of itself.\n` +
      "Run scripts/executable.js with Node 26, or make the single file: npm run bundle",
  );
}

// Carried files are assets here: one that is not loaded costs nothing. A worker thread has no
// file to start from either; it is given this script once more, as a text.
function mainScript() {
  const carrier = readFileSync(join(projectFolder, "scripts", "carrier.cjs"), "utf8");
  return `"use strict";
const { getAsset } = require("node:sea");
const { isMainThread } = require("node:worker_threads");
const read = (name) => name.endsWith(".wasm") ? new Uint8Array(getAsset(name)) : getAsset(name, "utf8");
${carrier.slice(carrier.indexOf("/**"))}
const workerScript = () => new URL("data:text/javascript," + encodeURIComponent(
  'import { createRequire } from "node:module";' +
  'const require = createRequire("file:///");' +
  read("main.cjs")));
const load = createCarrier(require, read, process.execPath, workerScript);
load(isMainThread ? "bin/knowctl.cjs" : "dist/worker.cjs");
`;
}

/** Licence of Node itself, which is most of the executable, where its own package has it. */
function nodeLicence() {
  for (const folder of ["..", "../share/doc/node"]) {
    try {
      return readFileSync(join(dirname(process.execPath), folder, "LICENSE"), "utf8");
    } catch {
      // Another kind of installation.
    }
  }
  return "Node.js: https://github.com/nodejs/node/blob/main/LICENSE\n";
}

function writeParts(folder, files, target) {
  files.set("main.cjs", Buffer.from(mainScript()));
  const assets = {};
  for (const [name, bytes] of files) {
    const path = join(folder, name.replaceAll("/", "_"));
    writeFileSync(path, bytes);
    assets[name] = path;
  }
  const output = join(target, process.platform === "win32" ? "knowctl.exe" : "knowctl");
  const config = join(folder, "sea.json");
  const settings = {
    main: assets["main.cjs"],
    output,
    assets,
    disableExperimentalSEAWarning: true,
    // NODE_OPTIONS goes on to count, as with an installed Node: --use-system-ca and the like.
    execArgvExtension: "env",
  };
  writeFileSync(config, JSON.stringify(settings));
  return { config, output };
}

async function makeExecutable(target) {
  const folder = mkdtempSync(join(tmpdir(), "knowctl-executable-"));
  try {
    const files = await collectFiles();
    mkdirSync(target, { recursive: true });
    const { config, output } = writeParts(folder, files, target);
    runStep("executable", process.execPath, ["--build-sea", config]);
    const licences = `${files.get("LICENSES.txt").toString()}\n${nodeLicence()}`;
    writeFileSync(join(target, "LICENSES.txt"), licences);
    console.log(`${output}: ${(statSync(output).size / 1e6).toFixed(0)} MB`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  try {
    checkNode();
    ensureInstalled();
    await makeExecutable(process.argv[2] ?? outputFolder);
  } catch (error) {
    console.error(`error: ${error.message}`);
    process.exitCode = 1;
  }
}
