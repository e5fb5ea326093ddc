import { closeSync, openSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem, exitCodes, type ExitName } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { entryLine, headLine, type RecordedEntry, readRecording } from "../../recording.ts";
import { statsOf } from "../stats-of.ts";
import { type Question, type AnswerSink, runTurn, type Ending } from "./turn.ts";
import { eventsOf, isEnded, lastEvents, startProgress } from "../../api/chat/chat-stream.ts";
import { createMessageRedactor } from "../../api/chat/redact-messages.ts";
import { redactText } from "../../api/answers/redaction.ts";
import type { ChatReply } from "../../api/chat-schemas.ts";
import { createTurn } from "../../output/chat/turn/answer.ts";
import type { Piece } from "../../output/chat/turn/reply.ts";
import { rendererOf, type View } from "./ask.ts";

const onlyOwner = 0o600;

/** Opens the file of `--record`, which may not exist yet. Throws CliError `usage`. */
function open(path: string, given: string, force: boolean): number {
  const known = statsOf(path);
  // A device or pipe is written to, never replaced.
  const replaces = force || (known !== undefined && !known.isFile());
  try {
    return openSync(path, replaces ? "w" : "wx", onlyOwner);
  } catch (error) {
    if (codeOf(error) === "EEXIST") {
      throw new CliError("usage", `--record: ${given} exists`, {
        hints: ["name another file, or replace it with --force"],
      });
    }
    throw new CliError("usage", `--record: cannot write ${given}: ${writeProblem(codeOf(error))}`, {
      hints: ["name a new file in a folder that you can write"],
      cause: error,
    });
  }
}

/**
 * Records an answer while it arrives (recording.ts): each chunk is in the file before it is
 * drawn. A disk failure ends the recording, not the answer. Throws CliError `usage` for a file
 * that exists (unless `force`) or cannot be created.
 */
export function createRecorder(
  context: Context,
  output: Output,
  { parameters, whole }: Pick<Question, "parameters" | "whole">,
  { record, force }: { record: string; force: boolean },
): AnswerSink {
  const path = resolve(context.cwd, record);
  const file = open(path, record, force);
  const startedAt = context.elapsed();
  let failure: CliError | undefined;
  const append = (text: string): void => {
    if (failure) return;
    try {
      writeFileSync(file, output.secrets.redact(text));
    } catch (error) {
      failure = new CliError("local", `cannot record in ${path}: ${writeProblem(codeOf(error))}`, {
        hints: ["the recording holds the part before the failure"],
        cause: error,
      });
    }
  };
  append(headLine(new Date(context.now()), parameters.message));
  const atMs = (): number => context.elapsed() - startedAt;
  return {
    write(lines) {
      const at = atMs();
      const entries = lines.map(({ raw, kind }): RecordedEntry => {
        const isReply = whole && kind === "reply";
        return isReply ? { atMs: at, reply: raw } : { atMs: at, line: raw };
      });
      append(entries.map(entryLine).join(""));
    },
    close(_turn, status, problem) {
      const exit = problem instanceof CliError ? problem.exit : null;
      append(entryLine({ atMs: atMs(), end: status, exit }));
      closeSync(file);
      return failure;
    },
  };
}

/** Groups entries of the same time. */
async function* groupsOf(path: string): AsyncGenerator<[RecordedEntry, ...RecordedEntry[]]> {
  let group: [RecordedEntry, ...RecordedEntry[]] | undefined;
  for await (const entry of readRecording(path)) {
    if (group?.[0].atMs === entry.atMs) group.push(entry);
    else {
      if (group) yield group;
      group = [entry];
    }
  }
  if (group) yield group;
}

async function replyOf(text: string): Promise<ChatReply> {
  try {
    const schemas = await import("../../api/chat-schemas.ts");
    return schemas.ChatReply.parse(JSON.parse(text));
  } catch (error) {
    throw new CliError("usage", "the reply in the recording is not in the form of this service", {
      cause: error,
    });
  }
}

type End = Extract<RecordedEntry, { end: string }>;

function failureOf(end: End | undefined): CliError {
  const exit = end?.exit ?? "";
  if (end?.end === "error" && Object.hasOwn(exitCodes, exit)) {
    const { when } = exitCodes[exit as ExitName];
    return new CliError(exit as ExitName, `the recorded question failed: ${exit} (${when})`);
  }
  const why = end?.end === "interrupted" ? "; it was interrupted" : "";
  return new CliError("incomplete", `the recording ends before the end of the answer${why}`);
}

async function* play(
  context: Context,
  { secrets }: Output,
  path: string,
  speed: number,
): AsyncGenerator<Piece> {
  const redact = createMessageRedactor(secrets);
  const startedAt = context.elapsed();
  const progress = startProgress();
  let isWhole = false;
  let end: End | undefined;
  for await (const group of groupsOf(path)) {
    const dueAt = speed > 0 ? startedAt + group[0].atMs / speed : 0;
    const waitMs = dueAt - context.elapsed();
    if (waitMs > 0) await context.sleep(waitMs, context.signal);
    context.signal.throwIfAborted();
    for (const entry of group) {
      if ("end" in entry) end = entry;
      else if ("reply" in entry) {
        isWhole = true;
        const reply = await replyOf(redactText(entry.reply, secrets));
        yield [{ raw: JSON.stringify(reply), kind: "reply", reply }];
      }
    }
    const messages = group.flatMap((entry) => ("line" in entry ? redact(entry.line) : []));
    const lines = await eventsOf(messages, progress);
    if (lines.length > 0) yield lines;
  }
  const held = await eventsOf(redact(undefined), progress);
  const rest = [...held, ...(await lastEvents(progress))];
  if (rest.length > 0) yield rest;
  if (!isWhole && !isEnded(progress)) throw failureOf(end);
}

/** Refuses a message; cli/flag-rules.ts refuses the flags of a question. Throws CliError `usage`. */
export function checkReplay(args: readonly string[]): void {
  if (args.length === 0) return;
  throw new CliError("usage", "--replay sends no question, so a message has no effect", {
    hints: ["leave out the message, or --replay"],
  });
}

/**
 * Draws a recorded answer at its original pace, or `--replay-speed` times as fast (0: at
 * once). Needs neither a network nor credentials. Returns the ending of the recorded answer.
 * Throws as `ask` does.
 */
export async function replay(
  context: Context,
  output: Output,
  options: { replay: string; replaySpeed?: number },
  view: View,
  sink: AnswerSink | undefined,
): Promise<Ending> {
  const turn = createTurn();
  const renderer = rendererOf(output, view, turn);
  const path = resolve(context.cwd, options.replay);
  const pieces = play(context, output, path, options.replaySpeed ?? 1);
  return await runTurn(context, undefined, pieces, { turn, renderer, sink });
}
