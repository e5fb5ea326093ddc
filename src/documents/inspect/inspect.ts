import { type SourceFile, type FileFacts, statFile } from "../files/source-file.ts";
import { CliError, reasonOf } from "../../errors.ts";
import type {
  Examine,
  Examined,
  InspectSetup,
  Inspector,
  LoadExamine,
  Looked,
  LookItem,
  Prepared,
  ReadItem,
  ReadyDocument,
} from "./inspection.ts";
import { buildPayload, documentJsonIn } from "../payload/payload.ts";
import { readDocument, readDocumentSync, textReaderFor, type Reading } from "./read.ts";
import { readRows } from "./read-rows.ts";
import { isAsRecorded, placeOf, same } from "./recorded.ts";
import { loadGlobs } from "../files/patterns.ts";
import { compileSettings, usesPatterns, type DocumentSettings } from "../map/settings.ts";

function failure(path: string, error: unknown): { kind: "failed"; path: string; reason: string } {
  // A CliError concerns one file. Any other error is a bug and ends the run.
  if (!(error instanceof CliError)) throw error;
  return { kind: "failed", path, reason: reasonOf(error) };
}

/** JSON of the document alone if no pair is known, else of `{document, cc_pair_id}`. */
export function documentJsonOf({ body, ccPairId }: ReadyDocument): string {
  return ccPairId === undefined
    ? documentJsonIn(body, undefined)
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
}

/** Settings that turn a reading into a request. */
export interface PayloadSetup extends Pick<InspectSetup, "pair" | "onlyExamines"> {
  examine?: Examine | undefined;
}

const noPayload = { body: Buffer.alloc(0), fingerprint: { whole: "", fields: "" } };

/** A reading, for a row with the line on which it begins. */
type PlacedReading = Reading & { line?: number | undefined };

/** What the checks say of a reading. */
export function examineReading(
  path: string,
  part: number,
  reading: PlacedReading,
  body: Uint8Array | undefined,
  { examine }: Pick<PayloadSetup, "examine">,
  facts: FileFacts | undefined,
): Examined | undefined {
  if (!examine) return undefined;
  const { line, source, parsed } = reading;
  const isDocument = reading.kind === "document";
  const document = isDocument ? reading.document : undefined;
  const skipped = isDocument ? undefined : reading.reason;
  return examine({ path, part, line, source, parsed, document, body, skipped, facts });
}

/**
 * Adds the request body to a reading. Fails a document that a check refuses. `path` is "" for stdin.
 */
export function toPrepared(
  path: string,
  part: number,
  reading: PlacedReading,
  setup: PayloadSetup,
  facts?: FileFacts,
): Prepared {
  const { stamp, content, parts } = reading;
  if (reading.kind === "skipped") {
    const { report } = examineReading(path, part, reading, undefined, setup, facts) ?? {};
    return { kind: "skipped", path, part, reason: reading.reason, stamp, content, parts, report };
  }
  const { document, warnings, images, uploads, volatile, notices } = reading;
  const { fromFlag, ccPairId: runPair } = setup.pair;
  const ccPairId = fromFlag ? runPair : (reading.ccPairId ?? runPair);
  const { body, fingerprint } = setup.onlyExamines
    ? noPayload
    : buildPayload(document, volatile, ccPairId);
  const sent = setup.onlyExamines ? undefined : body;
  const { refused, report } = examineReading(path, part, reading, sent, setup, facts) ?? {};
  if (refused !== undefined) return { kind: "failed", path, part, reason: refused };
  return {
    kind: "document",
    path,
    part,
    id: document.id,
    ccPairId,
    ownPair: reading.ccPairId,
    body,
    fingerprint,
    updatedAt: document.doc_updated_at,
    stamp,
    content,
    parts,
    warnings,
    images,
    uploads,
    notices,
    report,
  };
}

/**
 * Creates an inspector that works in the calling thread. Loads the glob libraries first if the
 * settings need them, and the checks if the setup names some.
 */
export async function loadInspector(
  setup: InspectSetup,
  loadExamine?: LoadExamine,
): Promise<Inspector> {
  if (usesPatterns(setup.settings)) await loadGlobs();
  const settings = compileSettings(setup.settings);
  return createInspector(setup, settings, await loadExamine?.(setup.checks, settings));
}

function createInspector(
  setup: InspectSetup,
  settings: DocumentSettings,
  examine: Examine | undefined,
): Inspector {
  const { pair, onlyExamines } = setup;
  const payload: PayloadSetup = { pair, onlyExamines, examine };
  const asFile = (item: ReadItem): SourceFile => {
    const { path, facts } = item;
    return {
      path,
      absolutePath: placeOf(item, settings.root),
      sizeBytes: 0,
      stamp: "",
      mtimeMs: 0,
      facts,
    };
  };

  // Synchronous where possible: a promise costs as much as mapping the file.
  const readSync = (item: ReadItem): Prepared | undefined => {
    const read = textReaderFor(item.path, settings);
    if (!read) return undefined;
    const reading = readDocumentSync(asFile(item), settings, undefined, read);
    return toPrepared(item.path, 0, reading, payload, item.facts);
  };

  const readAsync = async (item: ReadItem): Promise<Prepared> => {
    const reading = await readDocument(asFile(item), settings);
    return toPrepared(item.path, 0, reading, payload, item.facts);
  };

  async function* rowsOf(item: ReadItem): AsyncGenerator<Prepared> {
    try {
      for await (const row of readRows(asFile(item), settings)) {
        if (row.kind === "failed") {
          yield { kind: "failed", path: item.path, part: row.part, reason: row.reason };
        } else {
          const prepared = toPrepared(item.path, row.part, row, payload, item.facts);
          yield prepared.kind === "document" ? { ...prepared, line: row.line } : prepared;
        }
      }
    } catch (error) {
      yield { ...failure(item.path, error), part: 0 };
    }
  }

  const compareWithRecord = (item: LookItem): Looked | undefined => {
    if (isAsRecorded(item, setup)) return same;
    if (item.stamp === undefined || item.content !== undefined) return undefined;
    const listed = statFile(item.path, placeOf(item, settings.root));
    if (listed.kind === "failed") return { ...listed, part: 0 };
    if (listed.kind === "skipped") return { ...listed, part: 0, stamp: "", content: "" };
    return undefined;
  };

  return {
    async look(items, onItem) {
      const results: Looked[] = [];
      for (const item of items) {
        let result: Looked;
        try {
          result = compareWithRecord(item) ?? readSync(item) ?? (await readAsync(item));
        } catch (error) {
          result = { ...failure(item.path, error), part: 0 };
        }
        results.push(result);
        onItem?.();
      }
      return results;
    },
    readRows: rowsOf,
  };
}
