import { join } from "node:path";
import { isAsRecorded } from "../../../../src/documents/inspect/recorded.ts";
import { createScan } from "../../../../src/sync/plan/merge.ts";
import type { IngestOptions } from "../../../../src/commands/ingest/ingest-options.ts";
import { openState } from "../../../sync/open-state.ts";
import type { TestService } from "../../../service.ts";
import { runIngest } from "../support.ts";

const everything = [{ from: "", to: "\u{10ffff}" }];

interface RecordedFiles {
  /** Files without a trusted stamp: each run reads them. */
  untrusted: string[];
  /** Files that the next run reads. */
  stale: string[];
}

/** Compares each recorded file of a project with its record, as a run does. */
export async function recordedFiles({ folder, env }: TestService): Promise<RecordedFiles> {
  const { state } = await openState(join(folder, ".knowctl"), Date.now);
  const targets = { baseUrl: env["KNOWCTL_BASE_URL"] ?? "", pair: { ccPairId: 2, fromFlag: true } };
  const setup = { settings: { root: folder } };
  const result: RecordedFiles = { untrusted: [], stale: [] };
  for (const { path, seen, parts } of createScan(state.database, targets, false)(everything)) {
    const [stamp] = seen.split(" ");
    const item = { path, absolutePath: undefined, content: undefined, parts };
    if (seen === "") result.untrusted.push(path);
    if (seen === "" || !isAsRecorded({ ...item, stamp }, setup)) result.stale.push(path);
  }
  state.close();
  return result;
}

/** Ingests `docs` until no file is too new for its stamp. Returns what the next run would read. */
export async function ingestUntilTrusted(
  service: TestService,
  options: IngestOptions = {},
): Promise<string[]> {
  for (;;) {
    await runIngest(service, ["docs"], options);
    const { untrusted, stale } = await recordedFiles(service);
    if (untrusted.length === 0) return stale;
  }
}
