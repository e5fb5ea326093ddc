import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem, exitCodes, type ExitName } from "../../errors.ts";
import {
  writeFinding,
  writeSkipped,
  type Finding,
  findingsText,
  type FindingStatus,
} from "../../output/findings.ts";
import {
  checkSelection,
  writeList,
  writeRecord,
  type Column,
} from "../../output/formats/formats.ts";
import { lineOf, resultLine } from "../../output/report/json.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { dim } from "../../output/terminal/text.ts";
import { answerChecks } from "./checks/answer.ts";
import type { Check, DoctorOptions, Examination } from "./check.ts";
import { dialectChecks } from "./checks/dialect.ts";
import { localChecks, describeSystem } from "./checks/local.ts";
import { networkChecks } from "./checks/network.ts";
import { rightsChecks } from "./checks/rights.ts";
import { runChecks, type Examined } from "./runner.ts";
import { checkStreaming } from "./checks/streaming.ts";
import { checkTls } from "./checks/tls.ts";
import { accessSync, constants, lstatSync } from "node:fs";
import { dirname, extname, resolve } from "node:path";
import { writeWhole } from "../../config/file/files.ts";
import { neutralise, neutraliseJson } from "../../output/terminal/neutralise.ts";
import { machineOf } from "../config/files.ts";
import { statsOf } from "../stats-of.ts";
import { createRedaction } from "./redaction.ts";
import type { ProbeTrace } from "../../api/retry/prober.ts";
import { tool } from "../../output/report/tool.ts";
import type { FailureCount } from "../../sync/state/failure-counts.ts";
import { valueRows, type ValueRow } from "../config/values.ts";

/** The whole result, for `--output json` and the bundle. */
interface DoctorReport {
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

function countsOf(findings: readonly Finding[]): Record<FindingStatus, number> {
  const counts = { ok: 0, warning: 0, failure: 0, skipped: 0 };
  for (const { status } of findings) counts[status] += 1;
  return counts;
}

/** `12 ok, 1 warning, 1 failure, 3 skipped`, without zero counts. */
function describeCounts(counts: Record<FindingStatus, number>): string {
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return some
    .map(([status, count]) => {
      const plural = count > 1 && (status === "warning" || status === "failure") ? "s" : "";
      return `${count} ${status}${plural}`;
    })
    .join(", ");
}

/** The report as plain data. */
function reportOf({ context, facts }: Examination, { findings, failed }: Examined): DoctorReport {
  const { config, connected, serviceVersion, prober } = facts;
  const counts = countsOf(findings);
  const name = failed?.exit ?? "ok";
  return {
    version: 1,
    at: new Date(context.now()).toISOString(),
    tool,
    node: context.nodeVersion,
    system: describeSystem(),
    status: failed ? "failure" : counts.warning > 0 ? "warning" : "ok",
    exit: { name, code: exitCodes[name].code },
    counts,
    service: {
      baseUrl: connected?.connection.baseUrl ?? null,
      dialect: config?.dialect ?? null,
      version: serviceVersion ?? null,
    },
    checks: findings,
    configuration: config ? valueRows(config) : [],
    failures: facts.failures ?? [],
    requests: [...(prober?.traces ?? [])],
  };
}

/** The absolute path of the bundle, checked to be writable. Throws CliError `usage`. */
function checkBundle(path: string | undefined, cwd: string): string | undefined {
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
function writeBundle(path: string, examination: Examination, report: DoctorReport): void {
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

/** Every check, in the order of dependencies. */
export const checks: readonly Check[] = [
  ...localChecks,
  ...networkChecks,
  checkTls,
  ...answerChecks,
  ...dialectChecks,
  ...rightsChecks,
  checkStreaming,
];

const defaultLimitMs = 10_000;

const columns: Column<Finding>[] = [
  { name: "status", value: (row) => row.status },
  { name: "check", value: (row) => row.check },
  { name: "message", value: (row) => row.message },
  { name: "fix", value: (row) => row.fixes.join("; ") },
  { name: "details", value: (row) => row.details, shown: false },
  { name: "ms", value: (row) => row.ms, align: "right", shown: false },
];

const sample: Finding = {
  check: "",
  status: "ok",
  message: "",
  fixes: [],
  details: [],
  because: "",
  ms: 0,
};

/** Writes the findings: as text, unless the user selects a format or members. */
interface FindingWriter {
  each(finding: Finding): Promise<void>;
  end(report: DoctorReport): Promise<void>;
}

function textWriter(output: Output): FindingWriter {
  let waiting: { because: string; names: string[] } | undefined;
  const flush = async (): Promise<void> => {
    if (waiting) await writeSkipped(output, waiting.names, waiting.because);
    waiting = undefined;
  };
  return {
    async each(finding) {
      const { because, check } = finding;
      if (waiting && waiting.because !== because) await flush();
      if (because === undefined) {
        // The values of the configuration and their sources are always useful, even without a problem.
        return writeFinding(output, finding, output.verbose || check === "configuration");
      }
      waiting = { because, names: [...(waiting?.names ?? []), check] };
    },
    async end({ counts }) {
      await flush();
      await output.line(dim(describeCounts(counts)));
    },
  };
}

function ndjsonWriter(output: Output): FindingWriter {
  return {
    each: (finding) => output.json(lineOf("check", finding)),
    async end({ version, status, exit, counts, service }) {
      await output.json(resultLine({ head: { version, status, exit, counts, service } }));
    },
  };
}

function writerOf(output: Output, options: DoctorOptions): FindingWriter {
  checkSelection(options, columns, sample);
  const { output: format, json, filter, fields, jq } = options;
  const isSelected = filter !== undefined || fields !== undefined || jq !== undefined;
  if (format === "ndjson" && !isSelected) return ndjsonWriter(output);
  if (format === undefined && json !== true && !isSelected) return textWriter(output);
  // --filter and --fields select from the checks; otherwise JSON is the whole report.
  const isRecord = (format === "json" || json === true || jq !== undefined) && !filter && !fields;
  return {
    each: () => Promise.resolve(),
    async end(report) {
      if (isRecord) await writeRecord(output, options, report);
      else await writeList(output, options, columns, report.checks);
    },
  };
}

function failureOf({ findings, failed }: Examined): CliError | undefined {
  if (!failed) return undefined;
  const { check, message } = failed.finding;
  const more = findings.filter(({ status }) => status === "failure").length - 1;
  const others = more === 0 ? "" : ` (and ${more} more failed)`;
  return new CliError(failed.exit, `doctor: ${check}: ${message}${others}`);
}

/**
 * `doctor`: checks in order everything that a connection depends on, and reports how to fix
 * each problem. Writes nothing on the service. Throws CliError with the exit of the first
 * failed check.
 */
export async function doctor(
  system: Context,
  _args: string[],
  options: DoctorOptions,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  const output = createOutput(context, options);
  const writer = writerOf(output, options);
  const bundle = checkBundle(options.bundle, context.cwd);
  const limitMs = options.timeout === undefined ? defaultLimitMs : options.timeout * 1000;
  const examination: Examination = { context, options, output, limitMs, facts: { warnings: [] } };
  let examined: Examined;
  try {
    examined = await runChecks(checks, examination, writer.each);
  } finally {
    await examination.facts.prober?.close();
  }
  const report = reportOf(examination, examined);
  await writer.end(report);
  if (bundle !== undefined) {
    writeBundle(bundle, examination, report);
    await output.note(`wrote ${bundle}, without keys and names; read it before you share it`);
  }
  const failure = failureOf(examined);
  if (failure) throw failure;
}
