import type { CommandRow, CompletionTable, FlagRow, Takes } from "../../config/command-table.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { createMachine, type Environment } from "../../config/find/folders.ts";
import { parseBaseUrl } from "../../config/values/url.ts";
import { neutraliseLine } from "../../output/terminal/neutralise.ts";
import { isOffered, readNames, type Named, type NameKind } from "./names.ts";
import { shells, type Find, type Offer } from "./shells.ts";

/** Global flags on the line that select the service. */
type Chosen = Pick<GlobalFlags, "profile" | "config" | "baseUrl">;

/** What is allowed at the cursor. */
interface Position {
  /** The kind of value; undefined if no value is allowed. */
  takes: Takes | undefined;
  /** Part of the current word before the value: `--output=` or nothing. */
  prefix: string;
  /** Flags and commands that are also allowed. */
  flags: readonly FlagRow[];
  commands: readonly string[];
  path: string;
  chosen: Chosen;
}

const members: Readonly<Record<string, keyof Chosen>> = {
  "--profile": "profile",
  "--config": "config",
  "--base-url": "baseUrl",
};

/** What the words before the cursor say. */
interface Line {
  path: string;
  command: CommandRow;
  /** Flags so far, by their first name. */
  given: Set<string>;
  positionals: number;
  onlyPositionals: boolean;
  /** The flag whose value is next. */
  open: FlagRow | undefined;
  chosen: Chosen;
}

function flagsOf(table: CompletionTable, command: CommandRow): FlagRow[] {
  const own = new Set(command.flags.flatMap(({ names }) => names));
  return [
    ...command.flags,
    ...table.globals.filter(({ names }) => !names.some((each) => own.has(each))),
  ];
}

function readLine(table: CompletionTable, command: CommandRow, words: readonly string[]): Line {
  const line: Line = {
    path: "",
    command,
    given: new Set(),
    positionals: 0,
    onlyPositionals: false,
    open: undefined,
    chosen: {},
  };
  const readValue = ({ names }: FlagRow, value: string): void => {
    const member = members[names.at(-1) ?? ""];
    if (member) line.chosen[member] = value;
  };
  const readFlag = (word: string): void => {
    const [, name = word, value] = /^(--[^=]*)=([^]*)$/.exec(word) ?? [];
    const flag = flagsOf(table, line.command).find(({ names }) => names.includes(name));
    if (!flag) return;
    line.given.add(flag.names[0] ?? name);
    if (flag.takes === undefined) return;
    if (value === undefined) line.open = flag;
    else readValue(flag, value);
  };
  for (const word of words) {
    const below = line.path === "" ? word : `${line.path} ${word}`;
    if (line.open) {
      readValue(line.open, word);
      line.open = undefined;
    } else if (!line.onlyPositionals && word !== "-" && word.startsWith("-")) {
      if (word === "--") line.onlyPositionals = true;
      else readFlag(word);
    } else if (
      line.positionals === 0 &&
      !line.onlyPositionals &&
      Object.hasOwn(table.commands, below)
    ) {
      line.path = below;
      line.command = table.commands[below] ?? command;
    } else line.positionals++;
  }
  return line;
}

/** Finds the cursor's position: `words` are before it, `current` is the typed part of its word. */
function findPosition(
  table: CompletionTable,
  words: readonly string[],
  current: string,
): Position | undefined {
  const root = table.commands[""];
  if (!root) return undefined;
  const line = readLine(table, root, words);
  const { command, path, chosen, open, positionals, onlyPositionals } = line;
  const at = { path, chosen, prefix: "", flags: [], commands: [] };
  if (open) return { ...at, takes: open.takes };
  const flags = onlyPositionals ? [] : flagsOf(table, command);
  const equals = onlyPositionals ? undefined : /^(--[\w-]+=)/.exec(current)?.[1];
  if (equals !== undefined) {
    const flag = flags.find(({ names }) => names.includes(equals.slice(0, -1)));
    return { ...at, takes: flag?.takes, prefix: equals };
  }
  // `help` is a command whose argument is the name of another command.
  const afterHelp = positionals === 1 && words.at(-1) === "help";
  const names = command.commands.filter((name) => !afterHelp || name !== "help");
  const topics = afterHelp && path === "" ? table.topics : [];
  const isFirst = (positionals === 0 || afterHelp) && !onlyPositionals;
  return {
    ...at,
    takes:
      command.arguments[positionals] ?? (command.endless ? command.arguments.at(-1) : undefined),
    flags: flags.filter((flag) => flag.repeats || !line.given.has(flag.names[0] ?? "")),
    commands: isFirst ? [...names, ...topics] : [],
  };
}

/** The environment of a completion. */
interface Place {
  env: Environment;
  cwd: string;
  uid: number;
  /** Milliseconds since the epoch. */
  now: number;
}

const longestText = 60;
const mostSessions = 50;

/** Profiles of the configuration files, and the profile in effect with its base URL. */
interface Profiles {
  names: string[];
  profile: string;
  /** Undefined if unknown. */
  baseUrl: string | undefined;
}

/**
 * Reads the profiles of the files that a command would use, and selects one as a command does. Needs
 * no trust: only names of a file are shown, and nothing is sent. A file with an error offers nothing:
 * the next command reports it.
 */
async function readProfiles({ env, cwd, uid }: Place, flags: Chosen): Promise<Profiles> {
  // Loaded on demand: most completions need no configuration.
  const { loadProject, loadUser } = await import("../../config/sources.ts");
  const { chooseProfile } = await import("../../config/values/profile.ts");
  const machine = createMachine({ env, uid });
  const warn = (): void => {};
  const request = { env, cwd, flags, sends: false, warn };
  const project = await loadProject(request, machine).catch(() => undefined);
  const user = await loadUser(machine, warn).catch(() => undefined);
  const sources = [project?.file, user].flatMap((file) =>
    file ? [{ file, content: file.content }] : [],
  );
  const all = sources.map(({ content }) => content.profiles ?? {});
  const { name: profile } = chooseProfile(flags, env, sources, { mayBeNew: true });
  const given = flags.baseUrl ?? env["KNOWCTL_BASE_URL"]?.trim();
  const baseUrl = given || all.map((profiles) => profiles[profile]?.baseUrl).find(Boolean);
  return { names: [...new Set(all.flatMap(Object.keys))], profile, baseUrl: normalise(baseUrl) };
}

function normalise(baseUrl: string | undefined): string | undefined {
  try {
    return baseUrl ? parseBaseUrl(baseUrl).baseUrl : undefined;
  } catch {
    return undefined;
  }
}

function short(text: string): string {
  const characters = [...neutraliseLine(text.slice(0, 4 * longestText)).trim()];
  const isLong = characters.length > longestText;
  return isLong ? `${characters.slice(0, longestText - 1).join("")}…` : characters.join("");
}

const words = (values: readonly string[]): Offer => ({
  candidates: values.map((value) => ({ value, text: "" })),
});

const byName = (names: readonly Named[]): Offer => ({
  candidates: names.map(({ id, name, text }) => ({ value: name, text: `${id} ${text}`.trim() })),
});

const byId = (names: readonly Named[]): Offer => ({
  candidates: names.map(({ id, name, text }) => ({
    value: String(id),
    text: `${name}  ${text}`.trim(),
  })),
});

async function sessions({ env }: Place, { profile, baseUrl }: Profiles): Promise<Offer> {
  const candidates = [{ value: "last", text: "the session used last" }];
  if (baseUrl === undefined) return { candidates };
  // Loaded on demand: loading costs time.
  const { indexedSessions } = await import("../chat/session/session-index.ts");
  try {
    for (const { id, title } of indexedSessions(env, { profile, baseUrl })) {
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

/** Values that depend on the profile. */
async function ofService(takes: Takes, typed: string, place: Place, chosen: Chosen) {
  const profiles = await readProfiles(place, chosen);
  const { profile, baseUrl } = profiles;
  const names = (of: NameKind): Named[] =>
    baseUrl === undefined ? [] : readNames(place.env, of, { profile, baseUrl }, place.now);
  switch (takes) {
    case "profile":
      return words(profiles.names);
    case "session":
      return await sessions(place, profiles);
    case "agent":
    case "tool":
      return byId(names(`${takes}s`));
    case "source":
      return words([...new Set(names("connectors").map(({ text }) => text))]);
    case "connector":
      return byName(names("connectors"));
    case "connector-or-pair":
      // A typed digit selects the ids.
      return /^\d/.test(typed) ? byId(names("connectors")) : byName(names("connectors"));
    default:
      return byId(names("connectors"));
  }
}

async function offerValue(
  takes: Takes | undefined,
  typed: string,
  { keys, rules }: CompletionTable,
  ofPlace: (takes: Takes) => Promise<Offer>,
): Promise<Offer> {
  if (takes === undefined || takes === "free") return { candidates: [] };
  if (typeof takes === "object") return "list" in takes ? inList(takes.list, typed) : words(takes);
  if (takes === "file") return { candidates: [], paths: "files" };
  if (takes === "directory") return { candidates: [], paths: "directories" };
  if (takes === "key") return words(keys);
  return takes === "rule" ? words(rules) : await ofPlace(takes);
}

function offerCommands({ commands, path: above }: Position, table: CompletionTable) {
  return commands.map((name) => {
    const path = above === "" ? name : `${above} ${name}`;
    const row = Object.hasOwn(table.commands, path) ? table.commands[path] : undefined;
    const isTopic = above === "" && table.topics.includes(name);
    return { value: name, text: row?.text ?? (isTopic ? "topic" : "Show help for a command.") };
  });
}

/**
 * Finds the candidates for a position; `current` is the typed part of the word. Every value
 * is one line without control characters; the shell does its own quoting. After a typed
 * `--flag=`, each value begins with it.
 */
async function findCandidates(
  table: CompletionTable,
  position: Position,
  current: string,
  place: Place,
): Promise<Offer> {
  const { prefix, takes, flags, chosen } = position;
  if (prefix === "" && current.startsWith("-") && flags.length > 0) {
    const named = flags.map(({ names, text }) => ({
      value: names.at(-1) ?? "",
      text: short(text),
    }));
    return { candidates: named };
  }
  const typed = current.slice(prefix.length);
  const ofPlace = (kind: Takes): Promise<Offer> => ofService(kind, typed, place, chosen);
  const offer = await offerValue(takes, typed, table, ofPlace);
  const candidates = [...offerCommands(position, table), ...offer.candidates]
    .filter(({ value }) => isOffered(value))
    .map(({ value, text }) => ({ value: prefix + value, text: short(text) }));
  return { ...offer, candidates };
}

/**
 * Returns the output for a shell's script (`knowctl __complete SHELL …`): the first line
 * is the mode (`words`, `ordered`, `files`, `directories`, `both`), each further line a
 * candidate. Sends no request, reads no key, and never throws: a Tab has no place for an
 * error.
 */
export async function complete(
  args: readonly string[],
  table: CompletionTable,
  place: Place,
): Promise<string> {
  const [shell = "", ...rest] = args;
  const answer = Object.hasOwn(shells, shell) ? shells[shell] : undefined;
  if (!answer) return "";
  const find: Find = async (before, current) => {
    const position = findPosition(table, before, current);
    if (!position) return { candidates: [], prefix: "" };
    return { ...(await findCandidates(table, position, current, place)), prefix: position.prefix };
  };
  try {
    return `${await answer(rest, find)}\n`;
  } catch {
    return "";
  }
}
