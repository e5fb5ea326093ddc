import { existsSync } from "node:fs";
import { basename, extname, resolve } from "node:path";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { checkFormat, checkSelection, writeList } from "../../output/formats/formats.ts";
import type { Column } from "../../output/formats/select.ts";
import { summaryTable, writeJobSummary } from "../../output/report/github.ts";
import { readReportText } from "../../output/report/stored/read.ts";
import { failUnlessPassed, parseStep, type Step } from "../../output/report/stored/steps.ts";
import { goOnAfterClosedPipe } from "../closed-pipe.ts";
import { openOutput } from "../connect.ts";
import { contradictionOf } from "./counted-status.ts";

const columns: Column<Step>[] = [
  { name: "step", value: ({ step }) => step },
  { name: "result", value: ({ result }) => result },
  { name: "details", value: ({ details }) => details },
  { name: "first", value: ({ first }) => first.join("; ") },
  { name: "report", value: ({ report }) => report, shown: false },
];

const sample: Step = { step: "", result: "passed", details: "", first: [], report: "" };

async function readStep(path: string, name: string): Promise<Step> {
  // An earlier step may have ended before it wrote its report.
  if (!existsSync(path)) {
    const step = basename(name, extname(name));
    return { step, result: "not run", details: "it wrote no report", first: [], report: name };
  }
  return parseStep(await readReportText(path, name), name, contradictionOf);
}

/**
 * `knowctl report summary`: the steps of a pipeline from their reports, as a list. Throws CliError
 * `usage` for a file that is no report, `checks-failed` or `partial` unless every step passed.
 */
export async function reportSummary(
  system: Context,
  names: string[],
  options: GlobalFlags,
): Promise<void> {
  const context = goOnAfterClosedPipe(system);
  checkFormat(options);
  checkSelection(options, columns, sample);
  const output = openOutput(context, options);
  const steps: Step[] = [];
  for (const name of names) steps.push(await readStep(resolve(context.cwd, name), name));
  await writeList(output, options, columns, steps);
  await writeJobSummary(output, context.env, () => {
    const shown = columns.filter((column) => column.shown !== false);
    const rows = output.secrets
      .redactAll(steps)
      .map((step) => shown.map((column) => String(column.value(step))));
    return summaryTable(
      shown.map(({ name }) => name),
      rows,
    );
  });
  failUnlessPassed(steps);
}
