import { accessSync, constants, lstatSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { findingsText } from "../../output/findings.ts";
import { neutralise, neutraliseJson } from "../../output/terminal/neutralise.ts";
import { machineOf } from "../config/files.ts";
import { statsOf } from "../stats-of.ts";
import type { Examination } from "./check.ts";
import { createRedaction } from "./redaction.ts";
import { describeCounts, type DoctorReport } from "./report.ts";

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

/** Names of the set variables that affect the tool. Values may be secrets; the checks show their effect. */
function relevantVariables(env: Examination["context"]["env"]): string[] {
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
  const { home } = machineOf(context);
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
