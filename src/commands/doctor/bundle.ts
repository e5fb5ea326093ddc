import { accessSync, constants, statSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import { CliError, codeOf } from "../../errors.ts";
import { findingsText } from "../../output/findings.ts";
import { neutralise, neutraliseJson } from "../../output/terminal/neutralise.ts";
import { machineOf } from "../config/files.ts";
import type { Examination } from "./check.ts";
import { createRedaction } from "./redaction.ts";
import { describeCounts, type DoctorReport } from "./report.ts";

/** The bundle's absolute path, known to be writable. Throws CliError `usage`. */
export function checkBundle(path: string | undefined, cwd: string): string | undefined {
  if (path === undefined) return undefined;
  const absolute = resolve(cwd, path);
  const refuse = (why: string): CliError =>
    new CliError("usage", `--bundle ${path}: ${why}`, {
      hints: ["name a file in a folder that may be written, for example knowctl-doctor.txt"],
    });
  if (path === "" || path === "-") throw refuse("is no name for a file");
  if (statSync(absolute, { throwIfNoEntry: false })?.isDirectory()) throw refuse("is a folder");
  try {
    accessSync(dirname(absolute), constants.W_OK | constants.X_OK);
  } catch (error) {
    throw refuse(`the folder cannot be written: ${codeOf(error) ?? "unknown failure"}`);
  }
  return absolute;
}

/** Names of variables that steer the tool; their values may be secrets, and are seen where they count. */
function steering(env: Examination["context"]["env"]): string[] {
  const ours = /^(?:KNOWCTL_|(?:https?|all|no)_proxy$|NODE_|SSL_CERT_|XDG_|CI$|TERM$|NO_COLOR$)/i;
  return Object.keys(env)
    .filter((name) => ours.test(name) && env[name])
    .toSorted();
}

// What documents are tagged with is nobody's business in a ticket.
const contents = /^(?:ingest\.metadata|ingest\.tags|ingest\.rules|chat\.tags)\b/;

type Bundle = DoctorReport & { variables: string[] };

function toText(bundle: Bundle): string {
  const { configuration, failures, requests, service, variables } = bundle;
  const values = configuration.map(
    ({ key, value, where }) => `${key} = ${JSON.stringify(value)}  (${where})`,
  );
  const asked = requests.map(({ method, url, key, status, code, ms, contentType, server }) => {
    const result = [status ?? code ?? "no answer", contentType, server].filter(Boolean).join(", ");
    return `${method} ${url}  key: ${key}  ${result}  ${ms} ms`;
  });
  const failed = failures.map(
    ({ httpStatus, count, last }) => `${count} with ${httpStatus ?? "no answer"}, last ${last}`,
  );
  const part = (title: string, lines: readonly string[]): string =>
    `\n${title}\n${lines.length === 0 ? "  nothing\n" : lines.map((line) => `  ${line}\n`).join("")}`;
  const head = [
    `knowctl doctor, ${bundle.at}`,
    `${bundle.tool.name} ${bundle.tool.version}, Node ${bundle.node}, ${bundle.system}`,
    `service ${service.baseUrl ?? "unknown"}, dialect ${service.dialect ?? "unknown"}, version ${service.version ?? "unknown"}`,
    `${describeCounts(bundle.counts)}; exit ${bundle.exit.code} (${bundle.exit.name})`,
    "Keys, the home folder and the names of user and machine were taken out; host names were not.",
  ];
  return neutralise(
    `${head.join("\n")}\n\nchecks\n${findingsText(bundle.checks)}${part("configuration", values)}${part("variables that are set", variables)}${part("failures of uploads from here", failed)}${part("requests", asked)}`,
  );
}

/**
 * Writes the report fit for a ticket: JSON where the name ends in `.json`, else
 * text. Mode 0600: who may read it is for its owner to say. Throws CliError `local`.
 */
export function writeBundle(path: string, examination: Examination, report: DoctorReport): void {
  const { context, output } = examination;
  const { home } = machineOf(context);
  const redact = createRedaction(context, output.secrets, home);
  const configuration = report.configuration.map((row) =>
    contents.test(row.key) ? { ...row, value: "(left out)" } : row,
  );
  const variables = steering(context.env);
  const bundle = redact({ ...report, configuration, variables }) as Bundle;
  const isJson = extname(path).toLowerCase() === ".json";
  const text = isJson ? neutraliseJson(`${JSON.stringify(bundle, null, 2)}\n`) : toText(bundle);
  writeWhole(path, text);
}
