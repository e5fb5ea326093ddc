import type { SourceFile } from "../find/source-file.ts";
import { CliError, reasonOf } from "../../errors.ts";
import type {
  InspectSetup,
  Inspector,
  Looked,
  LookItem,
  Prepared,
  ReadItem,
  ReadyDocument,
} from "./inspection.ts";
import { buildPayload, documentJsonIn } from "../payload/payload.ts";
import { readDocument, readDocumentSync, textReaderFor, type Reading } from "../read/read.ts";
import { readRows } from "../read/read-rows.ts";
import { isAsRecorded, placeOf, same } from "./recorded.ts";
import { loadGlobs } from "../find/patterns.ts";
import {
  createSecretCheck,
  placeInFile,
  secretReason,
  type SecretCheck,
} from "../payload/secrets.ts";
import { compileSettings, usesPatterns, type DocumentSettings } from "../map/settings.ts";
import { statFile } from "../find/stat-file.ts";

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
export interface PayloadSetup extends Pick<InspectSetup, "pair" | "dropAccess"> {
  secretIn: SecretCheck;
}

/**
 * Adds the request body to a reading. Fails a document with a secret in its body. `path` is "" for
 * stdin. `whereIs` returns the place of a text in the file, for messages.
 */
export function toPrepared(
  path: string,
  part: number,
  reading: Reading,
  setup: PayloadSetup,
  whereIs: (text: string) => string,
): Prepared {
  const { stamp, content, parts } = reading;
  if (reading.kind === "skipped") {
    return { kind: "skipped", path, part, reason: reading.reason, stamp, content, parts };
  }
  const { document, warnings, images, uploads, volatile, notices } = reading;
  const { fromFlag, ccPairId: runPair } = setup.pair;
  const ccPairId = fromFlag ? runPair : (reading.ccPairId ?? runPair);
  const { body, fingerprint } = buildPayload(document, volatile, ccPairId);
  const secret = setup.secretIn(path, body);
  if (secret) {
    return { kind: "failed", path, part, reason: secretReason(whereIs(secret.text), secret) };
  }
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
  };
}

/** Like createInspector(), but loads the glob libraries first if the settings need them. */
export async function loadInspector(setup: InspectSetup): Promise<Inspector> {
  if (usesPatterns(setup.settings)) await loadGlobs();
  return createInspector(setup);
}

/** Creates an inspector that works in the calling thread. */
export function createInspector(setup: InspectSetup): Inspector {
  const settings: DocumentSettings = compileSettings(setup.settings);
  const secretIn = createSecretCheck(setup.keys, settings);
  const payload: PayloadSetup = { pair: setup.pair, secretIn };
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

  const whereIn =
    (item: ReadItem) =>
    (text: string): string =>
      placeInFile(asFile(item), settings, text);

  // Synchronous where possible: a promise costs as much as mapping the file.
  const readSync = (item: ReadItem): Prepared | undefined => {
    const read = textReaderFor(item.path, settings);
    if (!read) return undefined;
    const reading = readDocumentSync(asFile(item), settings, undefined, read);
    return toPrepared(item.path, 0, reading, payload, whereIn(item));
  };

  const readAsync = async (item: ReadItem): Promise<Prepared> =>
    toPrepared(item.path, 0, await readDocument(asFile(item), settings), payload, whereIn(item));

  async function* rowsOf(item: ReadItem): AsyncGenerator<Prepared> {
    try {
      for await (const row of readRows(asFile(item), settings)) {
        if (row.kind === "failed") {
          yield { kind: "failed", path: item.path, part: row.part, reason: row.reason };
        } else {
          const place = `${item.path}${row.line === undefined ? "" : `:${row.line}:1`}`;
          const prepared = toPrepared(item.path, row.part, row, payload, () => place);
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
