import { createHash } from "node:crypto";
import type { PairRecord } from "../../api/schemas.ts";
import type { Call } from "../http/call.ts";
import type { DocumentStore } from "../store/documents.ts";
import { zuluTime } from "../store/identity.ts";
import { sentencesOf } from "../store/passages.ts";
import { json, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import type { Hit } from "../store/search.ts";

export interface PageOptions {
  pairs: readonly PairRecord[];
  documents: DocumentStore;
  search: (question: string) => Hit[];
  /** Whether the server listens on loopback only. */
  loopback: boolean;
}

const shownDocuments = 100;

const style = `
body { font: 16px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1c1f23; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; }
p.note { color: #5a6270; margin-top: .25rem; }
table { border-collapse: collapse; width: 100%; } td, th { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid #e3e6ea; vertical-align: top; overflow-wrap: anywhere; }
th { font-weight: 600; color: #5a6270; } form { display: flex; gap: .5rem; margin: 1.25rem 0; }
input { flex: 1; font: inherit; padding: .5rem .75rem; border: 1px solid #b6bdc7; border-radius: 6px; color: inherit; background: inherit; } button { font: inherit; padding: .5rem 1rem; border: 0; border-radius: 6px; background: #2456c5; color: #fff; }
li { margin-bottom: .75rem; } .hit { color: #5a6270; display: block; }
@media (prefers-color-scheme: dark) { body { background: #16181c; color: #e6e8eb; } td, th { border-color: #30343b; } th, p.note, .hit { color: #9aa3b0; } a { color: #8ab0ff; } }
`;

const headers = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${createHash("sha256")
    .update(style)
    .digest("base64")}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`,
  "cross-origin-resource-policy": "same-origin",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cache-control": "no-store",
};

const entities: Record<string, string> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes text for HTML. Also removes control and direction characters, which this page never needs. */
export function escapeHtml(text: string): string {
  return text
    .replace(/[^\P{Cc}\n\t]|[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu, "")
    .replace(/[&<>"']/g, (character) => entities[character]!);
}

/** Only http and https URLs become links: `javascript:` and other schemes stay text. */
function linkTo(text: string, link: string | null): string {
  if (link === null || !/^https?:\/\//i.test(link)) return escapeHtml(text);
  return `<a href="${escapeHtml(link)}" rel="noreferrer noopener">${escapeHtml(text)}</a>`;
}

function row(cells: readonly string[], tag = "td"): string {
  return `<tr>${cells.map((cell) => `<${tag}>${cell}</${tag}>`).join("")}</tr>`;
}

function table(names: readonly string[], rows: readonly string[][]): string {
  return `<table>${row(names, "th")}${rows.map((cells) => row(cells)).join("")}</table>`;
}

function excerptOf(hit: Hit): string {
  const text = sentencesOf(hit).join(" ") || hit.text.replace(/\s+/g, " ");
  return text.length > 300 ? `${text.slice(0, 299).trimEnd()}…` : text;
}

function resultsOf(question: string, hits: readonly Hit[]): string {
  if (question.trim() === "") return "";
  // A heading without text below matches its document, but has no text to show.
  const withText = hits.filter(({ text }) => !/^#{1,6} [^\n]*$/.test(text));
  const items = (withText.length > 0 ? withText : hits).map((hit) => {
    const { document, link, heading } = hit;
    const place = heading === "" || heading === document.name ? "" : ` · ${escapeHtml(heading)}`;
    const title = linkTo(document.name, link ?? document.link);
    return `<li>${title}${place}<span class="hit">${escapeHtml(excerptOf(hit))}</span></li>`;
  });
  const list = items.length > 0 ? `<ol>${items.join("")}</ol>` : "<p>Nothing matches.</p>";
  return `<h2>Results</h2>${list}`;
}

function pageOf({ pairs, documents, search }: PageOptions, question: string): string {
  const { documents: total, waiting } = documents.count();
  const newest = documents.list({ newestFirst: true, limit: shownDocuments });
  const hits = question.trim() === "" ? [] : search(question).slice(0, 10);
  const connectors = pairs.map((pair) => [
    String(pair.cc_pair_id),
    escapeHtml(pair.name ?? "(no name)"),
    escapeHtml(pair.connector.source),
    escapeHtml(pair.access_type ?? ""),
  ]);
  const rows = newest.map((document) => [
    linkTo(document.name, document.link),
    `<code>${escapeHtml(document.id)}</code>`,
    document.pairs.join(", "),
    zuluTime(document.updatedAt),
    document.indexed ? "yes" : "waiting",
  ]);
  const count = total > rows.length ? `the newest ${rows.length} of ${total}` : String(total);
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>knowctl sandbox</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><style>${style}</style></head>
<body><h1>knowctl sandbox</h1><p class="note">A local service for trials. ${total} documents, ${waiting} waiting to be indexed.</p>
<form action="/"><input name="q" value="${escapeHtml(question)}" placeholder="Search the documents" aria-label="Search the documents" autofocus><button>Search</button></form>
${resultsOf(question, hits)}
<h2>Connectors</h2>${table(["cc_pair_id", "name", "source", "access"], connectors)}
<h2>Documents (${count})</h2>${rows.length > 0 ? table(["title", "id", "pairs", "updated", "indexed"], rows) : "<p>None yet: <code>knowctl ingest FOLDER --cc-pair-id 2</code> uploads some.</p>"}
</body></html>
`;
}

function searchReply({ search }: PageOptions, question: string): Reply {
  const results = search(question)
    .slice(0, 20)
    .map(({ document, link, text, score }) => ({
      document_id: document.id,
      semantic_identifier: document.name,
      link: link ?? document.link,
      text,
      score,
    }));
  return json(200, { query: question, results }, { "cross-origin-resource-policy": "same-origin" });
}

/** The page at `/` and its search. They need no key, so they exist on loopback only. */
export function pageRoutes(options: PageOptions): Route[] {
  if (!options.loopback) return [];
  const questionOf = (call: Call): string => (call.query.get("q") ?? "").slice(0, 1_000);
  const open = { method: "GET", open: true } as const;
  return [
    {
      ...open,
      path: "/",
      handle: (call) => ({ status: 200, headers, body: pageOf(options, questionOf(call)) }),
    },
    { ...open, path: "/search", handle: (call) => searchReply(options, questionOf(call)) },
  ];
}
