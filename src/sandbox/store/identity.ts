import { createHash } from "node:crypto";
import type { IngestionDocument } from "../../api/schemas.ts";

/**
 * The id under which a document is stored: each space becomes `_`, then all characters
 * except letters, digits and `_ . - ~` are percent-encoded. observed-service.md 3.3.
 */
export function storedId(id: string): string {
  // A lone surrogate cannot be encoded; the service strips them (3.2).
  return encodeURIComponent(id.replace(/\p{Cs}/gu, "").replaceAll(" ", "_")).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The stored id of a document; without an id the title replaces it. */
export function storedIdOf(
  document: Pick<IngestionDocument, "semantic_identifier"> & { id?: unknown },
): string {
  return typeof document.id === "string" && document.id !== ""
    ? storedId(document.id)
    : `ingestion_api_${storedId(document.semantic_identifier)}`;
}

export interface Timestamp {
  /** Milliseconds since the epoch. */
  ms: number;
  /** Whether the text had no offset. */
  naive: boolean;
}

const iso =
  /^(\d{4}-\d{2}-\d{2})(?:[T ](\d{2}:\d{2}(?::\d{2}(?:[.,]\d{1,9})?)?)(Z|[+-]\d{2}:?\d{2})?)?$/i;

/**
 * Parses ISO 8601 with or without offset, a date alone, or unix seconds (milliseconds if
 * too large for seconds). Undefined for any other value. observed-service.md 3.4.
 */
export function parseTimestamp(value: unknown): Timestamp | undefined {
  if (typeof value === "number" && Number.isFinite(value)) {
    return { ms: Math.abs(value) > 2e10 ? value : value * 1000, naive: false };
  }
  if (typeof value !== "string") return undefined;
  const text = value.trim();
  if (/^[+-]?\d+(?:\.\d+)?$/.test(text)) return parseTimestamp(Number(text));
  const parts = iso.exec(text);
  if (!parts) return undefined;
  const [, day, time, offset] = parts;
  const ms = Date.parse(
    `${day}T${(time ?? "00:00").replace(",", ".")}${offset?.toUpperCase() ?? "Z"}`,
  );
  // Date.parse turns the 30th of February into March.
  if (Number.isNaN(ms) || Number(day!.slice(8)) > daysInMonth(day!)) return undefined;
  return { ms, naive: offset === undefined };
}

function daysInMonth(day: string): number {
  return new Date(Date.UTC(Number(day.slice(0, 4)), Number(day.slice(5, 7)), 0)).getUTCDate();
}

/** Hash of the members that the service compares to detect a change: observed-service.md 3.5. */
export function fingerprint(document: IngestionDocument): string {
  const { title, semantic_identifier, sections, primary_owners, secondary_owners } = document;
  const covered = [
    title ?? semantic_identifier,
    sections.map((section) => [section.text, section.image_file_id]),
    primary_owners ?? [],
    secondary_owners ?? [],
  ];
  return createHash("sha256").update(JSON.stringify(covered)).digest("base64");
}

/** `2026-01-01T00:00:00Z`, as in JSON responses. */
export function zuluTime(ms: number): string {
  return new Date(ms).toISOString().replace(/\.000Z$/, "Z");
}

/** `2026-01-01T00:00:00`, in UTC, as in the list of recent files: observed-service.md 12.13. */
export function naiveTime(ms: number): string {
  return zuluTime(ms).replace(/Z$/, "");
}

/** `2026-01-01T00:00:00+00:00`, as in packets: observed-service.md 2.1. */
export function offsetTime(ms: number): string {
  return zuluTime(ms).replace(/Z$/, "+00:00");
}
