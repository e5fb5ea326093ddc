import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { listSources, titleText } from "../sources.ts";
import { readMessage, type Branch, type LocalFiles } from "./stored.ts";
import { neutralise, neutraliseLine } from "../../terminal/neutralise.ts";

/** Version of the record; increased by a breaking change. */
const version = 1;

/** `current`: on the branch that the next question continues. */
function messageRecord(
  session: StoredSession,
  message: StoredMessage,
  current: boolean,
  localFiles: LocalFiles,
) {
  const { text, answer } = readMessage(session, message, localFiles);
  const tools = answer?.turn.tools ?? [];
  const cited = answer ? listSources(answer.turn).cited : [];
  return {
    messageId: message.message_id,
    parentId: message.parent_message ?? null,
    role: message.message_type,
    current,
    text: answer?.state === "missing" ? "" : text,
    time: message.time_sent ?? null,
    model: message.model_display_name ?? null,
    // Null for a question.
    state: answer?.state ?? null,
    error: message.error ?? null,
    // `file`: the local file of the document, relative to the working directory, if the state has it.
    citations: cited
      .flatMap(({ numbers, documentId, title, link, file }) =>
        numbers.map((number) => ({ number, documentId, title, link, file })),
      )
      .toSorted((a, b) => a.number - b.number),
    // Attached files, and those that a tool made.
    files: [
      ...(message.files ?? []).map(({ id, name }) => ({ id: id ?? null, name: name ?? null })),
      ...tools.flatMap(({ fileIds }) => fileIds).map((id) => ({ id, name: null })),
    ],
    images: tools.flatMap(({ images }) => images),
  };
}

/** A session as one object for scripts; with `all` including messages of other branches. */
export function sessionRecord(
  session: StoredSession,
  [current, ...others]: readonly Branch[],
  name: string | null,
  { all, localFiles = new Map() }: { all: boolean; localFiles?: LocalFiles },
) {
  const onBranch = (current?.messages ?? []).map((message) =>
    messageRecord(session, message, true, localFiles),
  );
  const besides = others.flatMap(({ messages }) => messages);
  return {
    version,
    sessionId: session.chat_session_id,
    name,
    agent: { id: session.persona_id ?? null, name: session.persona_name ?? null },
    running: Boolean(session.current_run),
    messages: all
      ? [
          ...onBranch,
          ...besides.map((message) => messageRecord(session, message, false, localFiles)),
        ]
      : onBranch,
    otherMessages: besides.length,
  };
}

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
