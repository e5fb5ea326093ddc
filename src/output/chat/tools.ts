import type { SearchDoc } from "../../api/chat-schemas.ts";
import { dim, type Text } from "../text.ts";
import type { ToolEvent } from "./events.ts";
import { titleText } from "./sources.ts";

const mostDocuments = 5;
const mostOutputLines = 5;

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

function inputText(input: unknown): string {
  return titleText(typeof input === "string" ? input : JSON.stringify(input));
}

function inputLines(event: ToolEvent): string[] {
  const lines: string[] = [];
  if (event.queries?.length) lines.push(`for: ${event.queries.map(titleText).join(" · ")}`);
  if (event.filters) {
    const { sources, from, to } = event.filters;
    const parts = [
      sources.length > 0 ? `sources ${sources.join(", ")}` : "",
      from ? `from ${from}` : "",
      to ? `until ${to}` : "",
    ].filter(Boolean);
    if (parts.length > 0) lines.push(`filters applied: ${titleText(parts.join(", "))}`);
  }
  for (const url of event.urls ?? []) lines.push(titleText(url));
  if (event.input !== undefined && event.input !== null) lines.push(inputText(event.input));
  return lines;
}

function outputLines(text: string): string[] {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, mostOutputLines).map(titleText);
  if (lines.length > shown.length) shown.push(`… ${lines.length - shown.length} more lines`);
  return shown;
}

function documentLines(documents: readonly SearchDoc[], most: number): string[] {
  const titles = new Set(
    documents.map((each) => titleText(each.semantic_identifier || each.document_id)),
  );
  const shown = [...titles].slice(0, most).map((title) => `· ${title}`);
  if (titles.size > shown.length) shown.push(`… and ${titles.size - shown.length} more`);
  const count = titles.size === 1 ? "1 document" : `${titles.size} documents`;
  return [titles.size === 0 ? "found nothing" : `found ${count}`, ...shown];
}

/** Which kinds of activity are shown on stderr. */
export type Shown = "reasoning" | "tools" | "documents";

/** A tool's event as quiet lines; `text` steps are running text and have none here. */
export function toolLines(
  event: ToolEvent,
  shown: ReadonlySet<Shown>,
  branches: number,
  all: boolean,
): Text[] {
  const lines: string[] = [];
  if (shown.has("tools")) {
    if (event.step === "start") lines.push(toolName(event.tool, event.internet));
    if (event.step === "failed") {
      lines.push(`${toolName(event.tool)} failed${event.text ? `: ${titleText(event.text)}` : ""}`);
    }
    lines.push(...inputLines(event).map((line) => `  ${line}`));
    if (event.step === "output")
      lines.push(...outputLines(event.text ?? "").map((line) => `  ${line}`));
  }
  if (shown.has("documents") && event.documents && event.tool !== "agent") {
    const most = all ? Number.POSITIVE_INFINITY : mostDocuments;
    lines.push(...documentLines(event.documents, most).map((line) => `  ${line}`));
  }
  // Parallel tools are told apart by their branch.
  const branch = branches > 1 ? `[${event.place.tab + 1}] ` : "";
  return lines.flatMap((line) => [dim(`${branch}${line}`), "\n"]);
}
