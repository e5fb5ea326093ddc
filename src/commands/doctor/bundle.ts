import { accessSync, constants, lstatSync } from "node:fs";
import { hostname, userInfo } from "node:os";
import { basename, dirname, extname, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { writeWhole } from "../../config/file/files.ts";
import type { ProbeTrace } from "../../api/retry/prober.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem, type ExitName } from "../../errors.ts";
import { findingsText, type Finding, type FindingStatus } from "../../output/findings.ts";
import { neutralise, neutraliseJson } from "../../output/terminal/neutralise.ts";
import { createSecrets, type Secrets } from "../../output/terminal/redact.ts";
import type { FailureCount } from "../../sync/state/look-ups.ts";
import type { ValueRow } from "../config/show.ts";
import { statsOf } from "../stats-of.ts";
import type { Examination } from "./check.ts";
import { createMachine } from "../../config/find/folders.ts";

/** The whole result, for `--output json` and the bundle. */
export interface DoctorReport {
  version: 1;
  /** ISO 8601, UTC. */
  at: string;
  tool: { name: string; version: string };
  node: string;
  system: string;
  status: "ok" | "warning" | "failure";
  exit: { name: ExitName; code: number };
  counts: Record<FindingStatus, number>;
  service: { baseUrl: string | null; dialect: string | null; version: string | null };
  checks: Finding[];
  /** Every value in effect with its origin, secrets masked. */
  configuration: ValueRow[];
  /** Recorded upload failures from here, by kind. */
  failures: FailureCount[];
  /** Each request, without key and body. */
  requests: ProbeTrace[];
}

/** `12 ok, 1 warning, 1 failure, 3 skipped`, without zero counts. */
export function describeCounts(counts: Record<FindingStatus, number>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some
    .map(([status, count]) => {
      const plural = count > 1 && (status === "warning" || status === "failure") ? "s" : "";
      return `${count} ${status}${plural}`;
    })
    .join(", ");
}

/** The absolute path of the bundle, checked to be writable. Throws CliError `usage`. */
export function checkBundle(path: string | undefined, cwd: string): string | undefined {
  if (path === undefined) return undefined;
  const absolute = resolve(cwd, path);
  const refuse = (why: string): CliError =>
    new CliError("usage", `--bundle ${path}: ${why}`, {
      hints: ["use a file in a writable folder, for example knowctl-doctor.txt"],
    });
  if (path === "" || path === "-") throw refuse("is not a file name");
  const found = statsOf(absolute);
  if (found?.isDirectory()) throw refuse("is a folder");
  if (found?.isFile() === false) throw refuse("is not a regular file");
  const folder = statsOf(dirname(absolute));
  if (folder?.isDirectory() === false) throw refuse(writeProblem("ENOTDIR"));
  try {
    // A name that is too long throws.
    lstatSync(absolute, { throwIfNoEntry: false });
    accessSync(dirname(absolute), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refuse(`cannot be written: ${writeProblem(codeOf(error))}`);
  }
  return absolute;
}

/** Names of variables whose values are secrets, for any program. */
const secretNames = /key|token|secret|passw|credential|auth|cookie|session/i;
/** Generic accounts that identify nobody: replacing these words would damage the text. */
const genericAccounts = new Set("root user node runner nobody admin ubuntu test".split(" "));
const minNameLength = 2;

function userNames(env: Context["env"], home: string): string[] {
  let own: string | undefined;
  try {
    own = userInfo().username;
  } catch {
    // The user id has no account.
  }
  const variables = ["USER", "LOGNAME", "USERNAME", "SUDO_USER"].map((name) => env[name]);
  const names = [own, ...variables, basename(home)].flatMap((name) => name || []);
  return [...new Set(names)].filter(
    (name) => name.length >= minNameLength && !genericAccounts.has(name.toLowerCase()),
  );
}

const escape = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Matches the text as a whole word, in any case; `_` and `-` end a word. */
function wholeWord(text: string): RegExp {
  return new RegExp(`(?<![\\p{L}\\p{N}])${escape(text)}(?![\\p{L}\\p{N}])`, "giu");
}

function replacements(env: Context["env"], home: string): [pattern: RegExp, by: string][] {
  const homes = [home, env["HOME"], env["USERPROFILE"]].flatMap((folder) =>
    folder !== undefined && folder.length > 1 ? [folder] : [],
  );
  const spelt = homes.flatMap((folder) => [
    pathToFileURL(folder).pathname.replace(/\/$/, ""),
    folder.replace(/[/\\]$/, ""),
    encodeURIComponent(folder),
  ]);
  const machine = hostname();
  return [
    ...[...new Set(spelt)].map((text): [RegExp, string] => [new RegExp(escape(text), "gi"), "~"]),
    ...userNames(env, home).map((name): [RegExp, string] => [wholeWord(name), "<user>"]),
    ...(machine.length > 2 && machine !== "localhost" ? [machine] : []).map(
      (name): [RegExp, string] => [wholeWord(name), "<machine>"],
    ),
  ];
}

function secretsOfEnvironment(env: Context["env"]): Secrets {
  const secrets = createSecrets();
  for (const [name, value = ""] of Object.entries(env)) {
    // The sandbox's key is public, and an ordinary word.
    if (secretNames.test(name) && value !== "sandbox") secrets.add(value);
    const login = /^(?:[a-z][a-z\d+.-]*:\/\/)?([^/@:]*):([^@]*)@/i.exec(value);
    for (const part of login?.slice(1) ?? []) secrets.add(part);
    if (!/^https?:/i.test(value) || !URL.canParse(value)) continue;
    const { searchParams, hash } = new URL(value);
    for (const part of [...searchParams.values(), hash.slice(1)]) secrets.add(part);
  }
  return secrets;
}

/**
 * Returns a function that redacts plain data for a ticket: registered secrets, values of
 * variables with a secret-like name, the home folder (`~`), the names of user and machine.
 * Member names stay.
 */
function createRedaction(
  context: Context,
  registered: Secrets,
  home: string,
): (value: unknown) => unknown {
  const secrets = secretsOfEnvironment(context.env);
  const patterns = replacements(context.env, home);
  const clean = (text: string): string => {
    const safe = secrets.redact(registered.redact(text));
    return patterns.reduce((all, [pattern, by]) => all.replace(pattern, by), safe);
  };
  const walk = (value: unknown): unknown => {
    if (typeof value === "string") return clean(value);
    if (Array.isArray(value)) return value.map(walk);
    if (typeof value !== "object" || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, walk(inner)]));
  };
  return walk;
}

/** Names of the set variables that affect the tool. Values may be secrets; the checks show their effect. */
function relevantVariables(env: Context["env"]): string[] {
  const relevant =
    /^(?:KNOWCTL_|(?:https?|all|no)_proxy$|NODE_|SSL_CERT_|XDG_|CI$|TERM$|NO_COLOR$)/i;
  return Object.keys(env)
    .filter((name) => relevant.test(name) && env[name])
    .toSorted();
}

// Tags and metadata of documents are private: they do not belong in a ticket.
const privateKeys = /^(?:ingest\.metadata|ingest\.tags|ingest\.rules|chat\.tags)\b/;

type Bundle = DoctorReport & { variables: string[] };

function toText(bundle: Bundle): string {
  const { configuration, failures, requests, service, variables } = bundle;
  const values = configuration.map(
    ({ key, value, where }) => `${key} = ${JSON.stringify(value)}  (${where})`,
  );
  const asked = requests.map(({ method, url, key, status, code, ms, contentType, server }) => {
    const result = [status ?? code ?? "no response", contentType, server]
      .filter(Boolean)
      .join(", ");
    return `${method} ${url}  key: ${key}  ${result}  ${ms} ms`;
  });
  const failed = failures.map(
    ({ httpStatus, count, last }) => `${count} with ${httpStatus ?? "no response"}, last ${last}`,
  );
  const part = (title: string, lines: readonly string[]): string =>
    `\n${title}\n${lines.length === 0 ? "  nothing\n" : lines.map((line) => `  ${line}\n`).join("")}`;
  const head = [
    `knowctl doctor, ${bundle.at}`,
    `${bundle.tool.name} ${bundle.tool.version}, Node ${bundle.node}, ${bundle.system}`,
    `service ${service.baseUrl ?? "unknown"}, dialect ${service.dialect ?? "unknown"}, version ${service.version ?? "unknown"}`,
    `${describeCounts(bundle.counts)}; exit ${bundle.exit.code} (${bundle.exit.name})`,
    "Keys, the home folder and the names of user and machine are removed; host names are not.",
  ];
  return neutralise(
    `${head.join("\n")}\n\nchecks\n${findingsText(bundle.checks)}${part("configuration", values)}${part("variables that are set", variables)}${part("failures of uploads from here", failed)}${part("requests", asked)}`,
  );
}

/**
 * Writes the redacted report for a ticket: JSON if the name ends in `.json`, else text.
 * Mode 0600: the owner decides who may read it. Throws CliError `local`.
 */
export function writeBundle(path: string, examination: Examination, report: DoctorReport): void {
  const { context, output } = examination;
  const { home } = createMachine(context);
  const redact = createRedaction(context, output.secrets, home);
  const configuration = report.configuration.map((row) =>
    privateKeys.test(row.key) ? { ...row, value: "(left out)" } : row,
  );
  const variables = relevantVariables(context.env);
  const bundle = redact({ ...report, configuration, variables }) as Bundle;
  const isJson = extname(path).toLowerCase() === ".json";
  const text = isJson ? neutraliseJson(`${JSON.stringify(bundle, null, 2)}\n`) : toText(bundle);
  writeWhole(path, text);
}
