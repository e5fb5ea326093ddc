import { followCount } from "../../output/terminal/progress.ts";
import type { Context } from "../../context.ts";
import { createFacts, type Facts } from "../../checks/lint/compare-pages.ts";
import { isFolderRule, rulesToRun, type LintSetup } from "../../checks/lint/examine.ts";
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
import { loadGlobs } from "../../documents/find/patterns.ts";
import { jobsOf } from "../../documents/find/scope.ts";
import { createRealPlaces } from "../../documents/find/place/real-place.ts";
import { readSourceText } from "../../documents/read/source-text.ts";
import type { Progress } from "../../output/terminal/progress.ts";
import type { DocumentSource } from "../ingest/options/settings.ts";
import type { ReportFiles } from "../../output/report/forms.ts";
import { readPages, type LintedPage } from "./read-pages.ts";

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
