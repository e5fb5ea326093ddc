import { join, resolve } from "node:path";
import { dialects } from "../../api/dialects.ts";
import type { Context } from "../../context.ts";
import { findFiles, type SourceFile } from "../../documents/find.ts";
import { mappingKey } from "../../documents/mapping.ts";
import { readDocument } from "../../documents/read.ts";
import type { Progress } from "../../output/progress.ts";
import { readForState } from "../../sync/file-record.ts";
import { buildPlan, type Plan, type PlanRequest } from "../../sync/plan.ts";
import type { NumberedEntry } from "../../sync/plan-table.ts";
import type { RunRequest } from "../../sync/run.ts";
import type { DocumentSource, MappingFlags } from "./settings.ts";

/** Folder of the state store; undefined with `--no-state`. */
export function stateFolder(source: DocumentSource, flags: MappingFlags): string | undefined {
  if (flags.state === false) return undefined;
  if (typeof flags.state === "string") return resolve(source.cwd, flags.state);
  return join(source.settings.root, ".knowctl");
}

interface FolderPlanOptions extends Pick<PlanRequest, "state" | "targetOf" | "record"> {
  checksum?: boolean;
  force?: boolean;
  progress: Progress;
}

function volatileFields(source: DocumentSource): PlanRequest["volatile"] {
  // A checkout resets every mtime; that alone must not send everything again.
  return source.settings.updatedAt === "mtime" ? ["doc_updated_at"] : [];
}

/** Finds the files of `source` and compares them with the state. */
export async function planFolder(
  context: Context,
  source: DocumentSource,
  options: FolderPlanOptions,
): Promise<Plan> {
  const { settings, inputs, cwd } = source;
  const counts = { created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 };
  const fixed = { phase: "reading", total: undefined, counts, retries: 0, slowBecause: undefined };
  let done = 0;
  options.progress.follow(() => ({ ...fixed, done }));
  return await buildPlan(findFiles(inputs, { cwd, settings }), {
    state: options.state,
    targetOf: options.targetOf,
    record: options.record,
    storedId: dialects[source.config.dialect].storedId,
    read: (file) => readDocument(file, settings),
    mappingKey: (path) => mappingKey(path, settings),
    volatile: volatileFields(source),
    checksum: options.checksum === true,
    force: options.force === true,
    signal: context.signal,
    onProgress(files) {
      done = files;
    },
    now: context.now,
  });
}

function fileOf(entry: NumberedEntry): SourceFile {
  const { path, absolutePath, sizeBytes, stamp } = entry;
  const mtimeMs = Number(BigInt(stamp.split(":")[1] ?? "0") / 1_000_000n);
  return { path, absolutePath, sizeBytes, stamp, mtimeMs };
}

/** Reads a planned file again, for what did not stay in memory. */
export function createPrepare(context: Context, source: DocumentSource): RunRequest["prepare"] {
  const { settings } = source;
  const request = {
    read: (file: SourceFile) => readDocument(file, settings),
    volatile: volatileFields(source),
    now: context.now,
  };
  return (entry) => readForState(fileOf(entry), mappingKey(entry.path, settings), request);
}
