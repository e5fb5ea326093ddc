import * as z from "zod/mini";
import type { IngestionDocument, IngestionRequest, Section } from "../../api/schemas.ts";
import type { App, Call } from "../http/call.ts";
import {
  pythonString,
  detail,
  laxBoolean,
  laxInteger,
  laxTime,
  maybe,
  bodyOf,
  pathInteger,
  problem,
  sourceName,
} from "../http/validation.ts";
import type { Service } from "../service.ts";
import { foreignPrivatePair } from "../store/access.ts";
import type { StoredDocument } from "../store/documents.ts";

const text = z.string();
const optionalText = maybe(text);
const anyObject = z.record(text, z.unknown());

const Owner = z.looseObject({
  display_name: optionalText,
  first_name: optionalText,
  middle_initial: optionalText,
  last_name: optionalText,
  email: optionalText,
});

const contents = ["text", "image_file_id", "csv_file_id"] as const;

/** The first of the three members decides what a section is; a table needs a link as well. */
const SectionBody = z
  .looseObject({
    link: optionalText,
    heading: optionalText,
    type: z.optional(z.enum(["text", "image", "tabular"])),
  })
  .check(
    z.refine(
      (section) => {
        const kind = contents.find((member) => Object.hasOwn(section, member));
        if (kind === undefined || typeof section[kind] !== "string") return false;
        return kind !== "csv_file_id" || typeof section.link === "string";
      },
      { error: "Needs a text, an image_file_id, or a csv_file_id with a link" },
    ),
  );

// observed-service.md 3.1
const members = {
  id: optionalText,
  semantic_identifier: text,
  title: optionalText,
  sections: z.array(SectionBody),
  doc_updated_at: maybe(laxTime),
  doc_created_at: maybe(laxTime),
  primary_owners: maybe(z.array(Owner)),
  secondary_owners: maybe(z.array(Owner)),
  file_id: optionalText,
  chunk_count: maybe(laxInteger),
  doc_metadata: maybe(anyObject),
  parent_hierarchy_raw_node_id: optionalText,
  parent_hierarchy_node_id: maybe(laxInteger),
  from_ingestion_api: z.optional(laxBoolean),
};
const Body = {
  standard: z.looseObject({
    cc_pair_id: maybe(laxInteger),
    document: z.looseObject({
      ...members,
      sections: members.sections.check(z.minLength(1)),
      source: text.check(z.minLength(1)),
      metadata: anyObject,
    }),
  }),
  onyx: z.looseObject({
    cc_pair_id: maybe(laxInteger),
    document: z.looseObject({
      ...members,
      source: maybe(sourceName),
      metadata: z.custom((value) => value !== undefined),
    }),
  }),
};

/** Removes NUL as the service does: it ends a text in some databases. */
const clean = (value: string): string => value.replaceAll("\0", "");

function toMetadata(value: unknown): Record<string, string | string[]> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    // The same error message as the service's: observed-service.md 3.2.
    const type = value === null ? "NoneType" : Array.isArray(value) ? "list" : typeof value;
    throw detail(500, `'${type}' object has no attribute 'items'`);
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

function toSection(section: z.infer<typeof SectionBody>): Section {
  const link = typeof section.link === "string" ? { link: clean(section.link) } : {};
  // Text has priority over an image in the same section, unless `type` is `image`.
  if (typeof section["text"] === "string" && section.type !== "image") {
    return { text: clean(section["text"]), ...link };
  }
  if (typeof section["image_file_id"] === "string") {
    return { image_file_id: section["image_file_id"], ...link };
  }
  return { text: "", ...link };
}

function toDocument(sent: z.infer<typeof Body.onyx>["document"]): IngestionDocument {
  const { id, title, primary_owners, secondary_owners } = sent;
  return {
    id: id ?? "",
    semantic_identifier: clean(sent.semantic_identifier),
    ...(typeof title === "string" ? { title: clean(title) } : {}),
    sections: sent.sections.map(toSection),
    source: sent.source ?? "ingestion_api",
    metadata: toMetadata(sent.metadata),
    ...(primary_owners ? { primary_owners: primary_owners as never } : {}),
    ...(secondary_owners ? { secondary_owners: secondary_owners as never } : {}),
  };
}

/** Throws the refusal of a pair, a document id or an image that the service does not take. */
function checkTarget(
  { dialect, pairs, files }: Service,
  pair: number,
  document: IngestionDocument,
) {
  if (pair !== 1 && !pairs.ids.has(pair)) {
    throw problem(
      dialect,
      404,
      "CONNECTOR_NOT_FOUND",
      `Connector-credential pair ${pair} not found`,
    );
  }
  if (dialect === "onyx") {
    // observed-service.md 3.3
    if (document.id === "" || !files.find(document.id)) return;
    throw problem(dialect, 400, "VALIDATION_ERROR", "This document id is reserved for a user file");
  }
  for (const { image_file_id } of document.sections) {
    if (image_file_id === undefined || files.hasImage(image_file_id)) continue;
    throw detail(400, `image_file_id ${image_file_id} is unknown: upload the image first`);
  }
}

async function ingest(service: Service, c: Call): Promise<Response> {
  const { dialect, documents, commits, indexer, ledger, clock, pairs } = service;
  const receivedAt = clock.now();
  const body = bodyOf(c, Body[dialect]) as z.infer<typeof Body.onyx>;
  const document = toDocument(body.document);
  // 0, null and absent mean the hidden default pair 1.
  const pair = body.cc_pair_id || 1;
  checkTarget(service, pair, document);
  const stored = await commits.submit(() =>
    documents.store({
      document,
      pair,
      updatedAt: body.document.doc_updated_at ?? { ms: receivedAt, naive: false },
      skipUnchanged: dialect === "onyx",
      receivedAt,
      fault: c.env.plan.index,
      privatePair: foreignPrivatePair(pairs.records),
    }),
  );
  ledger.accepted(c.env.json() as IngestionRequest, c.env.entry);
  if (stored.changed) indexer.notify();
  return c.json({ document_id: stored.id, already_existed: stored.alreadyExisted });
}

const toListed = (all: readonly StoredDocument[]) =>
  all
    .filter(({ unlisted }) => !unlisted)
    .map(({ id, name, link }) => ({ document_id: id, semantic_id: name, link }));

async function remove({ dialect, documents, commits }: Service, c: Call): Promise<Response> {
  const id = c.req.param("id") ?? "";
  if (await commits.submit(() => documents.remove(id))) return c.json(null);
  throw problem(dialect, 404, "DOCUMENT_NOT_FOUND", `Document ${id} not found`);
}

function ofPair({ dialect, documents, pairs }: Service, c: Call): Response {
  const pair = pathInteger(c, "pair");
  if (pair === 1 || pairs.ids.has(pair)) return c.json(toListed(documents.list({ pair })));
  // Unknown ids are 403 here: observed-service.md 6.4.
  throw problem(dialect, 403, "INSUFFICIENT_PERMISSIONS", "Connector-credential pair not found");
}

/** Ingestion of both dialects, and the related endpoints of `onyx`: observed-service.md 3. */
export function ingestionRoutes(app: App, service: Service): void {
  if (service.dialect === "standard") {
    app.post("/api/svc-api/ingestion", (c) => ingest(service, c));
    return;
  }
  app.post("/api/onyx-api/ingestion", (c) => ingest(service, c));
  app.get("/api/onyx-api/ingestion", (c) => c.json(toListed(service.documents.list({}))));
  app.delete("/api/onyx-api/ingestion/:id", (c) => remove(service, c));
  app.get("/api/onyx-api/connector-docs/:pair", (c) => ofPair(service, c));
}
