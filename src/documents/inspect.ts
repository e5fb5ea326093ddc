import { CliError } from "../errors.ts";
import { readContent } from "./content.ts";
import type { SourceFile } from "./find.ts";
import type {
  InspectSetup,
  Inspector,
  Looked,
  LookItem,
  Prepared,
  ReadItem,
  ReadyDocument,
} from "./inspection.ts";
import { defaultId } from "./mapping.ts";
import { buildPayload } from "./payload.ts";
import {
  contentHash,
  findDocumentId,
  readDocument,
  readDocumentSync,
  readRows,
  type Reading,
} from "./read.ts";
import { formatOf, loadedTextReader } from "./readers.ts";
import { compileSettings, type DocumentSettings } from "./settings.ts";
import { trustedStamp } from "./stamp.ts";
import { statFile } from "./walk.ts";

function found(id: string): Looked {
  const documents = [{ part: 0, id, ccPairId: undefined, fingerprint: undefined }];
  return { kind: "found", documents, leftOut: [], content: undefined, warnings: [], images: 0 };
}

// Reading these twice would cost, and they name no id.
function hasPathId(path: string, { keys }: DocumentSettings): boolean {
  return formatOf(path)?.gives === "binary" && keys.id.every((key) => key === "id");
}

const same: Looked = { kind: "same", stamp: undefined };

function failure(path: string, error: unknown): { kind: "failed"; path: string; reason: string } {
  // A file's own fault; anything else is a bug, and ends the run.
  if (!(error instanceof CliError)) throw error;
  return { kind: "failed", path, reason: error.message };
}

const bodyStart = '{"document":';

function bodyOf(documentJson: string, ccPairId: number | undefined): Buffer {
  return Buffer.from(
    ccPairId === undefined
      ? `${bodyStart}${documentJson}}`
      : `${bodyStart}${documentJson},"cc_pair_id":${ccPairId}}`,
  );
}

/** JSON of the document alone where no pair is known, else of `{document, cc_pair_id}`. */
export function documentJsonOf({ body, ccPairId }: ReadyDocument): string {
  const json = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString();
  return ccPairId === undefined ? json.slice(bodyStart.length, -1) : json;
}

/** What turning a reading into a request takes. */
export type PreparedSetup = Pick<InspectSetup, "pair" | "volatile">;

/** A reading with the body of its request; `path` is "" for what came from stdin. */
export function toPrepared(
  path: string,
  part: number,
  reading: Reading,
  setup: PreparedSetup,
): Prepared {
  const { stamp, content } = reading;
  if (reading.kind === "skipped") {
    return { kind: "skipped", path, part, reason: reading.reason, stamp, content };
  }
  const { document, warnings, images, uploads } = reading;
  const { fromFlag, ccPairId: runPair } = setup.pair;
  const ccPairId = fromFlag ? runPair : (reading.ccPairId ?? runPair);
  const { documentJson, fingerprint } = buildPayload(document, setup.volatile);
  return {
    kind: "document",
    path,
    part,
    id: document.id,
    ccPairId,
    ownPair: reading.ccPairId,
    body: bodyOf(documentJson, ccPairId),
    fingerprint,
    updatedAt: document.doc_updated_at,
    stamp,
    content,
    warnings,
    images,
    uploads,
  };
}

function isFast(path: string): boolean {
  const format = formatOf(path);
  return format !== undefined && loadedTextReader(format) !== undefined;
}

function asFile({ path, absolutePath, facts }: ReadItem): SourceFile {
  return { path, absolutePath, sizeBytes: 0, stamp: "", mtimeMs: 0, facts };
}

/** Creates an inspector that works in the thread it is called in. */
export function createInspector(setup: InspectSetup): Inspector {
  const settings: DocumentSettings = compileSettings(setup.settings);

  const readOne = async (item: ReadItem): Promise<Prepared> => {
    try {
      const file = asFile(item);
      const reading = isFast(item.path)
        ? readDocumentSync(file, settings)
        : await readDocument(file, settings);
      return toPrepared(item.path, 0, reading, setup);
    } catch (error) {
      return { ...failure(item.path, error), part: 0 };
    }
  };

  async function* rowsOf(item: ReadItem): AsyncGenerator<Prepared> {
    try {
      for await (const row of readRows(asFile(item), settings)) {
        if (row.kind === "failed") {
          yield { kind: "failed", path: item.path, part: row.part, reason: row.reason };
        } else {
          yield toPrepared(item.path, row.part, row, setup);
        }
      }
    } catch (error) {
      yield { ...failure(item.path, error), part: 0 };
    }
  }

  const lookWhole = async (item: LookItem): Promise<Looked> => {
    const result: Looked & { kind: "found" } = {
      kind: "found",
      documents: [],
      leftOut: [],
      content: undefined,
      warnings: [],
      images: 0,
    };
    const isRows = formatOf(item.path)?.gives === "rows";
    const all = isRows ? rowsOf(item) : [await readOne(item)];
    for await (const each of all) {
      const { part } = each;
      if (each.kind !== "document") {
        if (each.kind === "failed" && part === 0) return each;
        const { stamp, content } = each.kind === "skipped" ? each : { stamp: "", content: "" };
        const { kind, path, reason } = each;
        result.leftOut.push({ kind, path, reason, part, stamp, content });
        continue;
      }
      const { id, ownPair, fingerprint, content } = each;
      result.documents.push({
        part,
        id,
        ccPairId: ownPair,
        fingerprint: setup.isFull ? fingerprint : undefined,
      });
      result.content = content;
      result.images += each.images;
      result.warnings = [...result.warnings, ...each.warnings];
    }
    return result;
  };

  const lookFast = (item: LookItem): Looked | undefined => {
    if (item.stamp !== undefined) {
      const listed = statFile(item.path, item.absolutePath);
      if (listed.kind !== "file") return listed;
      if (listed.file.stamp === item.stamp) return same;
    }
    if (!setup.isFull && item.content === undefined && hasPathId(item.path, settings)) {
      return found(defaultId(item.path, settings));
    }
    const isWhole = setup.isFull || !isFast(item.path);
    if (isWhole && item.content === undefined) return undefined;
    const { bytes, stamp } = readContent(asFile(item), settings.maxFileBytes);
    if (item.content !== undefined && contentHash(bytes) === item.content) {
      return { kind: "same", stamp: trustedStamp(stamp, Date.now()) };
    }
    if (isWhole) return undefined;
    return found(findDocumentId(bytes, item.path, settings));
  };

  return {
    async look(items) {
      const results: Looked[] = [];
      for (const item of items) {
        try {
          results.push(lookFast(item) ?? (await lookWhole(item)));
        } catch (error) {
          results.push(failure(item.path, error));
        }
      }
      return results;
    },
    async read(items) {
      const results: Prepared[] = [];
      for (const item of items) results.push(await readOne(item));
      return results;
    },
    readRows: rowsOf,
  };
}
