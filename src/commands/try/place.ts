import { createHash, randomUUID } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";
import { pathToFileURL } from "node:url";
import type { Context } from "../../context.ts";
import { CliError, codeOf, writeProblem } from "../../errors.ts";
import { makeFolder } from "../../make-folder.ts";
import { defaultPairs } from "../../sandbox/store/pairs/connectors.ts";
import { machineOf } from "../config/files.ts";

/** The pair of the sandbox that takes uploads. */
const pair = 2;
const profile = "try";

/** The folder of the local service, and of what the commands write for themselves. */
export interface Place {
  folder: string;
  /** Key of the service: other users of this machine could guess the public one. */
  key: string;
  /** Data of the service. */
  data: string;
  isKept: boolean;
  /** Removes the folder, but data that is kept. */
  remove(): void;
}

function dataFolder(context: Context): string {
  const base = context.env["XDG_DATA_HOME"];
  // By the XDG rules, a relative path is ignored.
  const isUsable = base !== undefined && isAbsolute(base);
  return join(isUsable ? base : join(machineOf(context).home, ".local", "share"), "knowctl", "try");
}

function makeTemporary(): string {
  try {
    return mkdtempSync(join(tmpdir(), "knowctl-try-"));
  } catch (error) {
    throw new CliError("local", `cannot write to ${tmpdir()}: ${writeProblem(codeOf(error))}`, {
      hints: ["set TMPDIR to another folder for temporary files"],
      cause: error,
    });
  }
}

function removeKept(data: string): void {
  try {
    rmSync(data, { recursive: true, force: true });
    // rmSync says nothing of a file in place of a folder above, from Node 22 on.
    makeFolder(dirname(data));
  } catch (error) {
    throw new CliError("local", `cannot replace ${data}: ${writeProblem(codeOf(error))}`, {
      hints: ["set XDG_DATA_HOME to another folder, or leave out --keep"],
      cause: error,
    });
  }
}

/**
 * Opens a place in a temporary folder. With `isKept` the data is in the user's data folder instead,
 * without what an earlier trial of the same documents left there. Throws CliError `local`.
 */
export function openPlace(context: Context, documents: string, isKept: boolean): Place {
  const name = createHash("sha256").update(documents).digest("hex").slice(0, 12);
  const kept = join(dataFolder(context), name);
  if (isKept) removeKept(kept);
  const folder = makeTemporary();
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  const data = isKept ? kept : join(folder, "service");
  return { folder, key: randomUUID(), data, isKept, remove };
}

/** The environment of the commands that are run: no setting of the user's reaches them. */
export function environmentOf(context: Context, { folder }: Place): Context["env"] {
  const own = Object.entries(context.env).filter(([name]) => !name.startsWith("KNOWCTL_"));
  const places = ["XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "APPDATA", "LOCALAPPDATA"];
  return {
    ...Object.fromEntries(own),
    ...Object.fromEntries(places.map((name) => [name, folder])),
  };
}

/** The pairs of the local service: one has a name that fits. */
export const pairs = defaultPairs.map((each) =>
  each.cc_pair_id === pair ? { ...each, name: "Your documents" } : each,
);

/**
 * Writes the configuration of the commands; returns its path. The link of a document is the
 * address of its file, so that a source opens the file.
 */
export function writeConfig(
  { folder, key }: Place,
  documents: string,
  { baseUrl, dialect }: { baseUrl: string; dialect: string },
): string {
  const path = join(folder, "config.json");
  const connection = { baseUrl, dialect, apiKey: key };
  const content = {
    defaultProfile: profile,
    profiles: { [profile]: { ...connection, ingest: { ccPairId: pair } } },
    ingest: { sections: "headings", link: `${pathToFileURL(documents).href}/{path}` },
  };
  writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
  return path;
}

/** Puts the questions into the history of the conversation, the first one nearest. */
export function writeHistory({ folder }: Place, questions: readonly string[]): void {
  const history = join(folder, "knowctl", "history");
  makeFolder(history, 0o700);
  const lines = questions.toReversed().map((each) => `${JSON.stringify(each)}\n`);
  writeFileSync(join(history, `${profile}.ndjson`), lines.join(""), { mode: 0o600 });
}
