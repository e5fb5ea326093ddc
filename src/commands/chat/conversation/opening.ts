import type { ChatOptions } from "../options/chat-options.ts";
import type { Context } from "../../../context.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { dim } from "../../../output/terminal/text.ts";
import type { Connected } from "../../connect.ts";
import { viewOf } from "../ask.ts";
import { describeFiles, type LocalFile } from "../files.ts";
import { findSession } from "../session/find-session.ts";
import { parametersOf, switchOf } from "../options/options.ts";
import { lastSession } from "../session/session-index.ts";
import { resumeSession } from "./slash/session-commands.ts";
import type { Settings, Talk, Work } from "./talk.ts";
import {
  appendFileSync,
  chmodSync,
  openSync,
  closeSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { createMachine, stateFolder, type Environment } from "../../../config/find/folders.ts";
import { codeOf, writeProblem } from "../../../errors.ts";
import { makeFolder } from "../../../make-folder.ts";
import { inertPaste } from "../../../output/terminal/keys.ts";

/** Entries of conversations of one profile, across runs and processes. */
interface History {
  /** The oldest first. */
  list(): readonly string[];
  /** Records an entry, unless it begins with a space, is too long, or repeats the last entry. */
  add(text: string): void;
}

const maxEntryLength = 10_000;
/** A larger file is rotated; at most two files are kept. */
const maxFileBytes = 512 * 1024;
const maxEntries = 2000;
const staleLockMs = 60_000;

function readEntries(path: string): string[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return [];
  }
  return text.split("\n").flatMap((line) => {
    try {
      const entry: unknown = JSON.parse(line);
      return typeof entry === "string" ? [inertPaste(entry)] : [];
    } catch {
      // A line cut by a full disk, or written by another program.
      return [];
    }
  });
}

function isLarge(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > maxFileBytes;
}

/** Acquires the rotation lock; false if another process has it. */
function acquireLock(path: string, now: number): boolean {
  const lockedAt = statSync(path, { throwIfNoEntry: false })?.mtimeMs;
  if (lockedAt !== undefined && now - lockedAt > staleLockMs) rmSync(path, { force: true });
  try {
    closeSync(openSync(path, "wx", 0o600));
    return true;
  } catch {
    return false;
  }
}

/**
 * Renames a large file instead of rewriting it: an entry that another process appends
 * meanwhile is in one of the two files. The lock prevents a second rename, which would
 * overwrite the first renamed file.
 */
function rotate(path: string, now: number): void {
  if (!isLarge(path)) return;
  const lock = `${path}.lock`;
  if (!acquireLock(lock, now)) return;
  try {
    if (isLarge(path)) renameSync(path, `${path}.1`);
  } finally {
    rmSync(lock, { force: true });
  }
}

/**
 * Opens the history of a profile: a file of JSON strings, one per line, readable only by its
 * owner. Each entry is one append, so that concurrent processes lose no entry. The first
 * write failure goes to `warn`. Without `isKept`, nothing is read or written.
 */
export function openHistory(
  given: { env: Environment; profile: string; now(): number },
  { isKept, redact }: { isKept: boolean; redact(text: string): string },
  warn: (problem: string) => void,
): History {
  const folder = join(stateFolder(createMachine({ env: given.env, uid: -1 })), "history");
  const path = join(folder, `${given.profile}.ndjson`);
  const entries = !isKept
    ? []
    : [...readEntries(`${path}.1`), ...readEntries(path)].slice(-maxEntries);
  let hasWarned = false;
  const append = (text: string): void => {
    makeFolder(dirname(path), 0o700);
    rotate(path, given.now());
    // The line break is first, so that a line cut by a full disk damages no other line.
    appendFileSync(path, `\n${JSON.stringify(text)}`, { mode: 0o600 });
    // The file may have been created by hand or by another program.
    if ((statSync(path).mode & 0o077) !== 0) chmodSync(path, 0o600);
  };
  return {
    list: () => entries,
    add(text) {
      if (/^\s/.test(text) || text.length > maxEntryLength || text === entries.at(-1)) return;
      // A text with a secret is not recorded: it is useless after redaction.
      if (redact(text) !== text) return;
      entries.push(text);
      if (entries.length > maxEntries) entries.shift();
      if (!isKept) return;
      try {
        append(text);
      } catch (error) {
        if (!hasWarned) warn(`the history cannot be saved: ${writeProblem(codeOf(error))}`);
        hasWarned = true;
      }
    },
  };
}

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
export function openTalk(
  context: Context,
  connected: Connected & { output: Output },
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
  const given = { env: context.env, profile: config.profile, now: () => context.now() };
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
    entered: () => history.list(),
    record: (text) => history.add(text),
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
  const place = { env: context.env, client: work.client, owner };
  const id =
    named === undefined ? lastSession(context.env, owner).id : await findSession(place, named);
  await resumeSession(talk, work, id);
  talk.parent = parent;
}

/**
 * Prepares the first prompt: resumes the session of the flags, shows its last exchange, and
 * uploads the files of `--file`. Throws CliError if any of these fails: the conversation then
 * does not start.
 */
export async function beginTalk(
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
  await output.note(dim(isWide ? `${where} · ${how}` : `${where}\n${how}`));
  if (settings.deepResearch) {
    await output.note(
      dim("deep research consumes significantly more tokens than an ordinary question"),
    );
  }
  await resumeRequested(talk, work, options, start);
  const { now, elapsed, sleep } = talk.context;
  const upload = {
    context: { now, elapsed, sleep, signal: work.signal },
    client: work.client,
    output,
  };
  talk.files = await describeFiles(upload, start.files, options.fileId ?? []);
}
