import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { neutralise, neutraliseLine } from "../../terminal/neutralise.ts";
import { madeLines } from "../made.ts";
import { listSources, titleText } from "../sources.ts";
import { answerState, storedText, turnOfStored, type Branch } from "./stored.ts";

/** Escapes Markdown and HTML in one line of text. */
function plain(text: string): string {
  return titleText(text).replace(/[\\`*_{}[\]()<>#+!|~&-]/g, (mark) => `\\${mark}`);
}

function timeText(time: string | null | undefined): string {
  if (!time) return "";
  return /^[\d:.TZ+-]{1,40}$/.test(time) ? time : plain(time);
}

/** A Markdown link for a web address; else only the title. */
function linkText(title: string, target: string | null): string {
  if (target === null || !/^https?:\/\/[\u0021-\u007e]+$/.test(target)) return plain(title);
  return `[${plain(title)}](<${target.replace(/[<>\\]/g, encodeURIComponent)}>)`;
}

function sourceLines(session: StoredSession, message: StoredMessage): string[] {
  const { cited } = listSources(turnOfStored(session, message, { citedOnly: true }));
  if (cited.length === 0) return [];
  const lines = cited.map(
    ({ numbers, title, link }) =>
      `- ${numbers.map((number) => `\\[${number}\\]`).join("")} ${linkText(title, link)}`,
  );
  return ["", "Sources:", "", ...lines];
}

function fileLines({ files }: StoredMessage): string[] {
  if (!files || files.length === 0) return [];
  return ["", `Files: ${files.map(({ name, id }) => plain(name || id || "?")).join(", ")}`];
}

/** The stored text; markers without a target become `[1]`, as they would link to nowhere. */
function bodyOf(message: StoredMessage): string {
  return neutralise(storedText(message))
    .replace(/\[\[(\d{1,6})\]\]\(\)/g, "\\[$1\\]")
    .trimEnd();
}

function answerLines(session: StoredSession, message: StoredMessage): string[] {
  const state = answerState(message);
  if (state === "missing") return ["*(no answer is stored: it was cut)*"];
  const failed =
    state === "failed" ? ["", `*(failed: ${plain(neutraliseLine(message.error ?? ""))})*`] : [];
  const made = madeLines(turnOfStored(session, message)).map((line) => `- ${plain(line)}`);
  const below = made.length === 0 ? [] : ["", ...made];
  return [bodyOf(message), ...below, ...failed, ...sourceLines(session, message)];
}

function messageLines(session: StoredSession, message: StoredMessage): string[] {
  const isAnswer = message.message_type === "assistant";
  const speaker = isAnswer
    ? "Assistant"
    : message.message_type === "user"
      ? "You"
      : plain(message.message_type);
  const model = isAnswer && message.model_display_name ? plain(message.model_display_name) : "";
  const heading = [speaker, timeText(message.time_sent), model].filter((part) => part !== "");
  const body = isAnswer ? answerLines(session, message) : [bodyOf(message)];
  return ["", `## ${heading.join(" · ")}`, "", ...body, ...fileLines(message)];
}

/**
 * A stored conversation as Markdown: a heading for each message, the stored texts
 * with control characters made visible, and a list of sources below each answer. With
 * `all`, the other branches follow.
 */
export function* sessionMarkdown(
  session: StoredSession,
  [current, ...others]: readonly Branch[],
  name: string,
  all: boolean,
): Generator<string> {
  yield `# ${plain(name)}\n\n- session: ${session.chat_session_id}\n`;
  if (session.persona_name) yield `- agent: ${plain(session.persona_name)}\n`;
  const first = current?.messages[0]?.time_sent;
  if (first) yield `- started: ${timeText(first)}\n`;
  for (const message of current?.messages ?? []) {
    yield `${messageLines(session, message).join("\n")}\n`;
  }
  if (!all) return;
  for (const [index, branch] of others.entries()) {
    const from = branch.parent === null ? "" : ` from message ${branch.parent}`;
    yield `\n---\n\n*Other branch ${index + 1}${from}*\n`;
    for (const message of branch.messages) yield `${messageLines(session, message).join("\n")}\n`;
  }
}
