import * as z from "zod/mini";
import type { App, Call } from "../http/call.ts";
import type { FaultRates } from "../http/faults.ts";
import { bodyOf, detail, laxInteger, queryOf } from "../http/validation.ts";
import { publicKey } from "../options.ts";
import type { Service } from "../service.ts";
import { type StoredDocument, zuluTime } from "../store/documents.ts";
import { sentencesOf } from "../store/index/passages.ts";
import { type Hit, questionTerms, searchPassages } from "../store/index/search.ts";

const fileHeaders = {
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

/**
 * Allows the page's own files and requests to this origin, and nothing else. `'self'` would allow
 * a script from any path; text never becomes HTML (Trusted Types without a policy).
 */
function policyOf(host: string): string {
  // A policy cannot name an IPv6 address.
  const files = host.startsWith("[") ? "'self'" : `http://${host}/page/`;
  return [
    "default-src 'none'",
    `script-src ${files}`,
    `style-src ${files}`,
    `img-src ${files}`,
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; ");
}

// The files are loaded on demand: most sandboxes never show their page.
async function showPage({ key }: Service, c: Call): Promise<Response> {
  const { html } = await import("../page/assets.ts");
  // Only the public key is written into the page. Any other key is typed in.
  const own = `name="sandbox-key" content="${key === publicKey ? publicKey : ""}"`;
  return c.body(html.replace('name="sandbox-key" content=""', own), 200, {
    ...fileHeaders,
    "content-type": "text/html; charset=utf-8",
    // The guard has checked the host.
    "content-security-policy": policyOf(c.env.incoming.headers.host ?? ""),
  });
}

async function sendFile(c: Call): Promise<Response> {
  const { files } = await import("../page/assets.ts");
  const file = files.get(c.req.param("name") ?? "");
  if (!file) throw detail(404, "404: Not Found");
  return c.body(file.body, 200, { ...fileHeaders, "content-type": file.type });
}

const longestExcerpt = 300;

const share = z.number().check(z.gte(0), z.lte(1));
const FaultBody = z.strictObject({
  latency_ms: z._default(z.number().check(z.gte(0), z.lte(60_000)), 0),
  statuses: z._default(z.record(z.string().check(z.regex(/^[45]\d\d$/)), share), {}),
  cut: z._default(share, 0),
  reset: z._default(share, 0),
  html: z._default(share, 0),
  hang: z._default(share, 0),
});

/** The rates as JSON: every member, 0 for a fault that is off. */
function toFaults({ latencyMs = 0, statuses = {}, ...rates }: FaultRates = {}) {
  const { cut = 0, reset = 0, html = 0, hang = 0 } = rates;
  return { latency_ms: latencyMs, statuses, cut, reset, html, hang };
}

function setFaults({ faults }: Service, c: Call): Response {
  const { latency_ms: latencyMs, ...rates } = bodyOf(c, FaultBody);
  faults.rates = { latencyMs, ...rates };
  return c.json(toFaults(faults.rates));
}

/** The source of answers in a few words. */
function describeAnswers({ play, model }: Service): string {
  if (play) return "answers are recordings";
  return model ? `answers by ${model.model}` : "answers quote the documents";
}

function nameOf({ pairs }: Service, id: number): string {
  const pair = pairs.records.find((each) => each.cc_pair_id === id);
  if (!pair) return id === 1 ? "Default connector" : `Connector ${id}`;
  return pair.name ?? pair.connector.name ?? `Connector ${id}`;
}

function state(service: Service, c: Call): Response {
  const { dialect, pairs, documents, faults } = service;
  const stored = documents.countByPair();
  const connectors = pairs.records.map((pair) => {
    const found = stored.get(pair.cc_pair_id);
    return {
      cc_pair_id: pair.cc_pair_id,
      name: nameOf(service, pair.cc_pair_id),
      source: pair.connector.source,
      access_type: pair.access_type ?? null,
      documents: found?.documents ?? 0,
      waiting: found?.waiting ?? 0,
      received_at: found ? zuluTime(found.receivedAt) : null,
    };
  });
  const { documents: total, waiting } = documents.count();
  return c.json({
    dialect,
    answers: describeAnswers(service),
    documents: { total, waiting },
    changes: documents.changes(),
    connectors,
    faults: toFaults(faults.rates),
  });
}

function toListed(service: Service, document: StoredDocument) {
  return {
    id: document.id,
    name: document.name,
    source: document.source,
    link: document.link,
    pairs: document.pairs.map((id) => ({ cc_pair_id: id, name: nameOf(service, id) })),
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
function matching(service: Service, query: string, pair: number | undefined) {
  const filters = pair === undefined ? {} : { pairs: [pair] };
  const best = new Map<string, Hit>();
  for (const hit of searchPassages(service.database, questionTerms(query), filters, 200)) {
    const known = best.get(hit.document.id);
    // A heading without text below matches its document, but has no text to show.
    const isBare = known !== undefined && /^#{1,6} [^\n]*$/.test(known.text);
    if (known === undefined || isBare) best.set(hit.document.id, hit);
  }
  return [...best].flatMap(([id, hit]) => {
    const document = service.documents.find(id);
    const heading = hit.heading === hit.document.name ? "" : hit.heading;
    return document ? { ...toListed(service, document), heading, excerpt: excerptOf(hit) } : [];
  });
}

const Listing = z.object({
  q: z._default(z.string(), ""),
  pair: z.optional(laxInteger),
  limit: z._default(laxInteger.check(z.gte(1), z.lte(1_000)), 20),
});

function list(service: Service, c: Call): Response {
  const { documents } = service;
  const { q, pair, limit } = queryOf(c, Listing);
  const query = q.slice(0, 1_000).trim();
  if (query !== "") {
    const found = matching(service, query, pair);
    return c.json({ total: found.length, documents: found.slice(0, limit) });
  }
  const total =
    pair === undefined ? documents.count().documents : documents.countByPair().get(pair)?.documents;
  const newest = documents.list({ newestFirst: true, limit, pair });
  return c.json({ total: total ?? 0, documents: newest.map((each) => toListed(service, each)) });
}

function show(service: Service, c: Call): Response {
  const found = service.documents.find(c.req.query("id") ?? "");
  if (!found) throw detail(404, "Document not found");
  const { sections, metadata, owners } = found;
  return c.json({ ...toListed(service, found), metadata, owners, sections });
}

/**
 * The page at `/`, whose files need no key and contain nothing of the sandbox, and its own endpoints
 * next to the service's interface, which need one. No fault touches them, so that faults can be
 * switched off again.
 */
export function pageRoutes(app: App, service: Service): void {
  app.get("/", (c) => showPage(service, c));
  app.get("/page/:name", sendFile);
  app.get("/sandbox/state", (c) => state(service, c));
  app.get("/sandbox/documents", (c) => list(service, c));
  app.get("/sandbox/document", (c) => show(service, c));
  app.put("/sandbox/faults", (c) => setFaults(service, c));
}
