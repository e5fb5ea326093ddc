import type { ChatOptions } from "../options/chat-options.ts";
import type { Context } from "../../../context.ts";
import { ClosedPipeError, CliError } from "../../../errors.ts";
import { createEditor, type Editor, type Entry } from "../../../output/terminal/editor/editor.ts";
import { writeError } from "../../../output/terminal/errors.ts";
import { dim } from "../../../output/terminal/text.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { connect, type Connected } from "../../connect.ts";
import { askNext, nextPlace } from "./asking.ts";
import { commandNamed, parseCommand, slashCommands } from "./slash/commands.ts";
import { createCompleter } from "./slash/completion.ts";
import { openKeyboard, type Keyboard } from "./keyboard.ts";
import { beginTalk, openTalk, type Start } from "./opening.ts";
import { statusOf, type Talk, type Work } from "./talk.ts";

/** What Ctrl-C ends at the moment. */
interface Running {
  stop: AbortController | undefined;
}

type Job = (work: Work) => Promise<void>;

/** Runs a job that Ctrl-C ends. Its failure is told; only what ends the conversation is thrown. */
async function runJob(
  { output, clientUntil }: Connected & { output: Output },
  ended: AbortSignal,
  running: Running,
  job: Job,
): Promise<void> {
  const stop = new AbortController();
  const signal = AbortSignal.any([ended, stop.signal]);
  const client = clientUntil(signal);
  running.stop = stop;
  try {
    await job({ signal, client });
  } catch (error) {
    if (ended.aborted) throw ended.reason;
    if (error instanceof ClosedPipeError) throw error;
    if (stop.signal.aborted) await output.note(dim("stopped"));
    else await writeError(output, error);
  } finally {
    running.stop = undefined;
    await client.close();
    await output.flush();
  }
}

/** Nothing more will come from the keyboard: that is how a conversation may end. */
const terminalGone = new CliError("hangup", "the terminal has gone");

const pastedCommand = "a pasted text is never run as a command";

/** What an entry asks for; `exit` for the end. */
function jobOf(talk: Talk, { text, isPasted }: Extract<Entry, { type: "text" }>): Job | "exit" {
  const command = parseCommand(text);
  if (!command) {
    const message = text.trim();
    return async (work) => {
      const { files } = talk;
      talk.files = [];
      const question = files.length === 0 ? { message } : { message, fileDescriptors: files };
      await askNext(talk, work, question, nextPlace(talk));
    };
  }
  const { name, argument } = command;
  if (isPasted && Object.hasOwn(slashCommands, name)) {
    const hints = ["type the slash yourself, or begin with a space to send it as a message"];
    return () => Promise.reject(new CliError("usage", pastedCommand, { hints }));
  }
  if (name === "exit" || name === "quit") return "exit";
  return (work) => commandNamed(name).run(talk, work, argument);
}

function untilAborted(signal: AbortSignal): Promise<never> {
  const aborted = new Promise<never>((_resolve, reject) => {
    const stop = (): void => reject(signal.reason as Error);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
  // Without this an abort while nobody waits would count as an unhandled rejection.
  aborted.catch(() => {});
  return aborted;
}

/** The editor on the terminal, and the keyboard that feeds it; Ctrl-C stops what is running. */
function openEditor(
  talk: Talk,
  running: Running,
  fail: (error: unknown) => void,
): { editor: Editor; keyboard: Keyboard } {
  const { output, context } = talk;
  const editor = createEditor({
    write: (sequence) => void output.control(sequence).catch(fail),
    columns: () => output.liveColumns(),
    rows: () => context.terminal?.()?.rows() ?? 24,
    hasColour: output.liveColour,
    history: () => talk.entered(),
    status: () => statusOf(talk),
    complete: createCompleter(talk),
  });
  const keyboard = openKeyboard(context, {
    onKey(key) {
      const name = key.type === "press" ? key.name : "";
      if (name === "ctrl-z") {
        void keyboard.suspend().then(() => editor.redraw());
      } else if (name === "ctrl-c" && running.stop) {
        // As a terminal does: what was typed ahead is not meant any more.
        editor.dropKeys();
        running.stop.abort(new CliError("interrupted", "stopped"));
      } else editor.press(key);
    },
    onResize: () => editor.redraw(),
    onEnd: () => fail(terminalGone),
  });
  return { editor, keyboard };
}

/**
 * A conversation on the terminal, until /exit, Ctrl-D or a signal. Failures of
 * single questions are told and the conversation goes on. Throws CliError for
 * what is wrong from the start, and the reason of an aborted context. The
 * terminal is left as it was.
 */
export async function converse(
  context: Context,
  options: ChatOptions,
  start: Start,
): Promise<void> {
  const connected = await connect(context, options);
  const { output, client } = connected;
  const running: Running = { stop: undefined };
  const broken = new AbortController();
  const fail = (error: unknown): void => broken.abort(error);
  const ended = AbortSignal.any([context.signal, broken.signal]);
  const aborted = untilAborted(ended);
  let talk: Talk | undefined;
  let open: { editor: Editor; keyboard: Keyboard } | undefined;
  try {
    talk = openTalk(context, connected, options, start);
    await beginTalk(talk, { signal: ended, client }, options, start);
    open = openEditor(talk, running, fail);
    for (;;) {
      ended.throwIfAborted();
      const entry = await Promise.race([open.editor.read(), aborted]);
      if (entry.type === "end") break;
      const job = jobOf(talk, entry);
      if (job === "exit") break;
      // A text that only looks like a command would be one when it is recalled.
      if (!entry.text.startsWith("/") || !entry.isPasted) talk.record(entry.text);
      await runJob(connected, ended, running, job);
    }
  } catch (error) {
    if (error !== terminalGone) throw error;
  } finally {
    open?.editor.close();
    open?.keyboard.close();
    await client.close();
  }
  if (talk?.sessionId !== undefined) {
    const flag = talk.memory === undefined ? `--session ${talk.sessionId}` : "--continue";
    await output.note(dim(`session ${talk.sessionId} · go on with: knowctl chat ${flag}`));
  }
}
