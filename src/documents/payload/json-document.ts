import {
  isJsonObject,
  type JsonObject,
  formatTime,
  parseDate,
  copyJson,
  found,
  isMap,
  ownerMembers,
  toValue,
  ValueError,
} from "../front-matter/values.ts";
import { type Notice, addMetadata, type Metadata } from "./metadata.ts";
import type { IngestionDocument, Owner, Section } from "../../api/schemas.ts";
import { CliError } from "../../errors.ts";
import { restrictionIn } from "./access.ts";
import { normalise } from "../files/source-file.ts";

// observed-service.md 3.1
const documentMembers = [
  "id",
  "semantic_identifier",
  "title",
  "sections",
  "source",
  "metadata",
  "doc_updated_at",
  "doc_created_at",
  "primary_owners",
  "secondary_owners",
  "file_id",
  "from_ingestion_api",
];
const droppedMembers = new Set([
  "chunk_count",
  "additional_info",
  "external_access",
  "doc_metadata",
  "parent_hierarchy_raw_node_id",
  "parent_hierarchy_node_id",
]);
const sectionMembers = ["text", "link", "heading", "image_file_id", "csv_file_id", "type"];

const parts: Record<string, readonly string[]> = {
  sections: sectionMembers,
  primary_owners: ownerMembers,
  secondary_owners: ownerMembers,
};

/** Known members on the same level as `name`: for `sections.txt`, for example `sections.text`. */
export function knownMembers(name: string): readonly string[] {
  const [list = "", member] = name.split(".");
  if (member === undefined) return documentMembers;
  if (list === "request") return ["request.document", "request.cc_pair_id"];
  return (parts[list] ?? []).map((each) => `${list}.${each}`);
}

function unknownIn(list: string, value: unknown, known: readonly string[]): string[] {
  const elements = Array.isArray(value) ? value.filter(isJsonObject) : [];
  return elements.flatMap((each) =>
    Object.keys(each)
      .filter((name) => !known.includes(name))
      .map((name) => `${list}.${name}`),
  );
}

/** Members without effect in a document or in the `{document, cc_pair_id}` around it, each once. */
function uselessMembers(document: JsonObject, request: JsonObject | undefined): Notice[] {
  const names = Object.keys(document).filter((name) => !documentMembers.includes(name));
  const unknown = [
    ...names.filter((name) => !droppedMembers.has(name)),
    ...Object.entries(parts).flatMap(([list, known]) => unknownIn(list, document[list], known)),
    ...unknownIn("request", [request], ["document", "cc_pair_id"]),
  ];
  return [
    ...names
      .filter((name) => droppedMembers.has(name))
      .map((name): Notice => ({ kind: "dropped", name })),
    ...[...new Set(unknown)].map((name): Notice => ({ kind: "unknown", name })),
  ];
}

/** Throws CliError `usage` about one member. */
type Refuse = (member: string, problem: string, hint: string) => never;

const isFilled = (value: unknown): boolean => typeof value === "string" && value.trim() !== "";

/** Removes members that are null or undefined: the service treats null as missing. */
function withoutNull(value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(value).filter(([, member]) => member !== null && member !== undefined),
  );
}

/**
 * Splits a section with text and an image or a table into one section each: the service would keep
 * the text alone (observed-service.md 3.1).
 */
function splitSection(section: JsonObject): Section[] {
  const { text, image_file_id: image, csv_file_id: table, type: _type, heading, ...rest } = section;
  if ([text, image, table].filter((each) => each !== undefined).length < 2) {
    return [section as Section];
  }
  const headed = heading === undefined ? {} : { heading };
  const parts = [
    ...(isFilled(text) ? [{ text, ...headed }] : []),
    ...(image === undefined ? [] : [{ image_file_id: image }]),
    ...(table === undefined ? [] : [{ csv_file_id: table }]),
  ];
  return parts.map((part) => ({ ...part, ...rest }) as Section);
}

/** Checks sections by observed-service.md 3.1: text, image or table, with or without a link. */
function sectionsOf({ sections }: JsonObject, refuse: Refuse): Section[] {
  const hint = 'write "sections": [{"text": "…", "link": "…"}]';
  if (!Array.isArray(sections)) {
    refuse("sections", `expected a list, found ${found(sections)}`, hint);
  }
  const result = sections.flatMap((section: unknown, index): Section[] => {
    const name = `sections[${index}]`;
    if (!isJsonObject(section)) refuse(name, `expected an object, found ${found(section)}`, hint);
    const clean = withoutNull(section);
    for (const member of ["text", "link", "image_file_id", "csv_file_id"]) {
      const value = clean[member];
      if (value === undefined || typeof value === "string") continue;
      refuse(`${name}.${member}`, `expected text, found ${found(value)}`, hint);
    }
    if (["text", "image_file_id", "csv_file_id"].every((member) => clean[member] === undefined)) {
      refuse(name, "has neither text nor image_file_id", hint);
    }
    return splitSection(clean);
  });
  const isContent = (section: Section & { csv_file_id?: string }): boolean =>
    isFilled(section.text) || isFilled(section.image_file_id) || isFilled(section.csv_file_id);
  if (!result.some(isContent)) refuse("sections", "contain no text and no image", hint);
  return result;
}

interface JsonDocument {
  document: IngestionDocument;
  ccPairId: number | undefined;
  /** The member that restricts who may read the document; the service drops it. */
  restrictedBy?: string;
  /** Members that have no effect. */
  notices?: readonly Notice[];
}

// pydantic reads a larger number as milliseconds (its documentation on datetimes).
const maxSeconds = 2e10;

function idOf({ id }: JsonObject, refuse: Refuse): string {
  const hint = "every document needs an id that stays the same";
  if (typeof id === "number") refuse("id", "expected text, found a number", `write "id": "${id}"`);
  if (typeof id !== "string") refuse("id", `expected text, found ${found(id)}`, hint);
  if (id.trim() === "") refuse("id", "is blank", hint);
  return normalise(id);
}

const isWrapped = (given: JsonObject): boolean =>
  isJsonObject(given["document"]) && !Array.isArray(given["sections"]);

/** The id in a JSON value, whatever else is wrong with it; undefined where it names none. */
export function idIn(value: unknown): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const { id } = isWrapped(value) ? (value["document"] as JsonObject) : value;
  return typeof id === "string" && id.trim() !== "" ? normalise(id) : undefined;
}

function nameOf({ semantic_identifier: name, title }: JsonObject, refuse: Refuse): string {
  const hint = "write the name that people see";
  if (name !== undefined && name !== null && typeof name !== "string") {
    refuse("semantic_identifier", `expected text, found ${found(name)}`, hint);
  }
  if (title !== undefined && title !== null && typeof title !== "string") {
    refuse("title", `expected text, found ${found(title)}`, hint);
  }
  if (typeof name === "string" && name.trim() !== "") return name;
  if (typeof title === "string" && title.trim() !== "") return title;
  return refuse("semantic_identifier", "is missing, and so is title", hint);
}

/** Keeps text and lists of text. Converts other values as in front matter: see addMetadata(). */
function metadataOf(value: unknown, refuse: Refuse): IngestionDocument["metadata"] {
  const data = toValue(value ?? {});
  if (!isMap(data)) {
    return refuse("metadata", `expected an object, found ${found(value)}`, "write {} for none");
  }
  const metadata: Metadata = new Map();
  addMetadata(metadata, data, () => "");
  // fromEntries defines members: no key can reach a prototype.
  return Object.fromEntries([...metadata].map(([key, entry]) => [key, entry.value]));
}

function timeOf(member: string, value: unknown, refuse: Refuse): string {
  const ms = typeof value === "number" ? value * (Math.abs(value) > maxSeconds ? 1 : 1000) : NaN;
  const text = Math.abs(ms) <= 8.64e15 ? formatTime(ms) : value;
  const time = typeof text === "string" ? parseDate(text) : undefined;
  // An offset may move the date out of the four-digit years.
  if (time !== undefined && parseDate(time) !== undefined) return time;
  const shown = typeof value === "string" ? value : JSON.stringify(value);
  return refuse(member, `not a date: ${shown}`, "write 2024-05-01 or 2024-05-01T09:30:00Z");
}

function ownersOf(member: string, value: unknown, refuse: Refuse): Owner[] {
  const hint = 'write [{"display_name": "…", "email": "…"}]';
  if (!Array.isArray(value)) refuse(member, `expected a list, found ${found(value)}`, hint);
  for (const [index, owner] of (value as unknown[]).entries()) {
    const name = `${member}[${index}]`;
    if (!isJsonObject(owner)) refuse(name, `expected an object, found ${found(owner)}`, hint);
    const wrong = ownerMembers.find(
      (key) => owner[key] !== undefined && owner[key] !== null && typeof owner[key] !== "string",
    );
    if (wrong) refuse(`${name}.${wrong}`, `expected text, found ${found(owner[wrong])}`, hint);
  }
  return value as Owner[];
}

function checkRest(rest: JsonObject, refuse: Refuse): void {
  const checks: [string, (value: unknown) => boolean, string][] = [
    ["source", (value) => isFilled(value), "a source name, for example web"],
    ["chunk_count", (value) => Number.isInteger(value), "an integer"],
    ["from_ingestion_api", (value) => typeof value === "boolean", "true or false"],
    ["file_id", (value) => typeof value === "string", "text"],
  ];
  for (const [member, isRight, expected] of checks) {
    const value = rest[member];
    if (value === undefined || value === null || isRight(value)) continue;
    refuse(member, `expected ${expected}, found ${found(value)}`, "correct it or remove it");
  }
}

function documentOf(clean: JsonObject, refuse: Refuse): IngestionDocument {
  checkRest(clean, refuse);
  const document: JsonObject = {
    id: idOf(clean, refuse),
    semantic_identifier: nameOf(clean, refuse),
    ...(clean["title"] !== undefined && { title: clean["title"] }),
    sections: sectionsOf(clean, refuse),
    source: clean["source"] ?? "file",
    metadata: metadataOf(clean["metadata"], refuse),
  };
  for (const member of ["doc_updated_at", "doc_created_at"]) {
    if (clean[member] !== undefined) document[member] = timeOf(member, clean[member], refuse);
  }
  for (const member of ["primary_owners", "secondary_owners"]) {
    if (clean[member] !== undefined) document[member] = ownersOf(member, clean[member], refuse);
  }
  for (const [member, value] of Object.entries(clean)) {
    if (!Object.hasOwn(document, member)) document[member] = value;
  }
  return document as unknown as IngestionDocument;
}

function pairOf(value: unknown, refuse: Refuse): number | undefined {
  if (value === undefined || value === null) return undefined;
  // The service accepts 0 as a pair that no page shows (observed-service.md 3.9).
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  const shown = JSON.stringify(value);
  return refuse(
    "cc_pair_id",
    `expected a positive integer, found ${shown}`,
    "write a number, or remove it",
  );
}

const pairHint = 'write {"document": {…}, "cc_pair_id": N}';

/**
 * Parses a document of the service's API: an IngestionDocument, or `{document, cc_pair_id}`. Checks
 * it like the service. Changes only what the service would store differently: times become UTC
 * with `Z`, metadata values become text or lists of text, the id becomes NFC, and null members are
 * removed. Known members are first, in a fixed order; unknown members are kept. A section with
 * text and image becomes two sections. `where` (`path:line:column`) begins each message. Throws
 * CliError `usage`.
 */
export function parseJsonDocument(value: unknown, where: string): JsonDocument {
  const refuse: Refuse = (member, problem, hint) => {
    throw new CliError("usage", `${where}: ${member}: ${problem}`, { hints: [hint] });
  };
  try {
    const jsonDocument = copyJson(value);
    if (!isJsonObject(jsonDocument)) {
      return refuse(
        "document",
        `expected an object, found ${found(jsonDocument)}`,
        "write one object",
      );
    }
    const wrapped = isWrapped(jsonDocument);
    const document = withoutNull(wrapped ? (jsonDocument["document"] as JsonObject) : jsonDocument);
    const ccPairId = wrapped ? pairOf(jsonDocument["cc_pair_id"], refuse) : undefined;
    if (document["cc_pair_id"] !== undefined) {
      refuse("cc_pair_id", "is inside the document, where it has no effect", pairHint);
    }
    const restrictedBy = restrictionIn(document);
    const useless = uselessMembers(document, wrapped ? withoutNull(jsonDocument) : undefined);
    const notices = useless.filter(({ name }) => name !== restrictedBy);
    return {
      document: documentOf(document, refuse),
      ccPairId,
      ...(restrictedBy === undefined ? {} : { restrictedBy }),
      ...(notices.length > 0 ? { notices } : {}),
    };
  } catch (error) {
    if (!(error instanceof ValueError)) throw error;
    return refuse("document", `holds ${error.message}`, "remove it");
  }
}
