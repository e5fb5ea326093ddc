import type { ChatOptions } from "../options.ts";
import type { Context } from "../../../context.ts";
import { ClosedPipeError, CliError } from "../../../errors.ts";
import {
  createEditor,
  type Editor,
  type Entry,
  createInputReader,
  type Input,
} from "../../../output/terminal/editor.ts";
import { writeError, type Output } from "../../../output/terminal/output.ts";
import { dim } from "../../../output/terminal/text.ts";
import { connect, type Connected } from "../../connect.ts";
import { untilAborted } from "../message.ts";
import { isLastSession } from "../session/session-index.ts";
import { askNext, nextPlace } from "./answers.ts";
import { commandNames, commandOf, parseCommand } from "./commands.ts";
import { createCompleter } from "./completion.ts";
import { beginTalk, openTalk, type Start } from "./opening.ts";
import { statusOf, type Talk, type Work } from "./talk.ts";

/** The terminal's keys, one by one. */
export interface Keyboard {
  /** Returns the terminal to the shell until the job is in the foreground again. */
  suspend(): Promise<void>;
  /** Restores the terminal's modes. */
  close(): void;
}

export interface KeyboardListener {
  onInput(input: Input): void;
  onResize(): void;
  /** The input has ended: the terminal was closed. */
  onEnd(): void;
}

const bracketedPasteOn = "\u001b[?2004h";
const bracketedPasteOff = "\u001b[?2004l";

/** Reads the terminal's keys until it is closed. */
export function openKeyboard(context: Context, listener: KeyboardListener): Keyboard {
  const { stream } = context.stdin;
  const terminal = context.terminal?.();
  const acquireKeys = (): (() => void) =>
    terminal?.takeKeys(bracketedPasteOn, bracketedPasteOff) ?? (() => {});
  let releaseKeys = acquireKeys();
  const readInputs = createInputReader();
  const onData = (chunk: Uint8Array): void => {
    for (const input of readInputs(chunk)) listener.onInput(input);
  };
  const onEnd = (): void => listener.onEnd();
  stream.on("data", onData).on("end", onEnd).on("error", onEnd).on("close", onEnd);
  // A question asked before (trust, a folder) has paused the stream; a listener does not resume it.
  stream.resume();
  const stopResizing = terminal?.onResize(() => listener.onResize());
  return {
    async suspend() {
      if (!terminal) return;
      releaseKeys();
      await terminal.suspend();
      releaseKeys = acquireKeys();
    },
    close() {
      stopResizing?.();
      stream.off("data", onData).off("end", onEnd).off("close", onEnd);
      // The error listener stays: a late error must not be thrown.
      stream.pause();
      releaseKeys();
    },
  };
}

/** The job that Ctrl-C stops. */
interface Running {
  stop: AbortController | undefined;
}

type Job = (work: Work) => Promise<void>;

/** Runs a job that Ctrl-C stops. Reports its failure; throws only what ends the conversation. */
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

/** The end of the keyboard input; it ends a conversation without an error. */
const terminalGone = new CliError("hangup", "the terminal was closed");

const pastedCommand = "pasted text is never run as a command";

/** The job of an entry; `exit` ends the conversation. */
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
  const { argument } = command;
  const name = command.name === "quit" ? "exit" : command.name;
  if (isPasted && commandNames.includes(name)) {
    const hints = ["type the slash yourself, or begin with a space to send it as a message"];
    return () => Promise.reject(new CliError("usage", pastedCommand, { hints }));
  }
  if (name === "exit" && argument === "") return "exit";
  return (work) => commandOf({ name, argument })(talk, work, argument);
}

const ctrlC = "\u0003";
const ctrlZ = "\u001a";

/** Opens the editor and its keyboard. Ctrl-C stops the running job. */
function openEditor(
  talk: Talk,
  running: Running,
  fail: (error: unknown) => void,
): { editor: Editor; keyboard: Keyboard } {
  const { output, context } = talk;
  const editor = createEditor({
    write: (sequence) => void output.control(sequence).catch(fail),
    columns: () => output.liveColumns(),
    hasColour: output.liveColour,
    history: () => talk.history.list(),
    status: () => statusOf(talk),
    complete: createCompleter(talk),
  });
  const keyboard = openKeyboard(context, {
    onInput(input) {
      const key = input.type === "key" ? input.text : "";
      if (key === ctrlZ) {
        void keyboard.suspend().then(() => editor.redraw());
      } else if (key === ctrlC && running.stop) {
        // As in a terminal, Ctrl-C also discards keys that were typed ahead.
        editor.dropKeys();
        running.stop.abort(new CliError("interrupted", "stopped"));
      } else editor.press(input);
    },
    onResize: () => editor.redraw(),
    onEnd: () => fail(terminalGone),
  });
  return { editor, keyboard };
}

/**
 * Runs a conversation on the terminal until /exit, Ctrl-D or a signal. Reports failures of
 * single questions and continues. Throws CliError for errors at the start, and the reason of
 * an aborted context. Restores the terminal's modes.
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
      // A pasted text with a slash would run as a command when recalled from the history.
      if (!entry.text.startsWith("/") || !entry.isPasted) talk.history.add(entry.text);
      await runJob(connected, ended, running, job);
    }
  } catch (error) {
    if (error !== terminalGone) throw error;
  } finally {
    open?.editor.close();
    open?.keyboard.close();
    await client.close();
  }
  if (talk?.sessionId !== undefined && context.trialFiles === undefined) {
    // --continue takes the session that was asked last, not one that was only entered.
    const isLast =
      talk.memory !== undefined && isLastSession(context.env, talk.owner, talk.sessionId);
    const flag = isLast ? "--continue" : `--session ${talk.sessionId}`;
    await output.note(dim(`session ${talk.sessionId} · continue with: \`knowctl chat ${flag}\``));
  }
}
