import type { Found, SourceFile } from "../documents/find.ts";
import { CliError } from "../errors.ts";
import { isCurrent, readForState, type PreparedDocument, type ReadRequest } from "./file-record.ts";
import { refuseCollisions } from "./collisions.ts";
import { changedFields, type Fingerprint } from "../documents/payload.ts";
import { createPlanTable, type PlanAction, type PlanEntry, type PlanTable } from "./plan-table.ts";
import type { FileRecord, State } from "./state.ts";

/** Where a document goes: the key of its records in the state. */
export interface Target {
  ccPairId: number;
  /** Origin, path prefix and pair: `https://host/prefix#243`. */
  key: string;
}

export interface PlanRequest extends ReadRequest {
  state: State;
  /** Hash of everything except the file's bytes that shapes its payload. */
  mappingKey: (path: string) => string;
  /** Target for the pair that a rule names, or for the run's own; undefined when none is known. */
  targetOf: (ccPairId: number | undefined) => Target | undefined;
  /** Read every file even when its stamp is the recorded one. */
  checksum: boolean;
  /** Plan to send what is unchanged too. */
  force: boolean;
  /** False for a dry run: the state stays as it is. */
  record: boolean;
  /** Ends the plan between two files. */
  signal: AbortSignal;
  /** Called now and then with the number of files looked at. */
  onProgress?: (files: number) => void;
  /** The id under which the service stores a document; undefined where it stores them as they are. */
  storedId?: ((id: string) => string) | undefined;
}

export interface Plan {
  readonly table: PlanTable;
  /** Files that were found, whatever became of them. */
  readonly fileCount: number;
  /** Image references in the files that were read. */
  readonly images: number;
  /** Pairs that documents to be sent go to; undefined among them when one has none. */
  readonly pairs: ReadonlySet<number | undefined>;
  /** A document that was read for the plan and still fits in memory; else undefined. */
  takePrepared(path: string): PreparedDocument | undefined;
}

// Documents read for the plan are kept up to this much text, so that a first
// upload of moderate size reads each file once. Beyond it they are read again.
const preparedLimitChars = 8 * 1024 * 1024;
const saveBatch = 512;
const sliceMs = 50;

type Decision = Pick<PlanEntry, "action" | "detail">;

/**
 * The rule of what is sent, a pure function:
 *
 * | recorded as accepted | same fingerprint | force | action    |
 * |----------------------|------------------|-------|-----------|
 * | no                   | –                | –     | new       |
 * | yes                  | no               | –     | changed   |
 * | yes                  | yes              | no    | unchanged |
 * | yes                  | yes              | yes   | changed   |
 */
export function decide(
  accepted: Fingerprint | undefined,
  current: Fingerprint,
  force: boolean,
): Decision {
  if (!accepted) return { action: "new", detail: "" };
  if (accepted.whole === current.whole) {
    return force ? { action: "changed", detail: "forced" } : { action: "unchanged", detail: "" };
  }
  const fields = changedFields(accepted.fields, current.fields);
  return { action: "changed", detail: fields.join(", ") };
}

/**
 * Compares the files with the state and decides for each whether it is sent.
 * Reads only files that may have changed. Nothing is sent here: every id is
 * known, and known to be unique, before the first request. Throws CliError
 * `usage` when two files give one id, both named.
 */
export async function buildPlan(
  found: Iterable<Found> | AsyncIterable<Found>,
  request: PlanRequest,
): Promise<Plan> {
  const { state } = request;
  const table = createPlanTable(state.database, request.storedId);
  const prepared = new Map<string, PreparedDocument>();
  const pairs = new Set<number | undefined>();
  let fileCount = 0;
  let images = 0;
  let preparedChars = 0;
  let unsaved: FileRecord[] = [];
  const save = (): void => {
    if (request.record) state.save(unsaved, []);
    unsaved = [];
    table.flush();
  };

  const addRecord = (file: SourceFile, record: FileRecord): PlanAction => {
    const { path, absolutePath, sizeBytes, stamp } = file;
    const { document } = record;
    const target = document && request.targetOf(document.ccPairId);
    const accepted = document && target && state.accepted(target.key, document.id);
    const decision: Decision = document
      ? decide(accepted, document, request.force)
      : { action: "skipped", detail: record.skipped ?? "" };
    if (decision.action === "new" || decision.action === "changed") pairs.add(target?.ccPairId);
    table.add({ path, absolutePath, sizeBytes, stamp, id: document?.id, ...decision });
    return decision.action;
  };

  const keep = (path: string, document: PreparedDocument): void => {
    const { sections } = document.document;
    const chars = sections.reduce((sum, each) => sum + (each.text?.length ?? 0), 0);
    if (preparedChars + chars > preparedLimitChars) return;
    prepared.set(path, document);
    preparedChars += chars;
  };

  const addFile = async (file: SourceFile): Promise<void> => {
    const mapping = request.mappingKey(file.path);
    const known = request.checksum ? undefined : state.file(file.path);
    if (known && isCurrent(known, file, mapping)) return void addRecord(file, known);
    const {
      record,
      prepared: document,
      warnings,
      images: imageCount,
    } = await readForState(file, mapping, request);
    unsaved.push(record);
    for (const warning of warnings) table.warn(warning);
    images += imageCount;
    const action = addRecord(file, record);
    if (document && (action === "new" || action === "changed")) keep(file.path, document);
  };

  let lookedAt = 0;
  let breatheAtMs = request.now() + sliceMs;
  for await (const each of found) {
    lookedAt++;
    if (request.now() >= breatheAtMs) {
      // Files are read synchronously: let signals and the progress line have their turn.
      request.onProgress?.(lookedAt);
      await new Promise((resolve) => setImmediate(resolve));
      request.signal.throwIfAborted();
      breatheAtMs = request.now() + sliceMs;
    }
    if (each.kind === "file") {
      fileCount++;
      try {
        await addFile(each.file);
      } catch (error) {
        // A file's own fault; a fault of the state (exit `local`) ends the run.
        if (!(error instanceof CliError) || error.exit === "local") throw error;
        table.addFailure(each.file.path, error.message);
      }
      if (unsaved.length >= saveBatch) save();
    } else if (each.kind === "skipped") {
      table.addSkip(each.path, each.reason);
    } else {
      table.addFailure(each.path, each.reason);
    }
  }
  save();
  refuseCollisions(table);
  return {
    table,
    fileCount,
    images,
    pairs,
    takePrepared(path) {
      const document = prepared.get(path);
      prepared.delete(path);
      return document;
    },
  };
}
