import { listAgents } from "../../../api/agents.ts";
import type { Client } from "../../../api/client.ts";
import { listConnectors } from "../../../api/connectors.ts";
import { listProviders } from "../../../api/models.ts";
import { canListSessions } from "../../../api/sessions.ts";
import { listTools } from "../../../api/tools.ts";
import { listSources } from "../../../output/chat/sources.ts";
import type { Completion } from "../../../output/terminal/editor.ts";
import { isInert, neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { fit } from "../../../output/terminal/width.ts";
import { localSessions, serviceSessions, take } from "../session/find-session.ts";
import { commandNames } from "./commands.ts";
import { typedPath, type Talk } from "./talk.ts";
import { filterKinds } from "./choices.ts";
import { readdir } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Most entries of a folder that are compared: completion is of little use in a larger folder. */
const maxEntries = 5000;

/**
 * Completes a typed path with the entries of its folder; folders end with a slash.
 * `resolvePath` makes a typed path absolute. Names with control characters are left out:
 * they cannot be typed.
 */
export async function completePath(
  typed: string,
  resolvePath: (path: string) => string,
): Promise<string[]> {
  const slash = Math.max(typed.lastIndexOf("/"), typed.lastIndexOf("\\"));
  // A backslash is a separator only on Windows; elsewhere it is part of a name.
  const at = join("a", "b").includes("\\") ? slash : typed.lastIndexOf("/");
  const begin = typed.slice(0, at + 1);
  const name = typed.slice(at + 1);
  const folder = at < 0 ? resolvePath(".") : dirname(join(resolvePath(begin), "x"));
  const entries = await readdir(folder, { withFileTypes: true });
  return entries
    .slice(0, maxEntries)
    .filter((entry) => entry.name.startsWith(name) && isInert(entry.name))
    .filter((entry) => name.startsWith(".") || !entry.name.startsWith("."))
    .map((entry) => `${begin}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .toSorted();
}

const lookUpTimeoutMs = 1500;
const cacheMs = 60_000;
const mostSessions = 100;
const mostCandidates = 200;

type Ask = (client: Client) => Promise<readonly string[]>;
/** Candidates for the typed part of the argument. */
type Completer = (talk: Talk, argument: string, ask: CachedAsk) => Promise<readonly string[]>;
/** Runs `ask` on the service and caches the result under a name. */
type CachedAsk = (name: string, ask: Ask) => Promise<readonly string[]>;

const path: Completer = (talk, argument) => completePath(argument, (each) => typedPath(talk, each));

const numbers: Completer = async (talk) => {
  const turn = talk.exchanges.findLast(({ ending }) => ending.turn.answer !== "")?.ending.turn;
  return turn ? listSources(turn).cited.flatMap((source) => source.numbers.map(String)) : [];
};

const toolNames: Ask = async (client) =>
  (await listTools(client)).map(({ name, display_name }) => display_name || name);

const modelNames: Ask = async (client) => {
  const providers = (await listProviders(client, lookUpTimeoutMs)) ?? [];
  // PROVIDER/VERSION is split at the first slash, so a provider name cannot hold one.
  const named = providers.filter(({ name }) => !name.includes("/"));
  return named.flatMap(({ name, models }) => models.map((model) => `${name}/${model}`));
};

const sourceTypes: Ask = async (client) => {
  const connectors = await listConnectors(client);
  const sources = connectors.flatMap(({ connector }) => connector?.source ?? []);
  return [...new Set(sources)].toSorted();
};

/** Completes the last word of the argument and keeps the words before it. */
function lastWord(argument: string, words: readonly string[]): string[] {
  const begin = argument.slice(0, argument.search(/\S*$/));
  return words.map((word) => begin + word);
}

/** Columns of an id beside a title, and most columns of a title. */
const idColumns = 8;
const titleColumns = 50;

/**
 * Candidates for the session that is typed, by the beginning of its id, else of its title. `listed`
 * are an id, a space and a title. One session is its id; several show id and title, to choose by.
 */
function sessionCandidates(listed: readonly string[], typed: string): string[] {
  const rows = listed.map((text) => {
    const at = text.indexOf(" ");
    const title = fit(neutraliseLine(text.slice(at + 1)), titleColumns);
    return { id: text.slice(0, at), title };
  });
  const wanted = typed.trimEnd().toLowerCase();
  const begins = (text: string): boolean => text.toLowerCase().startsWith(wanted);
  const byId = rows.filter(({ id }) => begins(id));
  const found = byId.length > 0 ? byId : rows.filter(({ title }) => begins(title));
  const [first, second] = found;
  if (first && !second) return [first.id];
  const shown = Math.max(idColumns, wanted.length);
  return found.map(({ id, title }) =>
    byId.length > 0 ? `${id.slice(0, shown)}  ${title}` : `${title}  ${id.slice(0, idColumns)}`,
  );
}

const completers: Readonly<Record<string, Completer>> = {
  agent: async (_talk, _argument, ask) => [
    "default",
    ...(await ask("agents", async (client) => (await listAgents(client)).map(({ name }) => name))),
  ],
  session: async ({ context, owner }, argument, ask) => {
    const place = { env: context.env, owner };
    const listed = await ask("sessions", async (client) => {
      if (!canListSessions(client)) return [];
      const rows = serviceSessions({ ...place, client }, mostSessions);
      return (await take(rows, mostSessions)).map(({ id, name }) => `${id} ${name ?? ""}`);
    });
    const known = new Map<string, string>();
    const local = Array.from(localSessions(place), ({ id, name }) => `${id} ${name ?? ""}`);
    for (const each of [...local, ...listed]) known.set(each.split(" ", 1)[0]!, each);
    return sessionCandidates([...known.values()], argument);
  },
  file: path,
  save: path,
  model: async (talk, _argument, ask) => {
    const entered = talk.history.list().map((text) => /^\/model\s+(\S+\/\S+)$/.exec(text)?.[1]);
    const listed = await ask("models", modelNames);
    return ["default", ...new Set([...listed, ...entered.filter((each) => each !== undefined)])];
  },
  tools: async (_talk, argument, ask) => {
    const names = await ask("tools", toolNames);
    const isFirst = !/\s/.test(argument);
    return lastWord(argument, isFirst ? ["all", "none", "force ", ...names] : names);
  },
  filter: async (_talk, argument, ask) => {
    if (!/\s/.test(argument)) return [...filterKinds.map((kind) => `${kind} `), "clear"];
    if (argument.startsWith("source "))
      return lastWord(argument, await ask("sources", sourceTypes));
    if (argument.startsWith("clear ")) return lastWord(argument, filterKinds);
    return argument.startsWith("since ") ? lastWord(argument, ["1d", "7d", "30d", "52w"]) : [];
  },
  open: numbers,
  copy: numbers,
};

function createCache(client: Client, elapsed: () => number): CachedAsk {
  const known = new Map<string, { words: Promise<readonly string[]>; askedAt: number }>();
  return (name, ask) => {
    const found = known.get(name);
    if (found && elapsed() - found.askedAt < cacheMs) return found.words;
    const words = ask(client).catch(() => []);
    known.set(name, { words, askedAt: elapsed() });
    return words;
  };
}

const none: Completion = { from: 0, candidates: [] };

/**
 * Completes slash commands and their arguments. Look-ups on the service are cached for a
 * minute and time out after 1.5 s; a later result is used by the next Tab. Fails silently:
 * then there are no candidates.
 */
export function createCompleter(talk: Talk): (beforeCursor: string) => Promise<Completion> {
  const { context, client } = talk;
  const ask = createCache(client, context.elapsed);
  const inTime = async (words: Promise<readonly string[]>): Promise<readonly string[]> => {
    const timer = new AbortController();
    const late = context.sleep(lookUpTimeoutMs, timer.signal).then(() => []);
    const found = await Promise.race([words, late]).catch(() => []);
    timer.abort();
    late.catch(() => {});
    return found;
  };
  return async (text) => {
    const [, name = "", space, argument = ""] = /^\/([a-z]*)(\s+)?(.*)$/is.exec(text) ?? [];
    if (!text.startsWith("/") || text.includes("\n")) return none;
    if (space === undefined) {
      const names = commandNames.filter((each) => each.startsWith(name));
      return { from: 1, candidates: names.map((each) => `${each} `) };
    }
    const completer = Object.hasOwn(completers, name) ? completers[name] : undefined;
    if (!completer) return none;
    const words = await inTime(completer(talk, argument, ask));
    const wanted = argument.toLowerCase();
    // Sessions are found by their titles too.
    const fits = (word: string): boolean =>
      name === "session" || word.toLowerCase().startsWith(wanted);
    const candidates = words.filter((word) => fits(word) && isInert(word)).slice(0, mostCandidates);
    return { from: text.length - argument.length, candidates };
  };
}
