import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { neutraliseLine } from "../../terminal/neutralise.ts";
import type { Output } from "../../terminal/output.ts";
import { countOf } from "../../terminal/progress.ts";
import { bold, dim, red, yellow, type Text } from "../../terminal/text.ts";
import { relativeTime } from "../../terminal/time.ts";
import { writeAnswer as writeAnswerText, type RenderMode } from "../markdown.ts";
import { madeLines } from "../made.ts";
import { sourceLines } from "../source-lines.ts";
import { titleText } from "../sources.ts";
import { answerState, storedText, turnOfStored, type Branch, type LocalFiles } from "./stored.ts";

export interface TranscriptOptions {
  /** Heading of the transcript. */
  name: string;
  now(): number;
  /** Also show messages of other branches. */
  all: boolean;
  /** List the sources below each answer. */
  sources: boolean;
  render: RenderMode;
  /** Local files of the cited documents. */
  localFiles: LocalFiles;
}

const speakers: Readonly<Record<string, string>> = { user: "You", assistant: "Assistant" };

function speakerOf({ message_type }: StoredMessage): string {
  return Object.hasOwn(speakers, message_type)
    ? (speakers[message_type] ?? "")
    : neutraliseLine(message_type).slice(0, 40);
}

function timeText(output: Output, time: string | null | undefined, now: number): string {
  if (!time) return "";
  const line = neutraliseLine(time).slice(0, 60);
  return output.isTerminal ? relativeTime(line, now) : line;
}

function fileNames({ files }: StoredMessage): string {
  return (files ?? []).map(({ name, id }) => titleText(name || id || "?")).join(", ");
}

async function writeText(
  output: Output,
  text: string,
  options: { mode: RenderMode; shortensMarkers: boolean },
): Promise<void> {
  const body = text.trimEnd();
  if (body === "") return await output.line(dim("(no text)"));
  await writeAnswerText(output, body, options);
}

async function writeAnswer(
  output: Output,
  session: StoredSession,
  message: StoredMessage,
  options: TranscriptOptions,
): Promise<void> {
  const state = answerState(message);
  if (state === "missing") {
    const why = session.current_run ? "still being generated" : "not stored: it was cut";
    await output.line(yellow(`(the answer is ${why})`));
    return;
  }
  const text = storedText(message);
  const made = madeLines(turnOfStored(session, message)).map(titleText);
  if ((state === "complete" && made.length === 0) || text.trim() !== "") {
    // Shortened, because the transcript lists the sources below the answer.
    await writeText(output, text, { mode: options.render, shortensMarkers: true });
  }
  for (const line of made) await output.line(line);
  if (state === "failed") {
    await output.line(red(`failed: ${neutraliseLine(message.error ?? "").slice(0, 500)}`));
  }
  const { localFiles } = options;
  if (!options.sources) return;
  const lines = sourceLines(turnOfStored(session, message, { citedOnly: true, localFiles }), 0);
  if (lines.length > 0) await output.line();
  for (const line of lines) await output.line(...line);
}

async function writeMessage(
  output: Output,
  session: StoredSession,
  message: StoredMessage,
  options: TranscriptOptions,
): Promise<void> {
  const isAnswer = message.message_type === "assistant";
  const facts = [
    timeText(output, message.time_sent, options.now()),
    isAnswer ? titleText(message.model_display_name ?? "") : "",
    options.all ? `message ${message.message_id}` : "",
  ].filter((fact) => fact !== "");
  const head: Text[] = [bold(speakerOf(message))];
  if (facts.length > 0) head.push(dim(` · ${facts.join(" · ")}`));
  await output.line();
  await output.line(...head);
  if (isAnswer) await writeAnswer(output, session, message, options);
  // Text of users is not Markdown: it stays unchanged.
  else await writeText(output, message.message, { mode: "plain", shortensMarkers: false });
  const files = fileNames(message);
  if (files !== "") await output.line(dim(`files: ${files}`));
}

async function writeHeading(
  output: Output,
  session: StoredSession,
  count: number,
  { name }: TranscriptOptions,
): Promise<void> {
  await output.line(bold(titleText(name)));
  const agent = session.persona_name ? [`agent ${titleText(session.persona_name)}`] : [];
  const facts = [`session ${session.chat_session_id}`, ...agent, countOf(count, "message")];
  await output.line(dim(facts.join(" · ")));
}

/** Writes a stored conversation for people: the current branch, with `all` also the others. */
export async function writeTranscript(
  output: Output,
  session: StoredSession,
  [current, ...others]: readonly Branch[],
  options: TranscriptOptions,
): Promise<void> {
  const messages = current?.messages ?? [];
  await writeHeading(output, session, messages.length, options);
  for (const message of messages) await writeMessage(output, session, message, options);
  const left = others.reduce((sum, { messages: { length } }) => sum + length, 0);
  if (left > 0 && !options.all) {
    const branches = countOf(others.length, "other branch", "other branches");
    await output.note(dim(`${countOf(left, "more message")} in ${branches} (--all shows them)`));
  }
  if (!options.all) return;
  for (const [index, branch] of others.entries()) {
    const from = branch.parent === null ? "" : `, from message ${branch.parent}`;
    await output.line();
    await output.line(dim(`── other branch ${index + 1}${from} ──`));
    for (const message of branch.messages) await writeMessage(output, session, message, options);
  }
}
