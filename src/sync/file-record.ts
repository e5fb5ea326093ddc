import type { IngestionDocument } from "../api/schemas.ts";
import type { SourceFile } from "../documents/find.ts";
import type { Reading } from "../documents/read.ts";
import { fingerprintOf, type Fingerprint } from "../documents/payload.ts";
import type { FileRecord } from "./state.ts";

export interface ReadRequest {
  read: (file: SourceFile) => Promise<Reading>;
  /** Fields left out of the fingerprint: they change without the content changing. */
  volatile: readonly (keyof IngestionDocument)[];
  now: () => number;
}

export interface PreparedDocument {
  document: IngestionDocument;
  ccPairId: number | undefined;
  fingerprint: Fingerprint;
}

// A file changed within the clock tick in which it was seen could change again
// without its times changing: like git, such an entry is not trusted. File
// systems with whole-second times need a whole second.
function isRacy(record: FileRecord): boolean {
  const changedNs = BigInt(record.stamp.split(":")[2] ?? "0");
  const tickMs = changedNs % 1_000_000_000n === 0n ? 2000 : 20;
  return Number(changedNs / 1_000_000n) + tickMs > record.seenAtMs;
}

/** Whether the file need not be read: same stamp, same mapping, and not changed just before. */
export function isCurrent(record: FileRecord, file: SourceFile, mapping: string): boolean {
  return record.stamp === file.stamp && record.mapping === mapping && !isRacy(record);
}

/** Reads a file into the record that the state keeps and the document that is sent. */
export async function readForState(
  file: SourceFile,
  mapping: string,
  request: ReadRequest,
): Promise<{
  record: FileRecord;
  prepared: PreparedDocument | undefined;
  warnings: readonly string[];
  images: number;
}> {
  const seenAtMs = request.now();
  const reading = await request.read(file);
  const base = { path: file.path, mapping, seenAtMs };
  if (reading.kind === "skipped") {
    const record = { ...base, stamp: file.stamp, document: undefined, skipped: reading.reason };
    return { record, prepared: undefined, warnings: [], images: 0 };
  }
  const { document, ccPairId } = reading;
  const fingerprint = fingerprintOf(document, request.volatile);
  const stored = { id: document.id, ccPairId, ...fingerprint };
  return {
    record: { ...base, stamp: reading.stamp, document: stored, skipped: undefined },
    prepared: { document, ccPairId, fingerprint },
    warnings: reading.warnings,
    images: reading.images,
  };
}
