import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { userInfo } from "node:os";
import { dirname, join } from "node:path";
import { loadConfig, type Config, type LoadRequest } from "../../src/config/load.ts";
import type { CliError } from "../../src/errors.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";

export interface Desk {
  home: string;
  /** A git checkout. */
  project: string;
  env: Record<string, string>;
  warnings: string[];
  /** Writes a file below the project; objects become JSON. */
  put(path: string, content: unknown): string;
  /** Writes the user file, mode 0600. */
  putUser(content: unknown, name?: string): string;
  load(request?: Partial<LoadRequest>): Promise<Config>;
}

function textOf(content: unknown): string {
  return typeof content === "string" ? content : JSON.stringify(content, null, 2);
}

/** A home folder and a git checkout of their own, and loadConfig() inside them. */
export function createDesk(env: Record<string, string> = {}): Desk {
  const home = temporaryFolder();
  const project = join(home, "project");
  mkdirSync(join(project, ".git"), { recursive: true });
  const warnings: string[] = [];
  const write = (path: string, content: unknown, mode: number): string => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, textOf(content));
    chmodSync(path, mode);
    return path;
  };
  const desk: Desk = {
    home,
    project,
    env: cleanEnvironment(home, env),
    warnings,
    put: (path, content) => write(join(project, path), content, 0o644),
    putUser: (content, name = "config.json") =>
      write(join(home, "config", "knowctl", name), content, 0o600),
    load: (request = {}) =>
      loadConfig({
        cwd: project,
        env: desk.env,
        flags: {},
        sends: true,
        warn: (message) => warnings.push(message),
        uid: userInfo().uid,
        home,
        ...request,
      }),
  };
  return desk;
}

/** The CliError that a promise ends with; fails when it does not. */
export async function failureOf(work: Promise<unknown>): Promise<CliError & { whole: string }> {
  try {
    await work;
  } catch (error) {
    const failure = error as CliError;
    const whole = [failure.message, ...(failure.details ?? []), ...(failure.hints ?? [])].join(
      "\n",
    );
    return Object.assign(failure, { whole });
  }
  throw new Error("expected a failure");
}
