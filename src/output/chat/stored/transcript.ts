import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { neutraliseLine } from "../../terminal/neutralise.ts";
import type { Output } from "../../terminal/output.ts";
import { countOf, relativeTime } from "../../terminal/progress.ts";
import { bold, dim, red, magenta, type Text } from "../../terminal/text.ts";
import { writeAnswer as writeAnswerText, type RenderMode } from "../markdown.ts";
import { sourceLines } from "../source-lines.ts";
import { titleText } from "../sources.ts";
import { readMessage, type Branch, type LocalFiles } from "./stored.ts";

type Answer = NonNullable<ReturnType<typeof readMessage>["answer"]>;

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

function timeText(output: Output, time: string | null | undefined, now: number): string {
  if (!time) return "";
  const line = neutraliseLine(time).slice(0, 60);
  return output.isTerminal ? relativeTime(line, now) : line;
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
  isRunning: boolean,
  text: string,
  { state, turn, made, error }: Answer,
  { render, sources }: TranscriptOptions,
): Promise<void> {
  if (state === "missing") {
    const why = isRunning ? "still being generated" : "not stored: it was cut";
    return await output.line(magenta(`(the answer is ${why})`));
  }
  if ((state === "complete" && made.length === 0) || text.trim() !== "") {
    // Shortened, because the transcript lists the sources below the answer.
    await writeText(output, text, { mode: render, shortensMarkers: true });
  }
  for (const line of made) await output.line(titleText(line));
  if (state === "failed") {
    await output.line(red(`failed: ${neutraliseLine(error).slice(0, 500)}`));
  }
  if (!sources) return;
  const lines = sourceLines(turn, 0);
  if (lines.length > 0) await output.line();
  for (const line of lines) await output.line(...line);
}

async function writeMessage(
  output: Output,
  session: StoredSession,
  message: StoredMessage,
  options: TranscriptOptions,
): Promise<void> {
  const shown = readMessage(session, message, options.localFiles);
  const facts = [
    timeText(output, message.time_sent, options.now()),
    titleText(shown.model),
    options.all ? `message ${message.message_id}` : "",
  ].filter((fact) => fact !== "");
  const head: Text[] = [bold(shown.speaker)];
  if (facts.length > 0) head.push(dim(` · ${facts.join(" · ")}`));
  await output.line();
  await output.line(...head);
  const isRunning = Boolean(session.current_run);
  if (shown.answer) await writeAnswer(output, isRunning, shown.text, shown.answer, options);
  // Text of users is not Markdown: it stays unchanged.
  else await writeText(output, shown.text, { mode: "plain", shortensMarkers: false });
  const files = shown.files.map(titleText).join(", ");
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
