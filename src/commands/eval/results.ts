import { readFileSync } from "node:fs";
import { join, relative, resolve, sep } from "node:path";
import type { DocumentNames } from "../../checks/eval/documents.ts";
import type { EvalReport, ReportedCase } from "../../checks/eval/result.ts";
import type { Context } from "../../context.ts";
import { splitFrontMatter } from "../../documents/front-matter/front-matter.ts";
import { anchorsOf } from "../../documents/text/heading-text.ts";
import { scanStructure } from "../../documents/text/structure.ts";
import { reportFormat } from "../../output/formats/formats.ts";
import { writeAll, writeReports, type ReportFiles } from "../../output/report/forms.ts";
import { evalReport } from "../../output/report/from/eval.ts";
import { ciPrefix } from "../../output/report/github.ts";
import { writeData } from "../../output/report/json.ts";
import { writePeople } from "../../output/report/people.ts";
import type { Output } from "../../output/terminal/output.ts";
import { findGitRoot } from "../project-root.ts";
import type { Outcome } from "../outcome/follow.ts";
import type { ReplySource } from "./service.ts";
import type { EvalOptions } from "./suites.ts";
import { realPathOf } from "../stats-of.ts";

type Expected = ReportedCase["expected"][number];

const styles = ["github", "docusaurus", "mkdocs", "vitepress", "myst", "quarto"] as const;

/** Line of the heading with this anchor in Markdown text, from 1; undefined if no heading has it. */
function headingLine(text: string, anchor: string, path: string): number | undefined {
  const { body, bodyLine } = splitFrontMatter(text, path);
  const { headings } = scanStructure(body);
  for (const style of styles) {
    const heading = headings[anchorsOf(headings, style).indexOf(anchor)];
    if (heading) return bodyLine + body.slice(0, heading.start).split("\n").length - 1;
  }
  return undefined;
}

/**
 * Returns a function that finds the line of the section that a case expects: of the heading that the
 * fragment of its link names. The line is undefined without a fragment, or if the Markdown file
 * (below `root`) or the heading is not found.
 */
export function sectionLinesIn(root: string): (expected: Expected) => number | undefined {
  return ({ path, document }) => {
    const hash = "link" in document ? (document.link.split("#")[1] ?? "") : "";
    if (hash === "" || path === null || !/\.(?:md|mdx|markdown)$/i.test(path)) return undefined;
    try {
      const text = readFileSync(join(root, path), "utf8").replace(/^\ufeff/, "");
      return headingLine(text.replaceAll("\r\n", "\n"), decodeURIComponent(hash), path);
    } catch {
      // The line is a convenience: line 1 of the file is right too.
      return undefined;
    }
  };
}

/**
 * What to do if documents came under the ids of expected files with something before them: they were
 * uploaded with `--id-prefix`, and neither record nor configuration knows it.
 */
export function prefixHints({ cases }: EvalReport, names: DocumentNames): string[] {
  for (const { expected, retrieved } of cases) {
    for (const { document, rank } of expected) {
      if (rank !== null || !("path" in document)) continue;
      const ids = names.idsOfPath(document.path);
      const found = retrieved.find(
        ({ id, path }) => id !== null && path === null && ids.some((own) => id.endsWith(own)),
      );
      if (!found) continue;
      return [
        `${document.path} was not retrieved, and the document ${found.id} was: if the upload had --id-prefix, set ingest.idPrefix in the configuration, or name the record with --state`,
      ];
    }
  }
  return [];
}

interface EvalResult {
  report: EvalReport;
  files: ReportFiles;
  source: Pick<ReplySource, "root" | "traffic">;
  outcome: Outcome;
}

/**
 * Writes the results on stdout, to the report files, and for a GitHub job. A report that cannot be
 * written does not prevent the others; then throws its CliError `local`.
 */
export async function writeResults(
  context: Context,
  output: Output,
  options: EvalOptions,
  { report, files, source, outcome }: EvalResult,
): Promise<void> {
  const { env, cwd } = context;
  const { root } = source;
  const suitePath = (file: string): string =>
    relative(realPathOf(root), realPathOf(resolve(cwd, file))).replaceAll(sep, "/");
  // Redacted before lines are cut: a part of a secret would not be found.
  const made = evalReport(output.secrets.redactAll(report), {
    suitePath,
    lineOf: sectionLinesIn(root),
  });
  const traffic = source.traffic?.();
  const isSuccess = report.status === "passed";
  const shown = outcome.complete({
    ...made,
    measures: { isSuccess, ...(traffic && { traffic }) },
  });
  const prefix = ciPrefix(root, findGitRoot(context, root), env);
  await writeAll([
    () => writeReports(output, env, shown, files, prefix),
    async () => {
      if (reportFormat(options) === "text") await writePeople(output, made, (path) => path, "page");
      else await writeData(output, options, shown.data, true);
    },
  ]);
}
