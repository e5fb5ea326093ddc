// The action's inputs, from the environment, as an array of arguments for knowctl: no shell reads
// them, and none of them can become a flag of its own. See action.yml.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { appendFileSync, readFileSync, rmSync } from "node:fs";
import { constants, tmpdir } from "node:os";
import { isAbsolute, join, resolve } from "node:path";

/** Inputs that are a flag of the same name with one value. */
const values = [
  "base-url cc-pair-id connector dialect profile config ca-file timeout root since shard run id-prefix",
  "source sections anchors max-section-chars link link-style link-base links format updated-at owners images",
  "wait concurrency rate max-failures state-project client-cert client-key",
].flatMap((names) => names.split(" "));
/** Inputs with a value a line, each of them a flag. */
const lists = ["include", "exclude", "metadata", "tag", "map", "require-access"];
/** Inputs that are `true` or `false`. */
const switches =
  "no-ignore no-lint allow-empty allow-secrets meta-commit drafts dry-run force checksum no-state offline-state allow-sync allow-id-change allow-pruned drop-access overwrite verify claim".split(
    " ",
  );
/** Inputs that no list of processes may show, as variables of the child. */
const variables = {
  "api-key": "KNOWCTL_API_KEY",
  "access-token": "KNOWCTL_ACCESS_TOKEN",
  proxy: "KNOWCTL_PROXY",
  "shared-state": "KNOWCTL_SHARED_STATE",
};
const counts = ["created", "updated", "unchanged", "skipped", "failed"];

/** Exit code of `ingest --dry-run --exit-code` where there is something to send. */
const changesCode = 12;

class InputError extends Error {}

const input = (name) => process.env[`INPUT_${name.replaceAll("-", "_").toUpperCase()}`] ?? "";

function isOn(name) {
  const value = input(name);
  if (value === "true") return true;
  if (value === "false" || value === "") return false;
  // The value is not repeated: the runner reads commands in what is printed.
  throw new InputError(`input ${name}: expected true or false`);
}

const linesOf = (name) =>
  input(name)
    .split(/\r?\n/)
    .filter((line) => line.trim() !== "");

/** A path that can be neither a flag nor stdin nor the name of a subcommand. */
const asPath = (path) => (isAbsolute(path) || /^\.\.?[/\\]/.test(path) ? path : `./${path}`);

function reportsOf() {
  const main = input("report") || join(process.env.RUNNER_TEMP || tmpdir(), "knowctl-report.json");
  const kinds = { report: ".json", "report-html": ".html", "report-junit": ".xml" };
  for (const [name, extension] of Object.entries(kinds)) {
    if (input(name) !== "" && !input(name).endsWith(extension)) {
      throw new InputError(`input ${name}: expected a path that ends with ${extension}`);
    }
  }
  const more = [input("report-html"), input("report-junit")].filter((path) => path !== "");
  return { main: resolve(main), all: [main, ...more] };
}

function argumentsFor(reports) {
  const flags = [
    ...values.filter((name) => input(name) !== "").map((name) => `--${name}=${input(name)}`),
    ...lists.flatMap((name) => linesOf(name).map((line) => `--${name}=${line}`)),
    ...switches.filter(isOn).map((name) => `--${name}`),
    // The cache needs a folder that is known beforehand, so there always is one.
    ...(isOn("no-state") || input("state") === "" ? [] : [`--state=${input("state")}`]),
    ...(isOn("dry-run")
      ? ["--exit-code"]
      : [
          ...reports.map((path) => `--report=${path}`),
          ...linesOf("notify").map((target) => `--notify=${target}`),
        ]),
  ];
  return ["ingest", ...flags, "--", ...linesOf("paths").map(asPath)];
}

function environment() {
  const env = Object.entries(process.env).filter(([name]) => !name.startsWith("INPUT_"));
  for (const [name, variable] of Object.entries(variables)) {
    if (input(name) !== "") env.push([variable, input(name)]);
  }
  if (isOn("trust-project")) env.push(["KNOWCTL_TRUST_PROJECT", "1"]);
  return Object.fromEntries(env);
}

/** Runs knowctl; the signals that end a job reach it. Gives the exit code. */
async function run(executable, args, env) {
  const child = spawn(process.execPath, [executable, ...args], {
    env,
    stdio: ["ignore", "inherit", "inherit"],
  });
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => child.kill(signal));
  return new Promise((done, fail) => {
    child.on("error", fail);
    child.on("close", (code, signal) => done(code ?? 128 + constants.signals[signal]));
  });
}

/** That of an earlier step would be taken for this one's where this one writes none. */
function removeReport(path) {
  try {
    rmSync(path, { force: true });
  } catch {
    // knowctl says better what is wrong with the place.
  }
}

function readReport(path) {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

/** A value may have any text in it: the delimiter is one that nobody can know. */
function writeOutputs(outputs) {
  const path = process.env.GITHUB_OUTPUT;
  if (!path) return;
  const text = Object.entries(outputs).map(([name, value]) => {
    const end = `end-${randomUUID()}`;
    return `${name}<<${end}\n${value}\n${end}\n`;
  });
  appendFileSync(path, text.join(""));
}

async function main() {
  isOn("cache");
  const reports = reportsOf();
  const args = argumentsFor(reports.all);
  const installed = join(
    process.env.RUNNER_TEMP || tmpdir(),
    "knowctl/node_modules/knowctl/bin/knowctl.cjs",
  );
  if (!isOn("dry-run")) removeReport(reports.main);
  const code = await run(resolve(input("executable") || installed), args, environment());
  const report = isOn("dry-run") ? undefined : readReport(reports.main);
  writeOutputs({
    "exit-code": code,
    status: report?.status ?? "",
    ...Object.fromEntries(counts.map((name) => [name, report?.counts?.[name] ?? ""])),
    report: report ? reports.main : "",
    changes: isOn("dry-run") && (code === 0 || code === changesCode) ? code === changesCode : "",
  });
  return isOn("dry-run") && code === changesCode ? 0 : code;
}

try {
  process.exitCode = await main();
} catch (error) {
  if (!(error instanceof InputError)) throw error;
  console.error(`::error title=knowctl action::${error.message}`);
  process.exitCode = 2;
}
