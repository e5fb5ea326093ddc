import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { LintSetup, PageReport } from "../../../src/checks/lint/examine.ts";
import { loadExamine } from "../../../src/checks/lint/load-examine.ts";
import { loadInspector } from "../../../src/documents/inspect/inspect.ts";
import type { Prepared } from "../../../src/documents/inspect/inspection.ts";
import type { RawSettings } from "../../../src/documents/map/settings.ts";
import { temporaryFolder } from "../../support.ts";

/** Setup of `lint` with all rules and without configuration. */
export const allRules: LintSetup = { config: {}, keys: [] };

/** Reads one file as `lint` does, through its reader and the mapping. */
export async function inspectFile(
  path: string,
  text: string | Uint8Array,
  checks: LintSetup = allRules,
  settings: Omit<RawSettings, "root"> = {},
): Promise<Prepared> {
  const root = temporaryFolder();
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), text);
  const inspector = await loadInspector(
    {
      settings: { root, ...settings },
      pair: { ccPairId: undefined, fromFlag: false },
      checks,
      onlyExamines: checks.refuses === undefined,
    },
    loadExamine,
  );
  const item = { path, absolutePath: undefined, stamp: undefined, content: undefined };
  const [looked] = await inspector.look([item]);
  if (!looked || looked.kind === "same") throw new Error(`${path} was not read`);
  return looked;
}

/** What the rules report for one file. */
export async function reportOf(...args: Parameters<typeof inspectFile>): Promise<PageReport> {
  const prepared = await inspectFile(...args);
  if (prepared.kind === "failed") throw new Error(prepared.reason);
  return JSON.parse(prepared.report as string) as PageReport;
}
