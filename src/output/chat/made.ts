import { hasAnswer, hasText, turnsOf, type Turn } from "./turn/answer.ts";
import { titleText } from "./sources.ts";

type FileUrl = ((path: string) => string) | undefined;

/** A marker without a link would be a link to nowhere. */
function withoutEmptyLinks(text: string): string {
  return text.replace(/\[\[(\d{1,6})\]\]\(\)/g, "[$1]");
}

function textOf({ answer, tools }: Turn, fileUrl: FileUrl): string {
  if (hasText(answer)) return withoutEmptyLinks(answer);
  const images = tools.flatMap((call) => call.images).map(({ url, fileId }) => url || fileId || "");
  const address = (path: string): string => (path === "" || !fileUrl ? path : fileUrl(path));
  const lines = [
    ...images.map((path) => `image ${address(path)}`.trim()),
    ...tools.flatMap((call) => call.fileIds).map((id) => `file ${id}`),
  ];
  return lines.join("\n");
}

/** What a model is called above its answer, on one line. */
export function modelName({ model, messageId }: Turn): string {
  return titleText(model ?? "") || `message ${messageId}`;
}

/** One of several answers, below its model's name. */
export function answerSection(turn: Turn, fileUrl?: FileUrl): string {
  const text = hasAnswer(turn) ? textOf(turn, fileUrl).trimEnd() : "(no answer)";
  return `${answerHeading(turn)}${text}\n`;
}

/** The heading of one of several answers, in Markdown. */
export function answerHeading(turn: Turn): string {
  return `## ${modelName(turn)}\n\n`;
}

/**
 * What the reader gets: the text of the answer, or where it has none the
 * addresses of the images and the ids of the files that were made, a line each.
 * Where several models answer, each answer stands below its model's name.
 */
export function readerText(turn: Turn, fileUrl?: FileUrl): string {
  const turns = turnsOf(turn);
  if (turns.length === 1) return textOf(turn, fileUrl);
  return turns.map((each) => answerSection(each, fileUrl)).join("\n");
}
