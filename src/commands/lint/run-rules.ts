import { followCount, type Progress } from "../../output/terminal/progress.ts";
import type { Context } from "../../context.ts";
import { byMost, byPlace, comparePages, type NotedPage } from "../../checks/lint/folder.ts";
import {
  isFolderRule,
  isPageRule,
  rulesToRun,
  type LintSetup,
  type PageReport,
} from "../../checks/lint/examine.ts";
import { distinctFingerprints, type LintFinding } from "../../checks/lint/place.ts";
import { createLevels, lintUsesPatterns } from "../../checks/lint/levels.ts";
import { rules } from "../../checks/lint/rules.ts";
import { loadGlobs } from "../../documents/files/patterns.ts";
import { jobsOf } from "../../documents/find/scope.ts";
import { createRealPlaces } from "../../documents/files/real-place.ts";
import { readSourceText } from "../../documents/inspect/read.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { ReportFiles } from "../../output/report/forms.ts";
import { loadExamine } from "../../checks/lint/load-examine.ts";
import { listFiles } from "../../documents/find/find.ts";
import type { LookItem, Prepared } from "../../documents/inspect/inspection.ts";
import { comparePaths } from "../../documents/files/source-file.ts";
import { pathsInParts } from "../../documents/parts/parts.ts";
import { openInspector } from "../../documents/inspect/open-inspector.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { forEachOf } from "../concurrency.ts";
import { withoutReports } from "../ingest/report/report.ts";

/** What the rules found in the files of a run. */
export interface Linted {
  /** By path and place. */
  findings: readonly LintFinding[];
  documents: number;
  /** Files of which an upload makes no document. */
  skipped: number;
  /** Why files could not be read, by path. */
  failed: ReadonlyMap<string, string>;
  /** Hash of each file with a fix. */
  contents: ReadonlyMap<string, string>;
}

// Several batches are read at once: one by this thread, others by the threads.
const filesAtOnce = 64;
const batchesAtOnce = 6;

/** The files of a source, read together in batches; a file of rows stands alone. */
function* batchesOf(
  { inputs, find, settings, factsOf }: DocumentSource,
  files: ReportFiles,
  failed: Map<string, string>,
): Generator<LookItem[] | { rows: LookItem }> {
  let batch: LookItem[] = [];
  for (const listed of withoutReports(listFiles(inputs, find), settings.root, files)) {
    const { path } = listed;
    if (listed.kind === "failed") failed.set(path, listed.reason);
    if (listed.kind !== "file") continue;
    const { absolutePath } = listed;
    const facts = factsOf?.(path);
    const item = { path, absolutePath, facts, stamp: undefined, content: undefined };
    if (formatOf(path, settings.format)?.gives === "rows") yield { rows: item };
    else if (batch.push(item) === filesAtOnce) {
      yield batch;
      batch = [];
    }
  }
  yield batch;
}

/** Reads the files of a source in threads, in any order. Calls `add` for each document of theirs. */
async function readFiles(
  context: Context,
  { raw }: DocumentSource,
  checks: LintSetup,
  batches: Iterable<LookItem[] | { rows: LookItem }>,
  add: (prepared: Prepared) => void,
): Promise<void> {
  const setup = {
    settings: raw,
    pair: { ccPairId: undefined, fromFlag: false },
    checks,
    onlyExamines: true,
  };
  const inspector = await openInspector(setup, context.workerScript, 1, loadExamine);
  try {
    await forEachOf(batches, batchesAtOnce, async (batch) => {
      // Results of threads arrive in a turn of the event loop.
      await new Promise((resolve) => setImmediate(resolve));
      context.signal.throwIfAborted();
      if ("rows" in batch) {
        for await (const row of inspector.readRows(batch.rows)) add(row);
      } else {
        for (const each of await inspector.look(batch)) if (each.kind !== "same") add(each);
      }
    });
  } finally {
    await inspector.close();
  }
}

/** Whether the source names every document of the project. */
function isWholeProject({ inputs, find }: DocumentSource): boolean {
  const { only, exclude } = find.settings;
  const isRoot = jobsOf(inputs, find).some(({ base, matches }) => base === "" && !matches);
  return isRoot && !only && !exclude;
}

/** Reads the files of the source and runs the rules of the setup over them. */
export async function runRules(
  context: Context,
  source: DocumentSource,
  setup: LintSetup,
  { files, progress }: { files: ReportFiles; progress: Progress },
): Promise<Linted> {
  const { settings } = source;
  const counts = { document: 0, skipped: 0 };
  const failed = new Map<string, string>();
  const contents = new Map<string, string>();
  const pages: NotedPage[] = [];
  const found: LintFinding[] = [];
  const included = new Set<string>();
  followCount(progress, "reading", () => counts.document + counts.skipped + failed.size);
  const add = (prepared: Prepared): void => {
    const { kind, path, part } = prepared;
    if (kind === "failed") {
      failed.set(path, prepared.reason);
      return;
    }
    counts[kind]++;
    if (!prepared.report) return;
    const { findings, facts, row } = JSON.parse(prepared.report as string) as PageReport;
    for (const each of findings) found.push(each);
    if (prepared.parts) for (const each of pathsInParts(prepared.parts)) included.add(each);
    pages.push({ path, part, row, facts });
    if (findings.some(({ fixable }) => fixable)) contents.set(path, prepared.content);
  };
  await readFiles(context, source, setup, batchesOf(source, files, failed), add);
  if (lintUsesPatterns(setup.config)) await loadGlobs();
  const realPlaceOf = createRealPlaces(settings.root);
  const sourceOf = (path: string): string | undefined =>
    readSourceText({ path, absolutePath: realPlaceOf(path) }, settings)?.text;
  const isWhole = failed.size === 0 && isWholeProject(source);
  const wanted = rulesToRun(setup, rules);
  const folderRules = wanted.filter(isFolderRule);
  const levelOf = createLevels(setup.config);
  const compared = comparePages(folderRules, pages, levelOf, sourceOf, isWhole);
  const paths = new Set(pages.map(({ path }) => path));
  const own = byMost(found.sort(byPlace), paths, included, wanted.filter(isPageRule));
  const findings = distinctFingerprints([...own, ...compared].sort(byPlace));
  const { document: documents, skipped } = counts;
  const ordered = new Map([...failed].sort(([a], [b]) => comparePaths(a, b)));
  return { findings, documents, skipped, failed: ordered, contents };
}
