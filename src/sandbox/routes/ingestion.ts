import * as z from "zod/mini";
import type { IngestionDocument, IngestionRequest, Section } from "../../api/schemas.ts";
import { parseTimestamp, type Timestamp } from "../store/identity.ts";
import { pythonString } from "../http/python.ts";
import { detail, type DialectName, Refusal } from "../http/reply.ts";
import { sourceNames } from "../store/pairs/sources.ts";
import { type Issue, issuesOf, laxBoolean, laxInteger, refuseBody } from "../http/validation.ts";

const text = z.string();
const optionalText = z.optional(z.nullable(text));

const Owner = z.looseObject({
  display_name: optionalText,
  first_name: optionalText,
  middle_initial: optionalText,
  last_name: optionalText,
  email: optionalText,
});
const owners = z.optional(z.nullable(z.array(Owner)));
const anyObject = z.record(z.string(), z.unknown());

// observed-service.md 3.1
const Body = z.looseObject({
  cc_pair_id: z.optional(z.nullable(laxInteger)),
  document: z.looseObject({
    id: optionalText,
    semantic_identifier: text,
    title: optionalText,
    sections: z.array(anyObject),
    source: optionalText,
    metadata: z.unknown(),
    doc_updated_at: z.optional(z.unknown()),
    doc_created_at: z.optional(z.unknown()),
    primary_owners: owners,
    secondary_owners: owners,
    file_id: optionalText,
    chunk_count: z.optional(z.nullable(laxInteger)),
    doc_metadata: z.optional(z.nullable(anyObject)),
    parent_hierarchy_raw_node_id: optionalText,
    parent_hierarchy_node_id: z.optional(z.nullable(laxInteger)),
    from_ingestion_api: z.optional(laxBoolean),
  }),
});

const missing = (loc: Issue["loc"], input: unknown): Issue => ({
  type: "missing",
  loc,
  msg: "Field required",
  input,
});
const stringType = (loc: Issue["loc"], input: unknown): Issue => ({
  type: "string_type",
  loc,
  msg: "Input should be a valid string",
  input,
});

const sectionTypes: readonly unknown[] = ["text", "image", "tabular"];

function sectionIssues(section: Record<string, unknown>, loc: Issue["loc"]): Issue[] {
  const own = (name: string): boolean => Object.hasOwn(section, name);
  const issues: Issue[] = [];
  const { link, type } = section;
  for (const member of ["link", "heading"]) {
    const value = section[member];
    if (own(member) && value !== null && typeof value !== "string") {
      issues.push(stringType([...loc, member], value));
    }
  }
  if (own("type") && !sectionTypes.includes(type)) {
    const msg = "Input should be 'text', 'image' or 'tabular'";
    issues.push({ type: "enum", loc: [...loc, "type"], msg, input: type });
  }
  const kinds = [
    ["TextSection", "text"],
    ["ImageSection", "image_file_id"],
    ["TabularSection", "csv_file_id"],
  ] as const;
  const kind = kinds.find(([, member]) => own(member));
  if (!kind) {
    return [...issues, ...kinds.map(([name, member]) => missing([...loc, name, member], section))];
  }
  const [name, member] = kind;
  if (typeof section[member] !== "string") {
    issues.push(stringType([...loc, name, member], section[member]));
  }
  if (member === "csv_file_id" && typeof link !== "string") {
    issues.push(missing([...loc, name, "link"], section));
  }
  return issues;
}

function timeIssues(document: Record<string, unknown>): Issue[] {
  return ["doc_updated_at", "doc_created_at"].flatMap((name) => {
    const value = document[name];
    if (value === undefined || value === null || parseTimestamp(value)) return [];
    return [
      {
        type: "datetime_from_date_parsing",
        loc: ["body", "document", name],
        msg: "Input should be a valid datetime or date, invalid character in year",
        input: value,
      },
    ];
  });
}

type Body = z.infer<typeof Body>;

function documentIssues({ document }: Body, dialect: DialectName): Issue[] {
  const loc = ["body", "document"];
  const issues = timeIssues(document);
  for (const [index, section] of document.sections.entries()) {
    issues.push(...sectionIssues(section, [...loc, "sections", index]));
  }
  const { source, metadata, sections } = document;
  if (!Object.hasOwn(document, "metadata")) issues.push(missing([...loc, "metadata"], document));
  if (dialect === "onyx") {
    if (typeof source === "string" && !sourceNames.has(source)) {
      const names = [...sourceNames].map((name) => `'${name}'`).join(", ");
      const msg = `Input should be ${names}`;
      issues.push({ type: "enum", loc: [...loc, "source"], msg, input: source });
    }
    return issues;
  }
  if (typeof source !== "string" || source === "")
    issues.push(missing([...loc, "source"], document));
  if (sections.length === 0) {
    const msg = "List should have at least 1 item after validation, not 0";
    issues.push({ type: "too_short", loc: [...loc, "sections"], msg, input: sections });
  }
  if (Object.hasOwn(document, "metadata") && !anyObject.safeParse(metadata).success) {
    const msg = "Input should be a valid dictionary";
    issues.push({ type: "dict_type", loc: [...loc, "metadata"], msg, input: metadata });
  }
  return issues;
}

/** Removes NUL as the service does: it ends a text in some databases. */
const clean = (value: string): string => value.replaceAll("\0", "");

function toMetadata(value: unknown): Record<string, string | string[]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    // The same error message as the service's: observed-service.md 3.2.
    const type = value === null ? "NoneType" : Array.isArray(value) ? "list" : typeof value;
    throw new Refusal(detail(500, `'${type}' object has no attribute 'items'`));
  }
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => [
      clean(key),
      Array.isArray(item)
        ? item.map((each) => clean(pythonString(each)))
        : clean(pythonString(item)),
    ]),
  );
}

function toSection(section: Record<string, unknown>): Section {
  const link = typeof section["link"] === "string" ? { link: clean(section["link"]) } : {};
  // Text has priority over an image in the same section, unless `type` is `image`.
  if (typeof section["text"] === "string" && section["type"] !== "image") {
    return { text: clean(section["text"]), ...link };
  }
  if (typeof section["image_file_id"] === "string") {
    return { image_file_id: section["image_file_id"], ...link };
  }
  return { text: "", ...link };
}

export interface ParsedIngestion {
  document: IngestionDocument;
  /** 0, null and absent mean the hidden default pair 1. */
  pair: number;
  updatedAt: Timestamp;
  /** The unchanged body, for the ledger. */
  request: IngestionRequest;
}

/**
 * Validates the body of an ingestion as strictly as the service, with the same coercions.
 * Throws a Refusal: 422 with the issues, or the service's own 500.
 */
export function parseIngestion(body: unknown, dialect: DialectName, now: number): ParsedIngestion {
  const result = z.safeParse(Body, body);
  if (!result.success) throw refuseBody(issuesOf(result.error, body));
  const { document, cc_pair_id } = result.data;
  const issues = documentIssues(result.data, dialect);
  if (issues.length > 0) throw refuseBody(issues);
  const { id, title, primary_owners, secondary_owners } = document;
  return {
    pair: cc_pair_id || 1,
    updatedAt: parseTimestamp(document.doc_updated_at) ?? { ms: now, naive: false },
    request: body as IngestionRequest,
    document: {
      id: id ?? "",
      semantic_identifier: clean(document.semantic_identifier),
      ...(typeof title === "string" ? { title: clean(title) } : {}),
      sections: document.sections.map(toSection),
      source: document.source ?? "ingestion_api",
      metadata: toMetadata(document.metadata),
      ...(primary_owners ? { primary_owners: primary_owners as never } : {}),
      ...(secondary_owners ? { secondary_owners: secondary_owners as never } : {}),
    },
  };
}
