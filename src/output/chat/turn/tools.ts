import type { MadeImage, ReadFile, ToolEvent } from "./turn-event.ts";
import { link, type Text } from "../../terminal/text.ts";
import { documentLines, previewLength, previewLines } from "../previews.ts";
import { titleText } from "../sources.ts";

const beginnings: Record<string, string> = {
  search: "searching documents",
  "open-url": "opening pages",
  "image-generation": "making an image",
  python: "running code",
  "file-reader": "reading a file",
  memory: "using its memory",
  plan: "planning the research",
  "research-agent": "research agent",
  report: "writing an intermediate report",
  "coding-agent": "coding agent",
  bash: "running a command",
  agent: "agent",
};

/** What a tool is doing, for people: `searching documents`, `tool create_ticket`. */
export function toolName(tool: string | null, internet = false): string {
  if (tool === null) return "a tool";
  if (tool === "search" && internet) return "searching the web";
  return Object.hasOwn(beginnings, tool) ? (beginnings[tool] ?? tool) : `tool ${titleText(tool)}`;
}

/** Which kinds of activity are shown on stderr. */
export type Shown = "reasoning" | "tools" | "documents";

export interface ToolView {
  show: ReadonlySet<Shown>;
  /** Cut few things short. */
  all: boolean;
  /** The address of a file that the service names by a path of its own. */
  fileUrl?: ((path: string) => string) | undefined;
}

/** A time as it was sent, without what says only that the day begins. */
const dayOf = (time: string): string => time.replace(/T00:00:00(?:\.0+)?(?:\+00:00|Z)$/, "");

function filterLine({ sources, from, to }: NonNullable<ToolEvent["filters"]>): string[] {
  const parts = [
    sources.length > 0 ? `sources ${sources.join(", ")}` : "",
    from ? `from ${dayOf(from)}` : "",
    to ? `until ${dayOf(to)}` : "",
  ].filter(Boolean);
  return parts.length > 0 ? [`filters applied: ${titleText(parts.join(", "))}`] : [];
}

function inputLines(event: ToolEvent, most: number): string[] {
  const { tool, input } = event;
  if (input === undefined || input === null) return [];
  if (typeof input !== "string") return [titleText(JSON.stringify(input))];
  const lines = previewLines(input, most);
  if (tool === "bash") return lines.map((line, index) => (index === 0 ? `$ ${line}` : `  ${line}`));
  return tool === "python" ? lines.map((line) => `| ${line}`) : lines;
}

/** A line for each of the first, and how many are left out. */
function few<Item>(
  items: readonly Item[] | undefined,
  most: number,
  lineOf: (item: Item) => Text[],
): Text[][] {
  if (!items) return [];
  const lines = items.slice(0, most).map(lineOf);
  return items.length > most ? [...lines, [`… and ${items.length - most} more`]] : lines;
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
  const most = previewLength(view.all);
  const lines: Text[][] = [];
  lines.push(...few(event.images, most, (each) => imageLine(each, view)));
  if (event.file) lines.push(...fileLines(event.file).map((line) => [line]));
  if (event.memory) lines.push([memoryLine(event.memory)]);
  if (event.step === "output" && !event.file && !event.memory) {
    lines.push(...previewLines(event.text ?? "", most).map((line) => [line]));
  }
  const problems = previewLines(event.errorText ?? "", most);
  lines.push(...problems.map((line) => [`stderr: ${line}`]));
  if (event.exitCode) lines.push([`exit code ${event.exitCode}`]);
  if (event.timedOut) lines.push(["timed out"]);
  lines.push(...few(event.fileIds, most, (id) => [`made the file ${titleText(id)}`]));
  return lines;
}

function failureLines(event: ToolEvent): string[] {
  const { auth = false, status = null, message = null } = event.error ?? {};
  const why = [status === null ? "" : `status ${status}`, titleText(message ?? event.text ?? "")];
  const said = why.filter(Boolean).join(": ");
  const lines = [`${toolName(event.tool, event.internet)} failed${said === "" ? "" : `: ${said}`}`];
  if (auth) lines.push("  sign in to this tool on the service's web page, then ask again");
  return lines;
}

const mostQueries = 20;

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
  const most = previewLength(view.all);
  const inside: Text[][] = [];
  if (event.queries?.length) {
    const queries = event.queries.slice(0, mostQueries).map(titleText);
    const more = event.queries.length > queries.length ? " · …" : "";
    inside.push([`for: ${queries.join(" · ")}${more}`]);
  }
  if (event.filters) inside.push(...filterLine(event.filters).map((line) => [line]));
  inside.push(...few(event.urls, most, (url) => [link(url, titleText(url))]));
  inside.push(...inputLines(event, most).map((line) => [line]));
  return [...lines, ...inside.map(indent), ...outputLines(event, view).map(indent)];
}

const verbs: Record<string, string> = { "open-url": "opened", report: "cites" };

/** A tool's event as quiet lines without their newlines; `text` steps are running text and have none here. */
export function toolLines(event: ToolEvent, view: ToolView): Text[][] {
  const { show, all } = view;
  const lines = show.has("tools") ? actionLines(event, view) : [];
  // A sub-agent's own message only repeats what its searches found.
  if (show.has("documents") && event.documents && event.tool !== "agent") {
    const verb = Object.hasOwn(verbs, event.tool ?? "") ? verbs[event.tool ?? ""] : undefined;
    return [...lines, ...documentLines(event.documents, verb ?? "found", all).map(indent)];
  }
  return lines;
}
