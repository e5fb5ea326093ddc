import { hash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../../../config/file/files.ts";
import { createMachine, stateFolder, type Environment } from "../../../config/find/folders.ts";
import { CliError, codeOf, fileProblem, writeProblem } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";

/** Owner of sessions. The URL counts too: a profile name may point to another service later. */
export interface SessionOwner {
  profile: string;
  baseUrl: string;
}

/** A session with questions from this machine. Never holds an answer. */
export interface IndexedSession {
  id: string;
  /** The beginning of the first question. */
  title: string;
  /** ISO 8601, UTC. */
  createdAt: string;
  updatedAt: string;
  /** Questions asked from this machine. */
  questions: number;
  /** Id of the last answer; null if the service did not report it. */
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

function ownerFolder(env: Environment, { profile, baseUrl }: SessionOwner): string {
  const key = hash("sha256", `${profile}\0${baseUrl}`, "hex").slice(0, 16);
  return join(indexFolder(env), `${profile}-${key}`);
}

function unreadable(path: string, error: unknown): CliError {
  return new CliError("local", `cannot read ${path}: ${fileProblem(codeOf(error))}`, {
    hints: ["select the session with --session ID"],
    cause: error,
  });
}

/** Names in a folder, newest first. A missing folder has no names. Throws CliError `local`. */
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

/** One entry; undefined for a damaged file, or one deleted since it was listed. */
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
 * Sessions with questions from this machine and profile, last used first. Damaged entries
 * are skipped. Throws CliError `local` if the folder cannot be read.
 */
export function* indexedSessions(env: Environment, owner: SessionOwner): Generator<IndexedSession> {
  const folder = ownerFolder(env, owner);
  for (const name of newestFirst(folder, entryName)) {
    const entry = readEntry(folder, name);
    if (entry) yield entry;
  }
}

/** One session of the index by its full id. */
export function indexedSession(
  env: Environment,
  owner: SessionOwner,
  id: string,
): IndexedSession | undefined {
  const name = `${id}.json`;
  return entryName.test(name) ? readEntry(ownerFolder(env, owner), name) : undefined;
}

/** The session that this profile used last. Throws CliError `not-found` without any session. */
export function lastSession(env: Environment, owner: SessionOwner): IndexedSession {
  for (const session of indexedSessions(env, owner)) return session;
  const why = `profile ${owner.profile} has asked nothing from this machine yet`;
  throw new CliError("not-found", `${why}: there is no last session`, {
    hints: ["ask a question to begin one, or use an id from: knowctl sessions list"],
  });
}

/** Whether `--continue` takes this session. */
export function isLastSession(env: Environment, owner: SessionOwner, id: string): boolean {
  try {
    return lastSession(env, owner).id === id;
  } catch {
    // No session, or an index that cannot be read: --continue fails.
    return false;
  }
}

/** The beginning of a question on one line, at most 80 characters. */
export function titleOf(question: string): string {
  const line = neutraliseLine(question.slice(0, 2000)).replace(/\s+/g, " ").trim();
  // Characters are never more than code units; loading the segmenter costs time.
  if (line.length <= longestTitle) return line;
  const characters = [...new Intl.Segmenter().segment(line)];
  if (characters.length <= longestTitle) return line;
  const kept = characters.slice(0, longestTitle - 1).map(({ segment }) => segment);
  return `${kept.join("")}…`;
}

// Another process may remove the same files at the same time: a missing file is no error.
function dropOldest(folder: string, most: number): void {
  if (readdirSync(folder).length <= most) return;
  for (const name of newestFirst(folder, /./).slice(most)) {
    rmSync(join(folder, name), { recursive: true, force: true });
  }
}

/** Writes an entry. The file's mtime is the time of the last question: listings sort by it. */
function writeEntry(folder: string, { id, ...entry }: IndexedSession): void {
  const path = join(folder, `${id}.json`);
  writeWhole(path, `${JSON.stringify({ version: 1, ...entry })}\n`, { flush: false });
  const time = new Date(entry.updatedAt);
  try {
    utimesSync(path, time, time);
  } catch {
    // Another process has removed the file, or the time is invalid: only the order is wrong.
  }
}

/**
 * Records a question of a session. Each session has its own file, replaced as a whole, so
 * that concurrent processes cannot damage each other's entries. Stores no answer. Throws
 * CliError `local`.
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

/** Changes the title of a session in the index; ignores an unknown session. Throws CliError `local`. */
export function retitle(env: Environment, owner: SessionOwner, id: string, title: string): void {
  const known = indexedSession(env, owner, id);
  if (!known) return;
  writeEntry(ownerFolder(env, owner), { ...known, title: titleOf(title) });
}

/** Removes a session from the index. Throws CliError `local`. */
export function forgetSession(env: Environment, owner: SessionOwner, id: string): void {
  if (!entryName.test(`${id}.json`)) return;
  const path = join(ownerFolder(env, owner), `${id}.json`);
  try {
    rmSync(path, { force: true });
  } catch (error) {
    throw new CliError("local", `cannot remove ${path}: ${writeProblem(codeOf(error))}`, {
      hints: ["check the permissions of its folder"],
      cause: error,
    });
  }
}
