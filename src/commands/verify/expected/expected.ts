import type { SentText } from "../../../checks/verify/compare-text.ts";
import type { IngestionRequest } from "../../../api/schemas.ts";
import type { Context } from "../../../context.ts";
import type { Inspector, Prepared } from "../../../documents/inspect/inspection.ts";
import { openInspector } from "../../../documents/inspect/open-inspector.ts";
import { formatOf } from "../../../documents/formats/formats.ts";
import { createRealPlaces, exists } from "../../../documents/files/real-place.ts";
import { withoutPath } from "../../../output/paths.ts";
import { isInDoubt } from "../../../sync/state/records.ts";
import type { VerifiableRecord } from "../../../sync/state/verified.ts";
import { inspectSetup, type DocumentSource } from "../../ingest/options/settings.ts";
import { openRecorded } from "../../judging/groups.ts";
import type { Session } from "../../ingest/session.ts";
import { pairInKey } from "../../../sync/state/target.ts";

/** A document that the service should have. */
export interface Expected {
  id: string;
  storedId: string;
  /** Relative to the project root; undefined for a document from stdin. */
  path: string | undefined;
  /** Undefined where no target is known. */
  ccPairId: number | undefined;
  /** Key of the target in the state; undefined without a record. */
  target: string | undefined;
  sentAtMs: number | undefined;
}

/** The metadata entry of ingest.versionTag. */
export interface VersionTag {
  key: string;
  value: string;
}

/** The text that the index should hold, or why it is not known. */
export type KnownText = { sent: SentText; version?: VersionTag | undefined } | { unknown: string };

export interface ExpectedText {
  document: Expected;
  text: KnownText;
}

/** The text in the body of an upload, and its version under `versionKey`. */
export function textInBody(body: Uint8Array, versionKey: string | undefined): KnownText {
  const { document } = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
  const { title = "", semantic_identifier: name, sections, metadata } = document;
  const value = versionKey === undefined ? undefined : metadata[versionKey];
  const version =
    versionKey !== undefined && typeof value === "string" ? { key: versionKey, value } : undefined;
  const sent = { titles: [name, title], sections: sections.map(({ text = "" }) => text), metadata };
  return { sent, version };
}

export function expectedOf(record: VerifiableRecord): Expected {
  const { id, storedId = id, path, target, sentAtMs } = record;
  return { id, storedId, path, target, sentAtMs, ccPairId: pairInKey(target) };
}

function knownText(
  record: VerifiableRecord,
  prepared: Prepared | undefined,
  versionKey: string | undefined,
  fileExists: () => boolean,
): KnownText {
  if (!prepared) return { unknown: "changed since upload: the file has no such row" };
  if (prepared.kind === "skipped") return { unknown: `changed since upload: ${prepared.reason}` };
  if (prepared.kind === "failed") {
    if (!fileExists()) return { unknown: "the file is gone: see `knowctl status`" };
    const { path, reason } = prepared;
    // The document is named by its path already.
    return { unknown: withoutPath(path, reason) };
  }
  const { id, fingerprint, body } = prepared;
  const isSame = isInDoubt(record.whole) || fingerprint.whole === record.whole;
  return id === record.id && isSame
    ? textInBody(body, versionKey)
    : { unknown: "changed since upload" };
}

const filesAtOnce = 32;

/** Reads the files of some records, which have the same options, in the order of the files. */
async function* readGroup(
  records: readonly VerifiableRecord[],
  source: DocumentSource,
  inspector: Inspector,
): AsyncGenerator<ExpectedText> {
  const placeOf = createRealPlaces(source.settings.root);
  const itemOf = (path: string) => ({
    path,
    absolutePath: placeOf(path),
    facts: source.factsOf?.(path),
  });
  const give = (record: VerifiableRecord, prepared: Prepared | undefined): ExpectedText => ({
    document: expectedOf(record),
    text: knownText(record, prepared, source.settings.versionKey, () =>
      exists(placeOf(record.path ?? "")),
    ),
  });
  const whole: VerifiableRecord[] = [];
  const rows = new Map<string, Map<number, VerifiableRecord>>();
  for (const record of records) {
    const { path = "", part } = record;
    if (formatOf(path, source.settings.format)?.gives !== "rows") whole.push(record);
    else rows.set(path, (rows.get(path) ?? new Map()).set(part, record));
  }
  for (let from = 0; from < whole.length; from += filesAtOnce) {
    const some = whole.slice(from, from + filesAtOnce);
    const items = some.map(({ path = "" }) => ({
      ...itemOf(path),
      stamp: undefined,
      content: undefined,
    }));
    const looked = await inspector.look(items);
    for (const [index, record] of some.entries()) {
      const each = looked[index];
      yield give(record, each?.kind === "same" ? undefined : each);
    }
  }
  for (const [path, parts] of rows) {
    for await (const row of inspector.readRows(itemOf(path))) {
      const record = parts.get(row.part);
      parts.delete(row.part);
      if (record) yield give(record, row);
      if (parts.size === 0) break;
    }
    for (const record of parts.values()) yield give(record, undefined);
  }
}

/**
 * The recorded documents with their texts: files are read again with the options of their upload.
 * A text is unknown when the file is no longer the one that was uploaded.
 */
export async function* readRecorded(
  context: Context,
  session: Session,
  records: readonly VerifiableRecord[],
): AsyncGenerator<ExpectedText> {
  const { state, source: today, targets, keys } = session;
  const groups = new Map<number | undefined, VerifiableRecord[]>();
  for (const record of records) {
    if (record.path === undefined) {
      const unknown = "it came from stdin: its text is not kept";
      yield { document: expectedOf(record), text: { unknown } };
      continue;
    }
    const group = groups.get(record.options);
    if (group) group.push(record);
    else groups.set(record.options, [record]);
  }
  for (const [number, group] of groups) {
    const recorded = state.options.get(number);
    const opened = recorded
      ? await openRecorded(context, session, recorded, group.length)
      : {
          source: today,
          inspector: await openInspector(
            inspectSetup(today, targets, keys),
            context.workerScript,
            group.length,
          ),
        };
    const { source, inspector } = opened;
    try {
      yield* readGroup(group, source, inspector);
    } finally {
      await inspector.close();
    }
  }
}
