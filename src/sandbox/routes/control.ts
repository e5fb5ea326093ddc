import * as z from "zod/mini";
import type { PairRecord } from "../../api/schemas.ts";
import type { Call } from "../http/call.ts";
import type { FaultRates, FaultSpec } from "../http/faults.ts";
import { detail, type DialectName, json, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import { parseBody } from "../http/validation.ts";
import type { DocumentStore, StoredDocument } from "../store/documents.ts";
import { zuluTime } from "../store/identity.ts";
import { sentencesOf } from "../store/index/passages.ts";
import type { Filters, Hit } from "../store/index/search.ts";

export interface ControlOptions {
  dialect: DialectName;
  /** The source of answers, in a few words. */
  answers: string;
  pairs: readonly PairRecord[];
  documents: DocumentStore;
  search: (question: string, filters: Filters) => Hit[];
  /** The faults of all later requests; changed in place. */
  faults: FaultSpec;
}

const longestExcerpt = 300;

const share = z.optional(z.number().check(z.gte(0), z.lte(1)));
const FaultBody = z.strictObject({
  latency_ms: z.optional(z.number().check(z.gte(0), z.lte(60_000))),
  statuses: z.optional(
    z.record(z.string().check(z.regex(/^[45]\d\d$/)), z.number().check(z.gte(0), z.lte(1))),
  ),
  cut: share,
  reset: share,
  html: share,
  hang: share,
});

/** The rates as JSON: every member, 0 for a fault that is off. */
function toFaults({ latencyMs = 0, statuses = {}, ...rates }: FaultRates = {}) {
  const { cut = 0, reset = 0, html = 0, hang = 0 } = rates;
  return { latency_ms: latencyMs, statuses, cut, reset, html, hang };
}

function setFaults({ faults }: ControlOptions, call: Call): Reply {
  const { latency_ms, statuses, ...rates } = parseBody(FaultBody, call.json());
  const given = Object.entries(rates).filter(([, rate]) => rate !== undefined);
  faults.rates = {
    ...(Object.fromEntries(given) as FaultRates),
    latencyMs: latency_ms ?? 0,
    statuses: statuses ?? {},
  };
  return json(200, toFaults(faults.rates));
}

function nameOf(pairs: readonly PairRecord[], id: number): string {
  const pair = pairs.find((each) => each.cc_pair_id === id);
  if (!pair) return id === 1 ? "Default connector" : `Connector ${id}`;
  return pair.name ?? pair.connector.name ?? `Connector ${id}`;
}

function state({ dialect, answers, pairs, documents, faults }: ControlOptions): Reply {
  const stored = documents.countByPair();
  const connectors = pairs.map((pair) => {
    const found = stored.get(pair.cc_pair_id);
    return {
      cc_pair_id: pair.cc_pair_id,
      name: nameOf(pairs, pair.cc_pair_id),
      source: pair.connector.source,
      access_type: pair.access_type ?? null,
      documents: found?.documents ?? 0,
      waiting: found?.waiting ?? 0,
      received_at: found ? zuluTime(found.receivedAt) : null,
    };
  });
  const { documents: total, waiting } = documents.count();
  return json(200, {
    dialect,
    answers,
    documents: { total, waiting },
    changes: documents.changes(),
    connectors,
    faults: toFaults(faults.rates),
  });
}

function toListed({ pairs }: ControlOptions, document: StoredDocument) {
  return {
    id: document.id,
    name: document.name,
    source: document.source,
    link: document.link,
    pairs: document.pairs.map((id) => ({ cc_pair_id: id, name: nameOf(pairs, id) })),
    updated_at: zuluTime(document.updatedAt),
    received_at: zuluTime(document.receivedAt),
    is_indexed: document.indexed,
  };
}

function excerptOf(hit: Hit): string {
  const text = sentencesOf(hit).join(" ") || hit.text.replace(/\s+/g, " ");
  return text.length > longestExcerpt ? `${text.slice(0, longestExcerpt - 1).trimEnd()}…` : text;
}

/** Documents that match, best first, each with the passage that matches best. */
function matching(options: ControlOptions, query: string, pair: number | undefined) {
  const hits = options.search(query, pair === undefined ? {} : { pairs: [pair] });
  const best = new Map<string, Hit>();
  for (const hit of hits) {
    const known = best.get(hit.document.id);
    // A heading without text below matches its document, but has no text to show.
    const isBare = known !== undefined && /^#{1,6} [^\n]*$/.test(known.text);
    if (known === undefined || isBare) best.set(hit.document.id, hit);
  }
  return [...best].flatMap(([id, hit]) => {
    const document = options.documents.find(id);
    const heading = hit.heading === hit.document.name ? "" : hit.heading;
    return document ? { ...toListed(options, document), heading, excerpt: excerptOf(hit) } : [];
  });
}

function numberIn(call: Call, name: string): number | undefined {
  const text = call.query.get(name) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : undefined;
}

function list(options: ControlOptions, call: Call): Reply {
  const { documents } = options;
  const query = (call.query.get("q") ?? "").slice(0, 1_000).trim();
  const pair = numberIn(call, "pair");
  const limit = Math.min(numberIn(call, "limit") ?? 20, 1_000);
  if (query !== "") {
    const found = matching(options, query, pair);
    return json(200, { total: found.length, documents: found.slice(0, limit) });
  }
  const total =
    pair === undefined ? documents.count().documents : documents.countByPair().get(pair)?.documents;
  const newest = documents.list({
    newestFirst: true,
    limit,
    ...(pair === undefined ? {} : { pair }),
  });
  return json(200, {
    total: total ?? 0,
    documents: newest.map((each) => toListed(options, each)),
  });
}

function show(options: ControlOptions, call: Call): Reply {
  const found = options.documents.find(call.query.get("id") ?? "");
  if (!found) return detail(404, "Document not found");
  const { sections, metadata, owners } = found;
  return json(200, { ...toListed(options, found), metadata, owners, sections });
}

/**
 * The endpoints of the page, next to the service's interface. They need the key. No fault touches
 * them, so that faults can be switched off again.
 */
export function controlRoutes(options: ControlOptions): Route[] {
  const get = { method: "GET" } as const;
  return [
    { ...get, path: "/sandbox/state", handle: () => state(options) },
    { ...get, path: "/sandbox/documents", handle: (call) => list(options, call) },
    { ...get, path: "/sandbox/document", handle: (call) => show(options, call) },
    {
      method: "PUT",
      path: "/sandbox/faults",
      bodyLimit: 16 * 1024,
      handle: (call) => setFaults(options, call),
    },
  ];
}
