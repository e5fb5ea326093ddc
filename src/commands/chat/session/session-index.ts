import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../../../config/file/files.ts";
import { createMachine, stateFolder, type Environment } from "../../../config/find/folders.ts";
import { CliError, codeOf } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";

/** Whose sessions: the same profile name may lead to another service tomorrow. */
export interface SessionOwner {
  profile: string;
  baseUrl: string;
}

/** What this machine remembers of a session it asked in. Never an answer. */
export interface IndexedSession {
  id: string;
  /** The beginning of the first question. */
  title: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
  /** Questions asked from this machine. */
  questions: number;
  /** The answer to the last of them; null where it was not told. */
  messageId: number | null;
}

const mostSessions = 500;
const mostOwners = 100;
const longestTitle = 80;
const largestEntry = 16 * 1024;
const entryName = /^([\w-]{1,200})\.json$/;

function indexFolder(env: Environment): string {
  return join(stateFolder(createMachine({ env, uid: -1 })), "sessions");
}

// FNV-1a, 64 bits: it only has to tell a few addresses apart, and loading node:crypto for it would
// take as long as all else that follows the last word of an answer.
function shortHash(text: string): string {
  let hash = 0xcbf29ce484222325n;
  for (const byte of Buffer.from(text)) {
    hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  }
  return hash.toString(16).padStart(16, "0");
}

function ownerFolder(env: Environment, { profile, baseUrl }: SessionOwner): string {
  const key = shortHash(`${profile}\0${baseUrl}`);
  return join(indexFolder(env), `${profile}-${key}`);
}

function unreadable(path: string, error: unknown): CliError {
  return new CliError("local", `cannot read ${path}: ${codeOf(error) ?? "unknown failure"}`, {
    hints: ["name the session with --session ID"],
    cause: error,
  });
}

/** Names in a folder, the one changed last first. A folder that is missing has none. Throws CliError `local`. */
function newestFirst(folder: string, wanted: RegExp): string[] {
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => wanted.test(name));
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw unreadable(folder, error);
  }
  const dated = names.flatMap((name) => {
    const stats = statSync(join(folder, name), { throwIfNoEntry: false });
    return stats ? [{ name, time: stats.mtimeMs }] : [];
  });
  return dated.toSorted((a, b) => b.time - a.time).map(({ name }) => name);
}

function isText(value: unknown): value is string {
  return typeof value === "string";
}

/** One entry; undefined for a file that is damaged, or gone since it was listed. */
function readEntry(folder: string, name: string): IndexedSession | undefined {
  const path = join(folder, name);
  try {
    if (statSync(path).size > largestEntry) return undefined;
    const { title, createdAt, updatedAt, questions, messageId } = JSON.parse(
      readFileSync(path, "utf8"),
    ) as Record<string, unknown>;
    if (!isText(title) || !isText(createdAt) || !isText(updatedAt)) return undefined;
    return {
      id: entryName.exec(name)?.[1] ?? "",
      title,
      createdAt,
      updatedAt,
      questions: Number.isSafeInteger(questions) ? Number(questions) : 1,
      messageId: Number.isSafeInteger(messageId) ? Number(messageId) : null,
    };
  } catch {
    return undefined;
  }
}

/**
 * Sessions that this machine asked in with this profile, the one used last
 * first. Damaged entries are left out. Throws CliError `local` where the folder
 * cannot be read.
 */
export function* indexedSessions(env: Environment, owner: SessionOwner): Generator<IndexedSession> {
  const folder = ownerFolder(env, owner);
  for (const name of newestFirst(folder, entryName)) {
    const entry = readEntry(folder, name);
    if (entry) yield entry;
  }
}

/** One session of the index by its whole id. */
export function indexedSession(
  env: Environment,
  owner: SessionOwner,
  id: string,
): IndexedSession | undefined {
  const name = `${id}.json`;
  return entryName.test(name) ? readEntry(ownerFolder(env, owner), name) : undefined;
}

/** The session that this profile used last. Throws CliError `not-found` where there is none. */
export function lastSession(env: Environment, owner: SessionOwner): IndexedSession {
  for (const session of indexedSessions(env, owner)) return session;
  throw new CliError("not-found", `profile ${owner.profile} has no session to continue`, {
    hints: ["ask without --continue to begin one, or name one with --session ID"],
  });
}

/** The beginning of a question on one line, at most 80 characters. */
export function titleOf(question: string): string {
  const line = neutraliseLine(question.slice(0, 2000)).replace(/\s+/g, " ").trim();
  // Never more characters than code units; the segmenter takes time to load.
  if (line.length <= longestTitle) return line;
  const characters = [...new Intl.Segmenter().segment(line)];
  if (characters.length <= longestTitle) return line;
  const kept = characters.slice(0, longestTitle - 1).map(({ segment }) => segment);
  return `${kept.join("")}…`;
}

// Another process may do the same at the same time: what is gone already is fine.
function dropOldest(folder: string, most: number): void {
  if (readdirSync(folder).length <= most) return;
  for (const name of newestFirst(folder, /./).slice(most)) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes an entry; the time of its file is that of the last question, by which files are ordered. */
function writeEntry(folder: string, { id, ...entry }: IndexedSession): void {
  const path = join(folder, `${id}.json`);
  writeWhole(path, `${JSON.stringify({ version: 1, ...entry })}\n`, { flush: false });
  const time = new Date(entry.updatedAt);
  try {
    utimesSync(path, time, time);
  } catch {
    // Another process has removed it meanwhile, or the time is none: only the order suffers.
  }
}

/**
 * Records that a question was asked in a session: a file of its own per session,
 * replaced whole, so that processes that ask at the same time cannot damage each
 * other's entries. Holds no answer. Throws CliError `local`.
 */
export function recordQuestion(
  env: Environment,
  owner: SessionOwner,
  asked: { sessionId: string; messageId: number | null; title: string; now: number },
): void {
  const name = `${asked.sessionId}.json`;
  if (!entryName.test(name)) return;
  const folder = ownerFolder(env, owner);
  const known = readEntry(folder, name);
  const time = new Date(asked.now).toISOString();
  const isNewOwner = !known && !existsSync(folder);
  writeEntry(folder, {
    id: asked.sessionId,
    title: known?.title || asked.title,
    createdAt: known?.createdAt ?? time,
    updatedAt: time,
    questions: (known?.questions ?? 0) + 1,
    messageId: asked.messageId,
  });
  if (known) return;
  try {
    dropOldest(folder, mostSessions);
    if (isNewOwner) dropOldest(indexFolder(env), mostOwners);
  } catch (error) {
    throw unreadable(folder, error);
  }
}

/** Gives a session of the index another title; one that is not in it is left alone. Throws CliError `local`. */
export function retitle(env: Environment, owner: SessionOwner, id: string, title: string): void {
  const known = indexedSession(env, owner, id);
  if (!known) return;
  writeEntry(ownerFolder(env, owner), { ...known, title: titleOf(title) });
}

/** Takes a session out of the index. Throws CliError `local`. */
export function forgetSession(env: Environment, owner: SessionOwner, id: string): void {
  if (!entryName.test(`${id}.json`)) return;
  const path = join(ownerFolder(env, owner), `${id}.json`);
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw new CliError("local", `cannot remove ${path}: ${codeOf(error) ?? "unknown failure"}`, {
      cause: error,
    });
  }
}
