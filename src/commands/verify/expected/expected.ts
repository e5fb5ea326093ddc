import type { SentText } from "../../../checks/verify/compare-text.ts";
import type { IngestionRequest } from "../../../api/schemas.ts";

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
