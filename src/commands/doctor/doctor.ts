import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { writeFinding, writeSkipped, type Finding } from "../../output/findings.ts";
import {
  checkSelection,
  writeList,
  writeRecord,
  type Column,
} from "../../output/formats/formats.ts";
import { createOutput, type Output } from "../../output/terminal/output.ts";
import { dim } from "../../output/terminal/text.ts";
import { answerChecks } from "./checks/answer.ts";
import { checkBundle, writeBundle } from "./bundle.ts";
import type { Check, DoctorOptions, Examination } from "./check.ts";
import { dialectChecks } from "./checks/dialect.ts";
import { localChecks } from "./checks/local.ts";
import { networkChecks } from "./checks/network.ts";
import { describeCounts, reportOf, type DoctorReport } from "./report.ts";
import { rightsChecks } from "./checks/rights.ts";
import { runChecks, type Examined } from "./runner.ts";
import { checkStreaming } from "./checks/streaming.ts";
import { checkTls } from "./checks/tls.ts";

/** Every check, in the order in which one stands on those before it. */
const checks: readonly Check[] = [
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

/** How the findings are told: `text` unless the user names a format or picks from one. */
interface Teller {
  each(finding: Finding): Promise<void>;
  end(report: DoctorReport): Promise<void>;
}

function textTeller(output: Output): Teller {
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
        // What a configuration says and where is asked for as often as what is wrong with it.
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

function ndjsonTeller(output: Output): Teller {
  const write = (event: object): Promise<void> => output.json(`${JSON.stringify(event)}\n`);
  return {
    each: (finding) => write({ type: "check", ...finding }),
    async end({ version, status, exit, counts, service }) {
      await write({ type: "result", version, status, exit, counts, service });
    },
  };
}

function tellerOf(output: Output, options: DoctorOptions): Teller {
  checkSelection(options, columns, sample);
  const { output: format, json, filter, fields, jq } = options;
  const picks = filter !== undefined || fields !== undefined || jq !== undefined;
  if (format === "ndjson" && !picks) return ndjsonTeller(output);
  if (format === undefined && json !== true && !picks) return textTeller(output);
  // --filter and --fields choose among the checks; else JSON is the whole report.
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
 * `doctor`: looks at everything that a connection stands on, in order, and says
 * of each what to do. Writes nothing on the service. Throws CliError with the
 * exit of the check that failed first.
 */
export async function doctor(
  context: Context,
  _args: string[],
  options: DoctorOptions,
): Promise<void> {
  const output = createOutput(context, options);
  const teller = tellerOf(output, options);
  const bundle = checkBundle(options.bundle, context.cwd);
  const limitMs = options.timeout === undefined ? defaultLimitMs : options.timeout * 1000;
  const examination: Examination = { context, options, output, limitMs, facts: { warnings: [] } };
  let examined: Examined;
  try {
    examined = await runChecks(checks, examination, teller.each);
  } finally {
    await examination.facts.prober?.close();
  }
  const report = reportOf(examination, examined);
  await teller.end(report);
  if (bundle !== undefined) {
    writeBundle(bundle, examination, report);
    await output.note(`wrote ${bundle}, without keys and names; look at it before you pass it on`);
  }
  const failure = failureOf(examined);
  if (failure) throw failure;
}
