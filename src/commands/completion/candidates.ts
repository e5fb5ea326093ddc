import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { isOffered, readNames, type Named, type NameKind } from "./names.ts";
import type { Position } from "./position.ts";
import { readProfiles, type Place, type Profiles } from "./profiles.ts";
import type { CompletionTable, Takes } from "../../config/command-table.ts";

/** A candidate for the current word; `text` explains it, neutralised and short. */
export interface Candidate {
  value: string;
  text: string;
}

export interface Offer {
  candidates: Candidate[];
  /** The shell also completes names of files or folders. */
  paths?: "files" | "directories";
  /** The order has a meaning: last used first. */
  ordered?: true;
}

const longestText = 60;
const mostSessions = 50;

function short(text: string): string {
  const line = neutraliseLine(text.slice(0, 4 * longestText)).trim();
  const characters = [...line];
  return characters.length > longestText
    ? `${characters.slice(0, longestText - 1).join("")}…`
    : line;
}

function words(values: readonly string[]): Offer {
  return { candidates: values.map((value) => ({ value, text: "" })) };
}

function byName(names: readonly Named[]): Candidate[] {
  return names.map(({ id, name, text }) => ({ value: name, text: [id, text].join(" ").trim() }));
}

function byId(names: readonly Named[]): Candidate[] {
  return names.map(({ id, name, text }) => ({
    value: String(id),
    text: [name, text].join("  ").trim(),
  }));
}

async function sessions(place: Place, { profile, baseUrl }: Profiles): Promise<Offer> {
  const last = { value: "last", text: "the session used last" };
  if (baseUrl === undefined) return { candidates: [last] };
  // Loaded on demand: loading costs time.
  const { indexedSessions } = await import("../chat/session/session-index.ts");
  const candidates = [last];
  try {
    for (const { id, title } of indexedSessions(place.env, { profile, baseUrl })) {
      candidates.push({ value: id, text: title });
      if (candidates.length > mostSessions) break;
    }
  } catch {
    // Without a readable folder, there are no candidates.
  }
  return { candidates, ordered: true };
}

/** Completes the last word of a comma-separated list; words already in it are not offered. */
function inList(list: readonly string[], typed: string): Offer {
  const before = typed.slice(0, typed.lastIndexOf(",") + 1);
  const given = new Set(before.split(","));
  return words(list.filter((word) => !given.has(word)).map((word) => before + word));
}

async function ofService(
  kind: Takes,
  typed: string,
  place: Place,
  profiles: Profiles,
): Promise<Offer> {
  const { profile, baseUrl } = profiles;
  const names = (of: NameKind): Named[] =>
    baseUrl === undefined ? [] : readNames(place.env, of, { profile, baseUrl }, place.now);
  if (kind === "session") return await sessions(place, profiles);
  if (kind === "agent") return { candidates: byId(names("agents")) };
  if (kind === "tool") return { candidates: byId(names("tools")) };
  const connectors = names("connectors");
  if (kind === "connector") return { candidates: byName(connectors) };
  if (kind === "source") return words([...new Set(connectors.map(({ text }) => text))]);
  // The argument may be an id or a name: a typed digit selects the ids.
  const isName = kind === "connector-or-pair" && !/^\d/.test(typed);
  return { candidates: isName ? byName(connectors) : byId(connectors) };
}

async function offerValue(
  takes: Takes,
  typed: string,
  place: Place,
  position: Position,
  table: CompletionTable,
): Promise<Offer> {
  if (typeof takes === "object") return "list" in takes ? inList(takes.list, typed) : words(takes);
  if (takes === "file") return { candidates: [], paths: "files" };
  if (takes === "directory") return { candidates: [], paths: "directories" };
  if (takes === "free") return { candidates: [] };
  if (takes === "key") return words(table.keys);
  if (takes === "rule") return words(table.rules);
  const profiles = await readProfiles(place, position.chosen);
  if (takes !== "profile") return await ofService(takes, typed, place, profiles);
  return words(profiles.names);
}

function offerFlags(position: Position): Candidate[] {
  return position.flags.flatMap(({ names, text }) => {
    const long = names.at(-1);
    return long === undefined ? [] : [{ value: long, text }];
  });
}

function offerCommands(position: Position, table: CompletionTable): Candidate[] {
  return position.commands.map((name) => {
    const path = position.path === "" ? name : `${position.path} ${name}`;
    const row = Object.hasOwn(table.commands, path) ? table.commands[path] : undefined;
    const isTopic = position.path === "" && table.topics.includes(name);
    return { value: name, text: row?.text ?? (isTopic ? "topic" : "Show help for a command.") };
  });
}

/**
 * Finds the candidates for a position; `current` is the typed part of the word. Every value
 * is one line without control characters; the shell does its own quoting. After a typed
 * `--flag=`, each value begins with it.
 */
export async function findCandidates(
  table: CompletionTable,
  position: Position,
  current: string,
  place: Place,
): Promise<Offer> {
  const { prefix } = position;
  if (prefix === "" && current.startsWith("-") && position.flags.length > 0) {
    return {
      candidates: offerFlags(position).map(({ value, text }) => ({ value, text: short(text) })),
    };
  }
  const typed = current.slice(prefix.length);
  const offer: Offer =
    position.takes === undefined
      ? { candidates: [] }
      : await offerValue(position.takes, typed, place, position, table);
  const all = [...offerCommands(position, table), ...offer.candidates];
  const candidates = all
    .filter(({ value }) => isOffered(value))
    .map(({ value, text }) => ({ value: prefix + value, text: short(text) }));
  return { ...offer, candidates };
}
