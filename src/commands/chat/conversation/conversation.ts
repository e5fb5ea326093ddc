import type { Context } from "../../../context.ts";
import { writeError } from "../../../output/terminal/output.ts";
import { type Connected, connect } from "../../connect.ts";
import { viewOf } from "../ask.ts";
import type { LocalFile } from "../../files/local.ts";
import { type ChatOptions, parametersOf, switchOf } from "../options.ts";
import { findSession } from "../session/find-session.ts";
import { lastSession, isLastSession } from "../session/session-index.ts";
import { openHistory } from "./history.ts";
import { resumeSession } from "./choices.ts";
import { attach, hint, placeOf, type Settings, type Talk, type Work, statusOf } from "./talk.ts";
import { ClosedPipeError, CliError } from "../../../errors.ts";
import {
  createEditor,
  type Entry,
  createInputReader,
  type Input,
} from "../../../output/terminal/editor.ts";
import { dim } from "../../../output/terminal/text.ts";
import { untilAborted } from "../../concurrency.ts";
import { askNext, nextPlace } from "./answers.ts";
import { commandNames, commandOf, parseCommand } from "./commands.ts";
import { createCompleter } from "./completion.ts";

/** Input that one-shot chat has checked before it starts a conversation. */
export interface Start {
  /** Members of a `--payload` file. */
  payload: Record<string, unknown> | undefined;
  files: readonly LocalFile[];
  /** The file of `--save`. */
  save: string | undefined;
}

/** Separates the payload's members of the conversation from those of each question. */
function splitPayload(payload: Start["payload"]) {
  const { chat_session_id, parent_message_id, stream, ...extra } = payload ?? {};
  return {
    sessionId: typeof chat_session_id === "string" ? chat_session_id : "",
    parent: typeof parent_message_id === "number" ? parent_message_id : undefined,
    stream: typeof stream === "boolean" ? stream : undefined,
    extra: Object.keys(extra).length === 0 ? undefined : extra,
  };
}

/** The initial conversation from flags and configuration. Throws CliError. */
function openTalk(
  context: Context,
  connected: Connected,
  options: ChatOptions,
  start: Start,
): Talk {
  const { client, config, connection, output } = connected;
  const settings = config.chat;
  const {
    sessionId: _session,
    parentMessageId,
    ...base
  } = parametersOf(options, settings, client.dialect, context.now());
  const payload = splitPayload(start.payload);
  const owner = { profile: config.profile, baseUrl: connection.baseUrl };
  const isRemembered = switchOf(options, "remember", settings.remember);
  const given = { env: context.env, profile: config.profile };
  const history = openHistory(
    given,
    { isKept: isRemembered, redact: (text) => output.secrets.redact(text) },
    (problem) => void output.warn(problem).catch(() => {}),
  );
  const extra = payload.extra === undefined ? {} : { extra: payload.extra };
  return {
    context,
    output,
    client,
    owner,
    memory: isRemembered ? owner : undefined,
    view: viewOf(context, options, connected, "text"),
    whole: !(payload.stream ?? switchOf(options, "stream", settings.stream)),
    limits: { lineBytes: options.maxPacket },
    save: start.save,
    history,
    settings: { ...base, ...extra } as Settings,
    sessionId: undefined,
    parent: parentMessageId ?? payload.parent,
    last: null,
    files: [],
    exchanges: [],
    warned: new Set(),
    mayRepeat: false,
  };
}

async function resumeRequested(
  talk: Talk,
  work: Work,
  options: ChatOptions,
  start: Start,
): Promise<void> {
  const { context, owner, parent } = talk;
  const named = splitPayload(start.payload).sessionId || options.session;
  if (named === undefined && !options.continue) return;
  const id =
    named === undefined
      ? lastSession(context.env, owner).id
      : await findSession(placeOf(talk, work), named);
  await resumeSession(talk, work, id);
  talk.parent = parent;
}

/**
 * Prepares the first prompt: resumes the session of the flags, shows its last exchange, and
 * uploads the files of `--file`. Throws CliError if any of these fails: the conversation then
 * does not start.
 */
async function beginTalk(
  talk: Talk,
  work: Work,
  options: ChatOptions,
  start: Start,
): Promise<void> {
  const { output, settings, owner } = talk;
  const profile = owner.profile === "default" ? "" : `${owner.profile} · `;
  const where = `${profile}${owner.baseUrl}`;
  const how = "/help lists the commands, Ctrl-D leaves";
  const isWide = where.length + how.length + 3 <= output.columns();
  await hint(talk, isWide ? `${where} · ${how}` : `${where}\n${how}`);
  if (settings.deepResearch) {
    await hint(talk, "deep research consumes significantly more tokens than an ordinary question");
  }
  await resumeRequested(talk, work, options, start);
  await attach(talk, work, start.files, options.fileId ?? []);
}

const bracketedPasteOn = "\u001b[?2004h";
const bracketedPasteOff = "\u001b[?2004l";

/** Reads the terminal's keys until it is closed. `onEnd`: the terminal was closed. */
export function openKeyboard(
  context: Pick<Context, "stdin" | "terminal">,
  listener: { onInput(input: Input): void; onResize(): void; onEnd(): void },
) {
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
    /** Returns the terminal to the shell until the job is in the foreground again. */
    async suspend(): Promise<void> {
      if (!terminal) return;
      releaseKeys();
      await terminal.suspend();
      releaseKeys = acquireKeys();
    },
    /** Restores the terminal's modes. */
    close(): void {
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
  { output, clientUntil }: Connected,
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
function openEditor(talk: Talk, running: Running, fail: (error: unknown) => void) {
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
  let open: ReturnType<typeof openEditor> | undefined;
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
      if (!entry.text.startsWith("/") || !entry.isPasted) await talk.history.add(entry.text);
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
