import * as z from "zod/mini";
import { CliError } from "../../errors.ts";
import type { Size } from "../../documents/payload/payload.ts";
import { sizeText } from "../../output/ingest.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { readDocument } from "./read-document.ts";
import { fitting, parseJson, tidy } from "./results.ts";
import type { LineResult } from "./run-line.ts";
import { allFiles, checkExit, selection, type Allowance, type Tool } from "./toolbox.ts";

const text = (description: string, most = 4000) =>
  z.string().check(z.minLength(1), z.maxLength(most), z.describe(description));
const list = (description: string) =>
  z.optional(z.array(text(description, 200)).check(z.maxLength(50), z.describe(description)));
const filters = {
  source_types: list("only documents of these source types"),
  document_sets: list("only documents of these document sets"),
  // "=" ends a key where the filter is written: the rest of it would be of the value.
  tags: z.optional(z.record(text("key", 200).check(z.regex(/^[^=]+$/)), text("value", 200))),
  since: z.optional(text("only newer documents: 7d, 12h, 2026-01-31", 40)),
};
type Filters = z.infer<z.ZodMiniObject<typeof filters>>;
const paths = list("files or folders below the project root; default: all that an upload finds");
const notes = z.array(z.string()).check(z.describe("what the command said beside its result"));
const leftOut = z.int().check(z.describe("items that did not fit into this result"));
const nullable = z.nullable(z.string());

function filterFlags({ source_types, document_sets, tags, since }: Filters): string[] {
  return [
    ...(source_types ?? []).map((each) => `--source-type=${each}`),
    ...(document_sets ?? []).map((each) => `--document-set=${each}`),
    ...Object.entries(tags ?? {}).map(([key, value]) => `--filter-tag=${key}=${value}`),
    ...(since === undefined ? [] : [`--since=${since}`]),
  ];
}

const shown = (line: unknown): string => (typeof line === "string" ? line : JSON.stringify(line));

function page(head: string, lines: readonly unknown[], more: number): string {
  const rest = more > 0 ? [`… and ${more} more`] : [];
  return [head, ...lines.map(shown), ...rest].join("\n");
}

/** The model calls that a refused command line asks to be allowed. */
const callsNeeded = ({ notes: lines }: LineResult): number =>
  Number(/--allow-tokens (\d+)$/m.exec(lines.join("\n"))?.[1] ?? 0);

/** Throws CliError `usage` where fewer calls are left. */
function spend(allowance: Allowance, calls: number, why: string): void {
  if (allowance.take(calls)) return;
  const needed = `it needs ${countOf(calls, "model call")}, and ${allowance.left()} are left`;
  const hints = ["a person may start the server with --allow-tokens N"];
  throw new CliError("usage", `${why}: ${needed}`, { hints });
}

const SearchInput = z.strictObject({
  query: text("words to search for"),
  limit: z.optional(z.int().check(z.minimum(1), z.maximum(50), z.describe("default: 10"))),
  ...filters,
});
const Hit = z.object({
  rank: z.int(),
  id: nullable,
  title: nullable,
  link: nullable,
  snippet: nullable,
  path: nullable,
  source: nullable,
  updatedAt: nullable,
  via: z.string(),
});
type Hit = z.infer<typeof Hit>;

const search: Tool = {
  name: "search",
  title: "Search the index",
  description:
    "Documents of the knowledge assistant that match a query, the best first, with the local file where it is known. A service without a free search needs model calls, which --allow-tokens of the server limits.",
  input: SearchInput,
  output: z.object({
    documents: z.array(Hit),
    left_out: leftOut,
    notes,
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  async call({ query, limit = 10, ...rest }: z.infer<typeof SearchInput>, { run, allowance }) {
    const line = ["search", "--output=json", `--limit=${limit}`, ...filterFlags(rest)];
    let result = await run([...line, "--", query]);
    const calls = result.exit === "usage" ? callsNeeded(result) : 0;
    if (calls > 0) {
      spend(allowance, calls, "this service has no free search");
      result = await run([...line, `--allow-tokens=${calls}`, "--", query]);
    }
    checkExit(result);
    const hits = parseJson<object[]>(result.text || "[]");
    const { items, leftOut: more } = fitting(hits.map((each) => tidy(Hit.parse(each)) as Hit));
    const lines = items.map(
      (each, at) =>
        `${at + 1}. ${each.title ?? ""} (${each.path ?? "no local file"}): ${each.snippet ?? ""}`,
    );
    const head = items.length === 0 ? "nothing found" : countOf(hits.length, "document");
    return {
      structured: { documents: items, left_out: more, notes: result.notes },
      text: page(head, lines, more),
    };
  },
};

const AskInput = z.strictObject({
  question: text("the question", 20_000),
  session_id: z.optional(text("session of an earlier answer, to go on with it", 100)),
  ...filters,
});
interface Reply {
  answer: string;
  citations: { number: number; title: string | null; link: string | null; file: string | null }[];
  sessionId: string | null;
}

const ask: Tool = {
  name: "ask",
  title: "Ask the assistant",
  description:
    "An answer of the knowledge assistant with its sources. Costs one model call, which --allow-tokens of the server limits.",
  input: AskInput,
  output: z.object({
    answer: z.string(),
    sources: z.array(
      z.object({ number: z.int(), title: nullable, link: nullable, path: nullable }),
    ),
    session_id: nullable,
    notes,
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  async call({ question, session_id, ...rest }: z.infer<typeof AskInput>, { run, allowance }) {
    spend(allowance, 1, "a question costs tokens");
    const session = session_id === undefined ? [] : [`--session=${session_id}`];
    const line = ["chat", "--output=json", ...session, ...filterFlags(rest), "--", question];
    const result = await run(line);
    // Nothing was asked.
    const unasked = ["usage", "not-configured", "auth", "not-found"];
    if (unasked.includes(result.exit)) allowance.giveBack(1);
    checkExit(result);
    const reply = parseJson<Reply>(result.text);
    const answer = tidy(reply.answer, 30_000) as string;
    const sources = reply.citations.map(({ number, title, link, file }) =>
      tidy({ number, title, link, path: file }),
    );
    const { items, leftOut: more } = fitting(sources, 8000);
    return {
      structured: { answer, sources: items, session_id: reply.sessionId, notes: result.notes },
      text: page(answer, items, more),
    };
  },
};

const ReadInput = z.strictObject({
  path: z.optional(text("file below the project root")),
  id: z.optional(text("id of a document, as search gives it")),
  offset: z.optional(z.int().check(z.minimum(0), z.describe("character to begin at; default 0"))),
});

const read: Tool = {
  name: "read_document",
  title: "Read a document",
  description:
    "The text of a document: from the folder if its file is there, as an upload would send it, else from the index.",
  input: ReadInput,
  output: z.object({
    from: z.enum(["folder", "index"]),
    path: nullable,
    id: nullable,
    title: nullable,
    text: z.string(),
    offset: z.int(),
    total_characters: z.nullable(z.int()),
    next_offset: z.nullable(z.int()),
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  call: (input: z.infer<typeof ReadInput>, box) => readDocument(input, box),
};

const ConnectorsInput = z.strictObject({
  name: z.optional(text("only connectors whose name contains this", 200)),
});
interface Connector {
  cc_pair_id: number;
  name: string | null;
  connector?: { source?: string | null };
  access_type?: string | null;
}

const connectors: Tool = {
  name: "connectors",
  title: "List connectors",
  description: "The connectors of the service with their cc_pair_id, source and who can read them.",
  input: ConnectorsInput,
  output: z.object({
    connectors: z.array(
      z.object({ cc_pair_id: z.int(), name: nullable, source: nullable, access_type: nullable }),
    ),
    left_out: leftOut,
    notes,
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  async call({ name }: z.infer<typeof ConnectorsInput>, { run }) {
    const result = await run(["connectors", "list", "--output=json"]);
    checkExit(result);
    const wanted = name?.toLowerCase() ?? "";
    const all = parseJson<Connector[]>(result.text)
      .filter((each) => (each.name ?? "").toLowerCase().includes(wanted))
      .map((each) => ({
        cc_pair_id: each.cc_pair_id,
        name: each.name,
        source: each.connector?.source ?? null,
        access_type: each.access_type ?? null,
      }));
    const { items, leftOut: more } = fitting(all.map((each) => tidy(each) as (typeof all)[number]));
    const lines = items.map(
      (each) => `${each.cc_pair_id}  ${each.name ?? ""}  ${each.source ?? ""}`,
    );
    return {
      structured: { connectors: items, left_out: more, notes: result.notes },
      text: page(countOf(all.length, "connector"), lines, more),
    };
  },
};

const CheckInput = z.strictObject({
  what: z
    .enum(["lint", "verify"])
    .check(
      z.describe(
        "lint: what makes the files bad to answer from; verify: whether uploads are indexed",
      ),
    ),
  paths,
});
interface Checked {
  status: string;
  summary: Record<string, unknown>;
  findings?: object[];
  documents?: object[];
}

const check: Tool = {
  name: "check",
  title: "Check documents",
  description: "Findings of lint in local files, or whether uploaded documents are in the index.",
  input: CheckInput,
  output: z.object({
    status: z.string(),
    summary: z.record(z.string(), z.unknown()),
    findings: z.array(z.record(z.string(), z.unknown())),
    left_out: leftOut,
    notes,
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  async call({ what, paths: given }: z.infer<typeof CheckInput>, box) {
    // Verify looks up what was uploaded; it reads no file that is not recorded.
    const chosen = selection(given);
    const target =
      what === "lint" ? [...chosen, ...(await allFiles(box))] : ["--", ...(given ?? [])];
    const result = await box.run([what, "--output=json", ...target]);
    checkExit(result, ["checks-failed", "partial"]);
    const { status, summary, findings, documents } = parseJson<Checked>(result.text);
    const { items, leftOut: more } = fitting(
      (findings ?? documents ?? []).map((each) => tidy(each)),
    );
    return {
      structured: { status, summary, findings: items, left_out: more, notes: result.notes },
      text: page(
        `${what}: ${status} ${JSON.stringify(summary)}`,
        [...items, ...result.notes],
        more,
      ),
      isError: result.exit === "partial",
    };
  },
};

const PathsInput = z.strictObject({ paths });
interface Planned {
  documents: { action: string }[];
  counts: Record<string, number>;
  size?: Size;
}

const plan: Tool = {
  name: "plan",
  title: "Plan an upload",
  description:
    "What an upload would do with each file that is not unchanged, and the size of what it would send; sends nothing.",
  input: PathsInput,
  output: z.object({
    counts: z.record(z.string(), z.int()),
    size: z.optional(z.record(z.string(), z.unknown())),
    documents: z.array(z.record(z.string(), z.unknown())),
    left_out: leftOut,
    notes,
  }),
  annotations: { readOnlyHint: true, openWorldHint: true },
  async call({ paths: given }: z.infer<typeof PathsInput>, box) {
    const { run, ingest, ccPairId } = box;
    const pair = ccPairId === undefined ? [] : [`--cc-pair-id=${ccPairId}`];
    const line = ["ingest", "--dry-run", "--output=json", ...pair, ...selection(given)];
    const result = await run([
      ...line,
      ...(ingest === undefined ? await allFiles(box) : ["--", ingest]),
    ]);
    checkExit(result, ["partial", "changes"]);
    const { documents, counts, size } = parseJson<Planned>(result.text);
    const due = documents.filter(({ action }) => action !== "unchanged");
    const { items, leftOut: more } = fitting(due.map((each) => tidy(each) as object));
    const structured = { counts, documents: items, left_out: more, notes: result.notes };
    return {
      structured: size ? { ...structured, size } : structured,
      text: page(
        [JSON.stringify(counts), ...(size ? [sizeText(size)] : [])].join("\n"),
        items,
        more,
      ),
    };
  },
};

interface Uploaded {
  status: string;
  counts: Record<string, number>;
  failures: object[];
}

const ingest: Tool = {
  name: "ingest",
  title: "Upload changed documents",
  description:
    "Uploads what changed below the folder and to the pair that the server's command line names. Deletes nothing.",
  input: PathsInput,
  output: z.object({
    status: z.string(),
    counts: z.record(z.string(), z.int()),
    failures: z.array(z.record(z.string(), z.unknown())),
    left_out: leftOut,
    notes,
  }),
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
  async call({ paths: given }: z.infer<typeof PathsInput>, { run, ingest: folder, ccPairId }) {
    if (folder === undefined) {
      const hints = ["a person may start the server with --allow-ingest FOLDER --cc-pair-id N"];
      throw new CliError("usage", "ingest is not allowed; nothing was sent", { hints });
    }
    const line = ["ingest", "--output=json", `--cc-pair-id=${ccPairId}`, ...selection(given)];
    const result = await run([...line, "--", folder]);
    checkExit(result, ["partial"]);
    const { status, counts, failures } = parseJson<Uploaded>(result.text);
    const { items, leftOut: more } = fitting(failures.map((each) => tidy(each) as object));
    return {
      structured: { status, counts, failures: items, left_out: more, notes: result.notes },
      text: page(`${status}: ${JSON.stringify(counts)}`, [...items, ...result.notes], more),
      isError: result.exit === "partial",
    };
  },
};

/** The tools, in the order of their list. */
export const tools: readonly Tool[] = [search, ask, read, connectors, check, plan, ingest];
