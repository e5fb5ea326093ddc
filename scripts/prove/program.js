import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { projectFolder } from "../install.js";

const binary = join(projectFolder, "bin", "knowctl.cjs");

/** Unique, so that a leak of it would be found. */
export const key = "CANARY-key-7d20c1f4e9";

function writeFiles(folder, files) {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}

/**
 * A home of its own with a project `folder` (a repository) that holds `files`, and an environment
 * without anything of this machine that could steer the program. Call `remove` at the end.
 */
export function makePlace({ url, files = {}, dialect, env = {} }) {
  const home = mkdtempSync(join(tmpdir(), "prove-"));
  const folder = join(home, "work");
  mkdirSync(join(folder, ".git"), { recursive: true });
  writeFiles(folder, files);
  return {
    home,
    folder,
    env: {
      PATH: process.env.PATH ?? "",
      HOME: home,
      XDG_CONFIG_HOME: join(home, "config"),
      XDG_STATE_HOME: join(home, "state"),
      XDG_DATA_HOME: join(home, "data"),
      KNOWCTL_BASE_URL: url,
      KNOWCTL_API_KEY: key,
      ...(dialect === undefined ? {} : { KNOWCTL_DIALECT: dialect }),
      ...env,
    },
    remove: () => rmSync(home, { recursive: true, force: true }),
  };
}

/** Sends a signal to a program that runProgram started, and to its tracer. */
export function killAll(child, signal) {
  try {
    process.kill(-child.pid, signal);
  } catch {
    // It has ended.
  }
}

/**
 * Runs the built program in a place, or with `command` (a tracer and its arguments) before it.
 * Resolves with exit code, signal and output; what hangs is killed after `limitMs`. `onStart` gets
 * the process.
 */
export function runProgram(args, { folder, env }, options = {}) {
  const { command = [], input = "", limitMs = 120_000, onStart = () => {} } = options;
  const [program, ...words] = [...command, process.execPath, binary, ...args];
  const child = spawn(program, words, {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const texts = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) {
    child[name].setEncoding("utf8").on("data", (text) => (texts[name] += text));
  }
  child.stdin.on("error", () => {}).end(input);
  let hung = false;
  const timer = setTimeout(() => {
    hung = true;
    // A tracer that is killed alone leaves what it traced.
    killAll(child, "SIGKILL");
  }, limitMs);
  onStart(child);
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      done({ code, signal, hung, ...texts });
    });
  });
}

/** The documents that the state of a place records, by id: what `state list` prints. */
export async function recordedIn(place) {
  const { code, stdout, stderr } = await runProgram(["state", "list", "--json"], place);
  if (code !== 0) throw new Error(`state list ended with ${code}: ${stderr}`);
  return JSON.parse(stdout);
}

/** Works on the items side by side; none begins after `seconds`. Resolves with how many were. */
export async function inParallel(items, { seconds, workers }, work) {
  const end = performance.now() + seconds * 1000;
  let at = 0;
  const worker = async () => {
    while (at < items.length && performance.now() < end) await work(items[at], at++);
  };
  await Promise.all(Array.from({ length: workers }, worker));
  return at;
}

/** Random numbers of a seed (mulberry32), as the sandbox's. */
export function randomOf(seed) {
  let state = Number(seed) >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The cases whose name begins with `only`; all without it. */
export function casesNamed(cases, nameOf, only = "") {
  const named = cases.filter((each) => nameOf(each).startsWith(only));
  if (named.length === 0) throw new Error(`there is no case ${only}`);
  return named;
}

export function shuffled(list, random) {
  return list
    .map((each) => [random(), each])
    .toSorted(([one], [other]) => one - other)
    .map(([, each]) => each);
}
