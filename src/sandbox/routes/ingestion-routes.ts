import type { Call } from "../http/call.ts";
import type { Clock } from "../clock.ts";
import type { Commits } from "../store/index/commits.ts";
import type { DocumentStore, StoredDocument } from "../store/documents.ts";
import type { Files } from "../store/files.ts";
import type { Indexer } from "../store/index/indexer.ts";
import { type ParsedIngestion, parseIngestion } from "./ingestion.ts";
import type { LedgerWriter } from "../store/ledger.ts";
import { detail, type DialectName, json, problem, Refusal, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";

export interface IngestionOptions {
  dialect: DialectName;
  documents: DocumentStore;
  commits: Commits;
  indexer: Indexer;
  files: Files;
  ledger: LedgerWriter;
  clock: Clock;
  /** Ids of the listed pairs. */
  pairs: ReadonlySet<number>;
  /** The pair to which the fault `private` moves a document. */
  privatePair: number;
}

function checkTarget(options: IngestionOptions, { pair, document }: ParsedIngestion): void {
  const { dialect, pairs, files } = options;
  if (pair !== 1 && !pairs.has(pair)) {
    throw new Refusal(
      problem(dialect, 404, "CONNECTOR_NOT_FOUND", `Connector-credential pair ${pair} not found`),
    );
  }
  if (dialect === "onyx") {
    // observed-service.md 3.3
    if (document.id === "" || !files.find(document.id)) return;
    throw new Refusal(
      problem(dialect, 400, "VALIDATION_ERROR", "This document id is reserved for a user file"),
    );
  }
  for (const { image_file_id } of document.sections) {
    if (image_file_id === undefined || files.hasImage(image_file_id)) continue;
    const text = `image_file_id ${image_file_id} is unknown: upload the image first`;
    throw new Refusal(detail(400, text));
  }
}

async function ingest(options: IngestionOptions, call: Call): Promise<Reply> {
  const { dialect, documents, commits, indexer, ledger, clock } = options;
  const body = call.json();
  const receivedAt = clock.now();
  const parsed = parseIngestion(body, dialect, receivedAt);
  checkTarget(options, parsed);
  const { document, pair, updatedAt, request } = parsed;
  const skipUnchanged = dialect === "onyx";
  const stored = await commits.submit(() =>
    documents.store({
      document,
      pair,
      updatedAt,
      skipUnchanged,
      receivedAt,
      fault: call.indexFault,
      privatePair: options.privatePair,
    }),
  );
  ledger.accepted(request, call.entry);
  if (stored.changed) indexer.notify();
  return json(200, { document_id: stored.id, already_existed: stored.alreadyExisted });
}

const isListed = ({ unlisted }: StoredDocument): boolean => !unlisted;

function toListed({ id, name, link }: StoredDocument) {
  return { document_id: id, semantic_id: name, link };
}

async function remove(
  { dialect, documents, commits }: IngestionOptions,
  call: Call,
): Promise<Reply> {
  const id = call.parameters["id"]!;
  const known = await commits.submit(() => documents.remove(id));
  return known
    ? json(200, null)
    : problem(dialect, 404, "DOCUMENT_NOT_FOUND", `Document ${id} not found`);
}

function ofPair({ dialect, documents, pairs }: IngestionOptions, call: Call): Reply {
  const pair = Number(call.parameters["pair"]);
  if (pair !== 1 && !pairs.has(pair)) {
    // Unknown ids are 403 here: observed-service.md 6.4.
    return problem(dialect, 403, "INSUFFICIENT_PERMISSIONS", "Connector-credential pair not found");
  }
  return json(200, documents.list({ pair }).filter(isListed).map(toListed));
}

/** Ingestion of both dialects, and the related endpoints of `onyx`: observed-service.md 3. */
export function ingestionRoutes(options: IngestionOptions): Route[] {
  const bodyLimit = 32 * 1024 * 1024;
  const post = { method: "POST", bodyLimit, handle: (call: Call) => ingest(options, call) };
  const onyx = { dialect: "onyx" } as const;
  return [
    { ...post, path: "/api/svc-api/ingestion", dialect: "standard" },
    { ...post, ...onyx, path: "/api/onyx-api/ingestion" },
    {
      ...onyx,
      method: "GET",
      path: "/api/onyx-api/ingestion",
      handle: () => json(200, options.documents.list({}).filter(isListed).map(toListed)),
    },
    {
      ...onyx,
      method: "DELETE",
      path: "/api/onyx-api/ingestion/:id",
      handle: (call) => remove(options, call),
    },
    {
      ...onyx,
      method: "GET",
      path: "/api/onyx-api/connector-docs/:pair",
      handle: (call) => ofPair(options, call),
    },
  ];
}
