import { spawn, spawnSync } from "node:child_process";
import { existsSync, lstatSync, readFileSync, statSync } from "node:fs";
import { join, resolve } from "node:path";

export const projectFolder = resolve(import.meta.dirname, "..");

/** Runs a command in the project folder with its output shown; throws when it fails. */
export function runStep(title, command, args, options = {}) {
  if (title) console.error(`\n> ${title}`);
  const result = spawnSync(command, args, { cwd: projectFolder, stdio: "inherit", ...options });
  if (result.error) throw result.error;
  if (result.status !== 0) {
    throw new Error(`${title || command} failed (${result.signal ?? `exit ${result.status}`})`);
  }
  return result;
}

function toolPath(name) {
  const manifest = JSON.parse(
    readFileSync(join(projectFolder, "node_modules", name, "package.json"), "utf8"),
  );
  return join(
    projectFolder,
    "node_modules",
    name,
    manifest.bin[name] ?? Object.values(manifest.bin)[0],
  );
}

/** Runs the command-line program of an installed package. */
export function runTool(title, name, args, options) {
  return runStep(title, process.execPath, [toolPath(name), ...args], options);
}

/** Starts a command in the project folder; resolves with its output and how it ended. */
function startCommand(command, args, options) {
  const stdio = ["ignore", "pipe", "pipe"];
  const child = spawn(command, args, { cwd: projectFolder, stdio, ...options });
  const parts = [];
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (part) => parts.push(part));
  return new Promise((done) => {
    const end = (problem) => done({ text: Buffer.concat(parts).toString(), problem });
    child.on("error", (error) => end(error.message));
    child.on("close", (code, signal) => end(code === 0 ? undefined : (signal ?? `exit ${code}`)));
  });
}

/** Starts the command-line program of an installed package, as startCommand. */
export const startTool = (name, args, options) =>
  startCommand(process.execPath, [toolPath(name), ...args], options);

/** Starts a script of the project, as startCommand. */
export const startScript = (...args) => startCommand(process.execPath, args);

/**
 * Waits for steps that run side by side, and shows the output of each in this order. Throws for the
 * first that failed, once all have ended and said what is wrong.
 */
export async function finishSteps(steps) {
  const failed = [];
  for (const [title, ended] of steps) {
    console.error(`\n> ${title}`);
    const { text, problem } = await ended;
    process.stderr.write(text);
    if (problem !== undefined) failed.push(`${title} failed (${problem})`);
  }
  if (failed.length > 0) throw new Error(failed[0]);
}

/** Installs what the lockfile names, unless that has happened since the lockfile last changed. */
export function ensureInstalled() {
  const lockfile = join(projectFolder, "package-lock.json");
  const installed = join(projectFolder, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs) return;
  // npm would empty the folder behind a link, which another clone may use.
  const modules = join(projectFolder, "node_modules");
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(
      `${modules} is a link, and older than package-lock.json: remove it, then run npm ci`,
    );
  }
  // npm is a script on Windows, which only a shell starts; nothing here comes from outside.
  runStep("install", "npm", ["ci", "--no-audit", "--no-fund"], {
    shell: process.platform === "win32",
  });
}
