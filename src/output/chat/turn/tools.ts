import type { MadeImage, ReadFile, ToolEvent } from "./chat-events.ts";
import type { SearchDoc } from "../../../api/chat-schemas.ts";
import { link, type Text } from "../../terminal/text.ts";
import { titleText } from "../sources.ts";

const activities: Record<string, string> = {
  search: "searching documents",
  "open-url": "opening pages",
  "image-generation": "generating an image",
  python: "running code",
  "file-reader": "reading a file",
  memory: "using the memory",
  plan: "planning the research",
  "research-agent": "research agent",
  report: "writing an intermediate report",
  "coding-agent": "coding agent",
  bash: "running a command",
  agent: "agent",
};

/** Activity of a tool, for people: `searching documents`, `tool create_ticket`. */
export function toolName(tool: string | null, internet = false): string {
  if (tool === null) return "a tool";
  if (tool === "search" && internet) return "searching the web";
  return Object.hasOwn(activities, tool) ? (activities[tool] ?? tool) : `tool ${titleText(tool)}`;
}

/** A kind of activity shown on stderr. */
export type Shown = "reasoning" | "tools" | "documents";

export interface ToolView {
  show: ReadonlySet<Shown>;
  /** Show longer previews and lists. */
  all: boolean;
  /** Turns a path on the service into the address of a file. */
  fileUrl?: ((path: string) => string) | undefined;
}

const defaultLines = 5;
const allLines = 200;

/** Maximum lines of a tool's input or output; `all` is `--show all`. */
function previewLength(all: boolean): number {
  return all ? allLines : defaultLines;
}

/** The first lines of a text, each cut; a last line counts the hidden lines. */
function previewLines(text: string, limit: number): string[] {
  const shown: string[] = [];
  let count = 0;
  // Not split(): an output may have millions of lines.
  for (let at = 0; at <= text.length;) {
    const end = text.indexOf("\n", at);
    const line = text.slice(at, end < 0 ? text.length : end);
    if (line.trim() !== "") {
      count += 1;
      // Indentation belongs to code; titleText() trims it.
      const indent = /^[ \t]{0,40}/.exec(line)?.[0].replaceAll("\t", "  ") ?? "";
      if (shown.length < limit) shown.push(indent + titleText(line.slice(0, 4000)));
    }
    if (end < 0) break;
    at = end + 1;
  }
  const left = count - shown.length;
  if (left > 0) shown.push(`… ${left} more ${left === 1 ? "line" : "lines"}`);
  return shown;
}

const maxDocuments = 5;

/** `found 2 documents` and their titles; `found` is the verb. A document with several passages is one. */
function documentLines(documents: readonly SearchDoc[], found: string, all: boolean): Text[][] {
  const byId = new Map<string, SearchDoc>();
  for (const each of documents) {
    if (!byId.has(each.document_id)) byId.set(each.document_id, each);
  }
  const { size } = byId;
  if (size === 0) return [[`${found} nothing`]];
  const limit = all ? size : maxDocuments;
  const lines: Text[][] = [[`${found} ${size} ${size === 1 ? "document" : "documents"}`]];
  for (const each of [...byId.values()].slice(0, limit)) {
    const title = titleText(each.semantic_identifier || each.link || each.document_id);
    lines.push(["· ", each.link ? link(each.link, title) : title]);
  }
  if (size > limit) lines.push([`… and ${size - limit} more`]);
  return lines;
}

/** A time as sent; a time at midnight UTC is shortened to its date. */
const dayOf = (time: string): string => time.replace(/T00:00:00(?:\.0+)?(?:\+00:00|Z)$/, "");

function filterLine({ sources, from, to }: NonNullable<ToolEvent["filters"]>): string[] {
  const parts = [
    sources.length > 0 ? `sources ${sources.join(", ")}` : "",
    from ? `from ${dayOf(from)}` : "",
    to ? `until ${dayOf(to)}` : "",
  ].filter(Boolean);
  return parts.length > 0 ? [`filters applied: ${titleText(parts.join(", "))}`] : [];
}

function inputLines(event: ToolEvent, limit: number): string[] {
  const { tool, input } = event;
  if (input === undefined || input === null) return [];
  if (typeof input !== "string") return [titleText(JSON.stringify(input))];
  const lines = previewLines(input, limit);
  if (tool === "bash") return lines.map((line, index) => (index === 0 ? `$ ${line}` : `  ${line}`));
  return tool === "python" ? lines.map((line) => `| ${line}`) : lines;
}

/** A line for each of the first items; a last line counts the hidden items. */
function limitedLines<Item>(
  items: readonly Item[] | undefined,
  limit: number,
  lineOf: (item: Item) => Text[],
): Text[][] {
  if (!items) return [];
  const lines = items.slice(0, limit).map(lineOf);
  return items.length > limit ? [...lines, [`… and ${items.length - limit} more`]] : lines;
}

function imageLine({ url, fileId, prompt, shape }: MadeImage, view: ToolView): Text[] {
  const path = url || fileId || "(no address)";
  const address = titleText((url || fileId) && view.fileUrl ? view.fileUrl(path) : path);
  const about = [prompt, shape].filter(Boolean).map((each) => titleText(each ?? ""));
  return ["image ", link(address, address), about.length > 0 ? `  ${about.join(", ")}` : ""];
}

function fileLines({ name, fileId, from, to, total, beginning, end }: ReadFile): string[] {
  const range = from === null || to === null ? "" : `, characters ${from} to ${to}`;
  const whole = total === null ? "" : ` of ${total}`;
  const lines = [`read ${titleText(name || fileId || "a file")}${range}${whole}`];
  const words = [beginning, end].map((each) => titleText(each ?? "")).filter(Boolean);
  if (words.length > 0) lines.push(`“${words.join(" … ")}”`);
  return lines;
}

const memoryVerbs: Record<string, string> = { add: "added", update: "updated" };

function memoryLine({ operation, text }: NonNullable<ToolEvent["memory"]>): string {
  const word = operation ?? "";
  const verb = Object.hasOwn(memoryVerbs, word) ? memoryVerbs[word] : titleText(word) || "used";
  return `memory ${verb}${text ? `: ${titleText(text)}` : ""}`;
}

function outputLines(event: ToolEvent, view: ToolView): Text[][] {
  const limit = previewLength(view.all);
  const lines: Text[][] = [];
  lines.push(...limitedLines(event.images, limit, (each) => imageLine(each, view)));
  if (event.file) lines.push(...fileLines(event.file).map((line) => [line]));
  if (event.memory) lines.push([memoryLine(event.memory)]);
  if (event.step === "output" && !event.file && !event.memory) {
    lines.push(...previewLines(event.text ?? "", limit).map((line) => [line]));
  }
  const problems = previewLines(event.errorText ?? "", limit);
  lines.push(...problems.map((line) => [`stderr: ${line}`]));
  if (event.exitCode) lines.push([`exit code ${event.exitCode}`]);
  if (event.timedOut) lines.push(["timed out"]);
  lines.push(...limitedLines(event.fileIds, limit, (id) => [`created file ${titleText(id)}`]));
  return lines;
}

function failureLines(event: ToolEvent): string[] {
  const { auth = false, status = null, message = null } = event.error ?? {};
  const why = [status === null ? "" : `status ${status}`, titleText(message ?? event.text ?? "")];
  const reason = why.filter(Boolean).join(": ");
  const end = reason === "" ? "" : `: ${reason}`;
  const lines = [`${toolName(event.tool, event.internet)} failed${end}`];
  if (auth) lines.push("  sign in to this tool on the service's web page, then ask again");
  return lines;
}

const maxQueries = 20;

const indent = (line: Text[]): Text[] => ["  ", ...line];

function actionLines(event: ToolEvent, view: ToolView): Text[][] {
  const lines: Text[][] = [];
  if (event.step === "arguments") return lines;
  if (event.step === "call") {
    const name = `call ${titleText([event.callId, event.tool].filter(Boolean).join(": "))}`;
    return [[`${name} ${inputLines(event, 1).join("")}`.trim()]];
  }
  if (event.step === "start") {
    const where = event.repository ? ` in ${titleText(event.repository)}` : "";
    lines.push([toolName(event.tool, event.internet) + where]);
  }
  if (event.step === "failed") lines.push(...failureLines(event).map((line) => [line]));
  const limit = previewLength(view.all);
  const inside: Text[][] = [];
  if (event.queries?.length) {
    const queries = event.queries.slice(0, maxQueries).map(titleText);
    const more = event.queries.length > queries.length ? " · …" : "";
    inside.push([`for: ${queries.join(" · ")}${more}`]);
  }
  if (event.filters) inside.push(...filterLine(event.filters).map((line) => [line]));
  inside.push(...limitedLines(event.urls, limit, (url) => [link(url, titleText(url))]));
  inside.push(...inputLines(event, limit).map((line) => [line]));
  return [...lines, ...inside.map(indent), ...outputLines(event, view).map(indent)];
}

const verbs: Record<string, string> = { "open-url": "opened", report: "cites" };

/** Lines for a tool's event, without newlines. A `text` step has none here: it is streamed text. */
export function toolLines(event: ToolEvent, view: ToolView): Text[][] {
  const { show, all } = view;
  const lines = show.has("tools") ? actionLines(event, view) : [];
  // A sub-agent's message only repeats the documents of its searches.
  if (show.has("documents") && event.documents && event.tool !== "agent") {
    const verb = Object.hasOwn(verbs, event.tool ?? "") ? verbs[event.tool ?? ""] : undefined;
    return [...lines, ...documentLines(event.documents, verb ?? "found", all).map(indent)];
  }
  return lines;
}
