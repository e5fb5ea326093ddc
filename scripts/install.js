import { spawnSync } from "node:child_process";
import { existsSync, readFileSync, statSync } from "node:fs";
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

/** Runs the command-line program of an installed package. */
export function runTool(title, name, args, options) {
  const manifest = JSON.parse(
    readFileSync(join(projectFolder, "node_modules", name, "package.json"), "utf8"),
  );
  const bin = manifest.bin[name] ?? Object.values(manifest.bin)[0];
  const path = join(projectFolder, "node_modules", name, bin);
  return runStep(title, process.execPath, [path, ...args], options);
}

/** Installs what the lockfile names, unless that has happened since the lockfile last changed. */
export function ensureInstalled() {
  const lockfile = join(projectFolder, "package-lock.json");
  const installed = join(projectFolder, "node_modules", ".package-lock.json");
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(lockfile).mtimeMs) return;
  // npm is a script on Windows, which only a shell starts; nothing here comes from outside.
  runStep("install", "npm", ["ci", "--no-audit", "--no-fund"], {
    shell: process.platform === "win32",
  });
}
