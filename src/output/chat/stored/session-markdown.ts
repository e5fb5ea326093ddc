import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { neutralise, neutraliseLine } from "../../terminal/neutralise.ts";
import { listSources, titleText } from "../sources.ts";
import { readMessage, type Branch } from "./stored.ts";

type Answer = NonNullable<ReturnType<typeof readMessage>["answer"]>;

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

/** A text as it is; markers without a target become `[1]`, as they would link to nowhere. */
function bodyOf(text: string): string {
  return neutralise(text)
    .replace(/\[\[(\d{1,6})\]\]\(\)/g, "\\[$1\\]")
    .trimEnd();
}

function answerLines(text: string, answer: Answer): string[] {
  const { state, turn, made, error } = answer;
  if (state === "missing") return ["*(no answer is stored: it was cut)*"];
  const { cited } = listSources(turn);
  const sources = cited.map(
    ({ numbers, title, link }) =>
      `- ${numbers.map((number) => `\\[${number}\\]`).join("")} ${linkText(title, link)}`,
  );
  return [
    bodyOf(text),
    ...(made.length === 0 ? [] : ["", ...made.map((line) => `- ${plain(line)}`)]),
    ...(state === "failed" ? ["", `*(failed: ${plain(neutraliseLine(error))})*`] : []),
    ...(sources.length === 0 ? [] : ["", "Sources:", "", ...sources]),
  ];
}

function messageText(session: StoredSession, message: StoredMessage): string {
  const { speaker, text, files, model, answer } = readMessage(session, message);
  const name = answer || message.message_type === "user" ? speaker : plain(speaker);
  const heading = [name, timeText(message.time_sent), plain(model)].filter((part) => part !== "");
  const body = answer ? answerLines(text, answer) : [bodyOf(text)];
  const attached = files.length === 0 ? [] : ["", `Files: ${files.map(plain).join(", ")}`];
  return `${["", `## ${heading.join(" · ")}`, "", ...body, ...attached].join("\n")}\n`;
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
  for (const message of current?.messages ?? []) yield messageText(session, message);
  if (!all) return;
  for (const [index, branch] of others.entries()) {
    const from = branch.parent === null ? "" : ` from message ${branch.parent}`;
    yield `\n---\n\n*Other branch ${index + 1}${from}*\n`;
    for (const message of branch.messages) yield messageText(session, message);
  }
}
