import { followCount, type Progress } from "../../output/terminal/progress.ts";
import type { Context } from "../../context.ts";
import { createFacts, type Facts } from "../../checks/lint/compare-pages.ts";
import {
  isFolderRule,
  rulesToRun,
  type LintSetup,
  type PageReport,
} from "../../checks/lint/examine.ts";
import { distinctFingerprints } from "../../checks/lint/fingerprint.ts";
import { createLevels, lintUsesPatterns } from "../../checks/lint/levels.ts";
import type { LintFinding } from "../../checks/lint/place.ts";
import { rules } from "../../checks/lint/rules.ts";
import {
  byPlace,
  createPageFindings,
  mergeFindings,
  type PageFindings,
} from "../../checks/lint/store.ts";
import { loadGlobs } from "../../documents/files/patterns.ts";
import { jobsOf } from "../../documents/find/scope.ts";
import { createRealPlaces } from "../../documents/files/real-place.ts";
import { readSourceText } from "../../documents/inspect/read.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { ReportFiles } from "../../output/report/forms.ts";
import { loadExamine } from "../../checks/lint/load-examine.ts";
import { listFiles } from "../../documents/find/find.ts";
import type { Inspector, LookItem, Prepared } from "../../documents/inspect/inspection.ts";
import { openInspector } from "../../documents/inspect/open-inspector.ts";
import { formatOf } from "../../documents/formats/formats.ts";
import { withoutReports } from "../ingest/report/report.ts";

/** A file or row that was read, or why it could not be read. */
type LintedPage =
  | {
      kind: "document" | "skipped";
      path: string;
      part: number;
      /** Hash of the bytes that were read. */
      content: string;
      report: PageReport;
    }
  | { kind: "failed"; path: string; reason: string }
  /** A file that an upload does not read: no document format, or one of our own reports. */
  | { kind: "left out"; path: string };

function pageOf(prepared: Prepared): LintedPage {
  const { kind, path, part } = prepared;
  if (kind === "failed") return { kind, path, reason: prepared.reason };
  const report = (prepared.report ?? { findings: [], facts: {} }) as PageReport;
  return { kind, path, part, content: prepared.content, report };
}

// Several batches are read at once: one waits for this thread, others keep the threads busy.
const filesAtOnce = 64;
const batchesAhead = 6;

interface Batch {
  pages: LintedPage[];
  items: LookItem[];
}

/** Files that are read together; a file of rows stands alone. */
function* batchesOf(
  { inputs, find, settings, factsOf }: DocumentSource,
  files: ReportFiles,
): Generator<Batch | { rows: LookItem }> {
  let batch: Batch = { pages: [], items: [] };
  for (const listed of withoutReports(listFiles(inputs, find), settings.root, files)) {
    const { path } = listed;
    if (listed.kind !== "file") {
      const { kind } = listed;
      batch.pages.push(
        kind === "failed" ? { kind, path, reason: listed.reason } : { kind: "left out", path },
      );
      continue;
    }
    const { absolutePath } = listed;
    const facts = factsOf?.(path);
    const item = { path, absolutePath, facts, stamp: undefined, content: undefined };
    if (formatOf(path, settings.format)?.gives === "rows") {
      yield batch;
      batch = { pages: [], items: [] };
      yield { rows: item };
    } else if (batch.items.push(item) === filesAtOnce) {
      yield batch;
      batch = { pages: [], items: [] };
    }
  }
  yield batch;
}

async function readBatch({ look }: Inspector, { pages, items }: Batch): Promise<LintedPage[]> {
  if (items.length === 0) return pages;
  const looked = await look(items);
  return [...pages, ...looked.flatMap((each) => (each.kind === "same" ? [] : [pageOf(each)]))];
}

/** Reads the files of the source in threads and yields what the rules found, in their order. */
async function* readPages(
  context: Context,
  source: DocumentSource,
  checks: LintSetup,
  files: ReportFiles,
): AsyncGenerator<LintedPage[]> {
  const { raw } = source;
  const setup = {
    settings: raw,
    pair: { ccPairId: undefined, fromFlag: false },
    dropAccess: raw.dropAccess,
    checks,
    onlyExamines: true,
  };
  const inspector = await openInspector(setup, context.workerScript, 1, loadExamine);
  const inFlight: Promise<LintedPage[]>[] = [];
  try {
    for (const batch of batchesOf(source, files)) {
      context.signal.throwIfAborted();
      if ("rows" in batch) {
        while (inFlight.length > 0) yield (await inFlight.shift()) ?? [];
        for await (const row of inspector.readRows(batch.rows)) yield [pageOf(row)];
        continue;
      }
      // Results of threads arrive in a turn of the event loop.
      if (inFlight.length > 1) await new Promise((resolve) => setImmediate(resolve));
      const pages = readBatch(inspector, batch);
      // Awaited in order; a rejection meanwhile must not count as unhandled.
      pages.catch(() => {});
      inFlight.push(pages);
      if (inFlight.length >= batchesAhead) yield (await inFlight.shift()) ?? [];
    }
    while (inFlight.length > 0) yield (await inFlight.shift()) ?? [];
  } finally {
    await inspector.close();
  }
}

/** What the rules found in the files of a run. */
export interface Linted {
  /** By path and place; read from the disk each time. */
  findings: Iterable<LintFinding>;
  documents: number;
  /** Files of which an upload makes no document. */
  skipped: number;
  /** Why files could not be read, by path. */
  failed: ReadonlyMap<string, string>;
  /** Hash of each file with a fix. */
  contents: ReadonlyMap<string, string>;
  /** Forgets the findings. */
  close(): void;
}

interface Gathered {
  documents: number;
  skipped: number;
  failed: Map<string, string>;
  contents: Map<string, string>;
}

function gather(gathered: Gathered, found: PageFindings, facts: Facts, page: LintedPage): void {
  const { path } = page;
  if (page.kind === "failed") gathered.failed.set(path, page.reason);
  if (page.kind === "failed" || page.kind === "left out") return;
  if (page.kind === "document") gathered.documents++;
  else gathered.skipped++;
  const { findings, row } = page.report;
  found.add({ path, part: page.part, row }, findings);
  if (findings.some(({ fixable }) => fixable)) gathered.contents.set(path, page.content);
  facts.add(path, page.part, page.report);
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
  const folderRules = rulesToRun(setup, rules).filter(isFolderRule);
  const facts = createFacts(folderRules);
  const found = createPageFindings();
  const gathered: Gathered = {
    documents: 0,
    skipped: 0,
    failed: new Map(),
    contents: new Map(),
  };
  let done = 0;
  followCount(progress, "reading", () => done);
  for await (const pages of readPages(context, source, setup, files)) {
    context.signal.throwIfAborted();
    for (const page of pages) gather(gathered, found, facts, page);
    done += pages.length;
  }
  if (lintUsesPatterns(setup.config)) await loadGlobs();
  const realPlaceOf = createRealPlaces(settings.root);
  const sourceOf = (path: string): string | undefined =>
    readSourceText({ path, absolutePath: realPlaceOf(path) }, settings)?.text;
  const isWhole = gathered.failed.size === 0 && isWholeProject(source);
  const compared = facts.compare(createLevels(setup.config), sourceOf, isWhole);
  compared.sort(byPlace);
  const findings = {
    [Symbol.iterator]: () => distinctFingerprints(mergeFindings(found, compared)),
  };
  return { ...gathered, findings, close: () => found.clear() };
}
