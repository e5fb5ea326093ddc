import type { Context } from "../../context.ts";
import { CliError, exitCodes } from "../../errors.ts";
import { writeFinding, writeNames, writeSkipped, type Finding } from "../../output/findings.ts";
import {
  checkSelection,
  writeList,
  writeRecord,
  type Column,
} from "../../output/formats/formats.ts";
import { lineOf, resultLine } from "../../output/report/json.ts";
import { tool } from "../../output/report/tool.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { dim } from "../../output/terminal/text.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { valueRows } from "../config/show.ts";
import { checkBundle, describeCounts, writeBundle, type DoctorReport } from "./bundle.ts";
import {
  runChecks,
  type Check,
  type DoctorOptions,
  type Examination,
  type Examined,
} from "./check.ts";
import { answerChecks } from "./checks/answer.ts";
import { dialectChecks } from "./checks/dialect.ts";
import { localChecks, describeSystem } from "./checks/local.ts";
import { networkChecks, checkTls } from "./checks/network.ts";
import { rightsChecks } from "./checks/rights.ts";
import { checkStreaming } from "./checks/streaming.ts";

/** The report as plain data. */
function reportOf({ context, facts }: Examination, { findings, failed }: Examined): DoctorReport {
  const { config, connected, serviceVersion, prober } = facts;
  const counts = { ok: 0, warning: 0, failure: 0, skipped: 0 };
  for (const { status } of findings) counts[status] += 1;
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
  { name: "status" },
  { name: "check" },
  { name: "message" },
  { name: "fix", value: ({ fixes }) => fixes.join("; ") },
  { name: "details", shown: false },
  { name: "ms", align: "right", shown: false },
  { name: "fixes", shown: false },
  { name: "because", shown: false },
];

/** Writes the findings: as text, unless the user selects a format or members. */
interface FindingWriter {
  each(finding: Finding): Promise<void>;
  end(report: DoctorReport): Promise<void>;
}

/** Every check in full. */
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

/** What people look for: what is wrong, and which service and key were meant. */
function briefWriter(output: Output): FindingWriter {
  const passed = { ok: [] as string[], skipped: [] as string[] };
  const problems = textWriter(output);
  return {
    async each(finding) {
      const { status, check, because } = finding;
      const isPassed = (status === "ok" || status === "skipped") && because === undefined;
      if (isPassed && check !== "connection") passed[status].push(check);
      else await problems.each(finding);
    },
    async end(report) {
      for (const status of ["ok", "skipped"] as const) {
        if (passed[status].length > 0) await writeNames(output, status, passed[status]);
      }
      await problems.end(report);
      if (report.status === "ok") await output.line(dim("-v shows what each check found"));
    },
  };
}

/** With --quiet: what is wrong, and nothing of a healthy connection. */
function quietWriter(output: Output): FindingWriter {
  return {
    async each(finding) {
      if (finding.status === "ok" || finding.status === "skipped") return;
      await writeFinding(output, finding, false);
    },
    async end() {},
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
  checkSelection(options, columns);
  const { output: format, json, filter, fields, jq } = options;
  const isSelected = filter !== undefined || fields !== undefined || jq !== undefined;
  if (format === "ndjson" && !isSelected) return ndjsonWriter(output);
  if (format === undefined && json !== true && !isSelected) {
    if (output.quiet) return quietWriter(output);
    return output.verbose ? textWriter(output) : briefWriter(output);
  }
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
