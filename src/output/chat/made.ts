import { hasAnswer, hasText, turnsOf, type Turn } from "./turn/answer.ts";
import { titleText } from "./sources.ts";

type FileUrl = ((path: string) => string) | undefined;

/** Turns markers without a target into `[1]`: Markdown would show a link to nowhere. */
function withoutEmptyLinks(text: string): string {
  return text.replace(/\[\[(\d{1,6})\]\]\(\)/g, "[$1]");
}

function textOf({ answer, tools }: Turn, fileUrl: FileUrl): string {
  return hasText(answer) ? withoutEmptyLinks(answer) : madeLines({ tools }, fileUrl).join("\n");
}

/** A line for each created image (address) and file (id). */
export function madeLines({ tools }: Pick<Turn, "tools">, fileUrl?: FileUrl): string[] {
  const images = tools.flatMap((call) => call.images).map(({ url, fileId }) => url || fileId || "");
  const address = (path: string): string => (path === "" || !fileUrl ? path : fileUrl(path));
  return [
    ...images.map((path) => `image ${address(path)}`.trim()),
    ...tools.flatMap((call) => call.fileIds).map((id) => `file ${id}`),
  ];
}

/** Name of a model for the heading of its answer, on one line. */
export function modelName({ model, messageId }: Turn): string {
  return titleText(model ?? "") || `message ${messageId}`;
}

/** One of several answers, with its model's name as heading. */
export function answerSection(turn: Turn, fileUrl?: FileUrl): string {
  const text = hasAnswer(turn) ? textOf(turn, fileUrl).trimEnd() : "(no answer)";
  return `${answerHeading(turn)}${text}\n`;
}

/** Markdown heading of one of several answers. */
export function answerHeading(turn: Turn): string {
  return `## ${modelName(turn)}\n\n`;
}

/**
 * The answer as text for people: its text, or without text a line for each created
 * image (address) and file (id). If several models answer, each answer is below its
 * model's name.
 */
export function readerText(turn: Turn, fileUrl?: FileUrl): string {
  const turns = turnsOf(turn);
  if (turns.length === 1) return textOf(turn, fileUrl);
  return turns.map((each) => answerSection(each, fileUrl)).join("\n");
}
