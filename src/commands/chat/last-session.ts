import { readFileSync } from "node:fs";
import { join } from "node:path";
import { writeWhole } from "../../config/files.ts";
import { createMachine, stateFolder, type Environment } from "../../config/folders.ts";
import { CliError, codeOf } from "../../errors.ts";

/** Whose last session: the same profile name may lead to another service tomorrow. */
export interface SessionOwner {
  profile: string;
  baseUrl: string;
}

interface Remembered {
  profile: string;
  baseUrl: string;
  sessionId: string;
}

function sessionsFile(env: Environment): string {
  return join(stateFolder(createMachine({ env, uid: -1 })), "sessions.json");
}

function isRemembered(value: unknown): value is Remembered {
  if (typeof value !== "object" || value === null) return false;
  const { profile, baseUrl, sessionId } = value as Record<string, unknown>;
  return [profile, baseUrl, sessionId].every((each) => typeof each === "string" && each !== "");
}

/** Every remembered session; a file that is missing or broken holds none. Throws for one that cannot be read. */
function readSessions(path: string): Remembered[] {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (codeOf(error) === "ENOENT") return [];
    throw new CliError("local", `cannot read ${path}: ${codeOf(error) ?? "unknown failure"}`, {
      hints: ["name the session with --session ID"],
      cause: error,
    });
  }
  try {
    const { sessions } = JSON.parse(text) as { sessions?: unknown };
    return Array.isArray(sessions) ? sessions.filter(isRemembered) : [];
  } catch {
    return [];
  }
}

function belongsTo(owner: SessionOwner): (each: Remembered) => boolean {
  return (each) => each.profile === owner.profile && each.baseUrl === owner.baseUrl;
}

/** Session of the last chat of this profile. Throws CliError `not-found` where there is none. */
export function readLastSession(env: Environment, owner: SessionOwner): string {
  const found = readSessions(sessionsFile(env)).find(belongsTo(owner));
  if (found) return found.sessionId;
  throw new CliError("not-found", `profile ${owner.profile} has no session to continue`, {
    hints: ["ask without --continue to begin one, or name one with --session ID"],
  });
}

const mostSessions = 200;

/** Remembers a session for `--continue`, in a file that only its owner can read. Throws CliError `local`. */
export function rememberSession(env: Environment, owner: SessionOwner, sessionId: string): void {
  const path = sessionsFile(env);
  const others = readSessions(path).filter((each) => !belongsTo(owner)(each));
  const sessions = [{ ...owner, sessionId }, ...others].slice(0, mostSessions);
  writeWhole(path, `${JSON.stringify({ version: 1, sessions }, null, 2)}\n`);
}
