import { listAgents } from "../../../api/agents.ts";
import type { Tool } from "../../../api/schemas.ts";
import { listTools } from "../../../api/tools.ts";
import { CliError, ApiError, messageOf } from "../../../errors.ts";
import { neutraliseLine } from "../../../output/terminal/neutralise.ts";
import { bold, dim } from "../../../output/terminal/text.ts";
import { displayWidth, fit } from "../../../output/terminal/width.ts";
import { checkFiles } from "../../files/local.ts";
import { splitModel, parseSince } from "../options.ts";
import {
  typedPath,
  attach,
  hint,
  leaveSession,
  settingWords,
  type Talk,
  type Work,
  placeOf,
} from "./talk.ts";
import { canListSessions, getSession } from "../../../api/sessions.ts";
import { findSession, localSessions, serviceSessions, take } from "../session/find-session.ts";
import { indexedSession } from "../session/session-index.ts";
import { lastExchange, showExchange } from "./answers.ts";

interface Item {
  id: number;
  name: string;
  display_name?: string | null | undefined;
  description?: string | null | undefined;
}

const shortestDescription = 10;

/** Writes a line of a list; `mark` stands before the description. */
async function listItem({ output }: Talk, item: Item, isChosen: boolean, mark = ""): Promise<void> {
  const width = output.columns();
  const name = neutraliseLine(item.display_name || item.name);
  const line = fit(`${String(item.id).padStart(4)}  ${name}`, width - 3);
  const room = Math.max(0, width - 5 - displayWidth(line));
  const about = neutraliseLine(mark + (item.description ?? ""));
  const more = room < shortestDescription ? "" : fit(about, room);
  const shown = isChosen ? bold(line) : line;
  await output.line(isChosen ? "* " : "  ", shown, dim(more === "" ? "" : `  ${more}`));
}

/** The only item whose id or name is `wanted`. Throws CliError `not-found`, which names the command that lists them. */
function pick<Of extends Item>(
  items: readonly Of[],
  wanted: string,
  what: string,
  list: string,
): Of {
  const found = items.filter(({ id, name, display_name: shown }) =>
    [String(id), name, shown ?? ""].some((each) => each.toLowerCase() === wanted.toLowerCase()),
  );
  const [only] = found;
  if (only && found.length === 1 && wanted !== "") return only;
  const count = found.length === 0 || wanted === "" ? "no" : "more than one";
  throw new CliError("not-found", `${count} ${what} ${wanted}`, { hints: [`/${list} lists them`] });
}

/** `/agent`: lists the agents, or selects the agent for a new session. */
export async function chooseAgent(talk: Talk, { client }: Work, argument: string): Promise<void> {
  const { settings } = talk;
  const isKnown = client.dialect.paths.agents !== undefined;
  if (argument === "" && !isKnown) {
    return await hint(talk, "this service lists no agents: /agent and an id selects one");
  }
  if (argument === "") {
    for (const agent of await listAgents(client)) {
      await listItem(talk, agent, agent.id === settings.personaId);
    }
    return;
  }
  if (argument === "default") delete settings.personaId;
  else if (isKnown) {
    settings.personaId = pick(await listAgents(client), argument, "agent", "agent").id;
  } else if (/^-?\d{1,9}$/.test(argument)) settings.personaId = Number(argument);
  else throw new CliError("usage", `this service lists no agents: use an id, not ${argument}`);
  leaveSession(talk);
  await hint(talk, `agent ${argument} answers from now on, in a new session`);
}

/** `/model`: shows or selects the model. */
export async function chooseModel(talk: Talk, _work: Work, argument: string): Promise<void> {
  const { settings } = talk;
  if (argument === "default") {
    delete settings.modelProvider;
    delete settings.modelVersion;
  } else if (argument !== "" && !argument.includes("/")) {
    throw new CliError("usage", `/model: "${argument}" is not PROVIDER/VERSION`);
  } else if (argument !== "") Object.assign(settings, splitModel(argument, "/model"));
  const { modelProvider, modelVersion } = settings;
  const asked = [modelProvider, modelVersion].filter(Boolean).join("/") || "the service's default";
  const reported = talk.exchanges.at(-1)?.ending.turn.model;
  await hint(talk, `model: ${asked}${reported ? `; the last answer came from ${reported}` : ""}`);
}

/** `/tools`: lists the tools, allows some, all or none, or forces one. */
export async function chooseTools(talk: Talk, { client }: Work, argument: string): Promise<void> {
  const { settings } = talk;
  const [first = "", ...rest] = argument.split(/[\s,]+/).filter(Boolean);
  if (first === "all" || first === "none") {
    delete settings.allowedToolIds;
    delete settings.forcedToolId;
    if (first === "none") settings.allowedToolIds = [];
  }
  const tools: readonly Tool[] = await listTools(client);
  const idOf = (word: string): number => pick(tools, word, "tool", "tools").id;
  if (first === "force") settings.forcedToolId = idOf(rest.join(" "));
  else if (!["", "all", "none"].includes(first)) {
    settings.allowedToolIds = [first, ...rest].map(idOf);
  }
  for (const tool of tools) {
    const isAllowed = settings.allowedToolIds?.includes(tool.id) ?? true;
    await listItem(talk, tool, isAllowed, tool.id === settings.forcedToolId ? "forced. " : "");
  }
}

/** `/file`: lists the files for the next question, adds one, or clears them. */
export async function attachFile(talk: Talk, work: Work, argument: string): Promise<void> {
  if (argument === "clear") talk.files = [];
  else if (argument !== "") {
    const files = checkFiles(talk.context.cwd, [typedPath(talk, argument)], "/file");
    await attach(talk, work, files, []);
  }
  const names = talk.files.map(({ name, id }) => neutraliseLine(name ?? id));
  await hint(
    talk,
    names.length === 0
      ? "no file is attached to the next question"
      : `attached to the next question: ${names.join(", ")}`,
  );
}

/** The kinds of filters, as `/filter` names them, and the settings that they are. */
const filterMembers = {
  source: "sourceTypes",
  set: "documentSets",
  tag: "tags",
  since: "timeCutoff",
} as const;
type FilterKind = keyof typeof filterMembers;
export const filterKinds = Object.keys(filterMembers) as FilterKind[];

const isKind = (word: string): word is FilterKind => Object.hasOwn(filterMembers, word);

const filterUsage = (message: string): CliError =>
  new CliError("usage", message, {
    hints: [
      "write: /filter source file, /filter set NAME, /filter tag KEY=VALUE, /filter since 30d, /filter clear",
    ],
  });

function addFilter({ settings, context, client }: Talk, kind: FilterKind, value: string): void {
  if (value === "") throw filterUsage(`/filter ${kind}: a value is missing`);
  if (kind === "since") settings.timeCutoff = parseSince(value, context.now(), "/filter since");
  else if (kind === "tag") {
    const equals = value.indexOf("=");
    if (equals < 1) throw filterUsage(`"${value}" is not KEY=VALUE`);
    const tag: [string, string] = [value.slice(0, equals), value.slice(equals + 1)];
    // A service that reads tags as an object has one value for each key: the last value wins.
    const others = (settings.tags ?? []).filter(
      ([key]) => client.dialect.repeatsTagKeys || key !== tag[0],
    );
    settings.tags = [...others, tag];
  } else {
    const member = filterMembers[kind];
    settings[member] = [...new Set([...(settings[member] ?? []), value])];
  }
}

/** `/filter`: shows, adds or removes search filters. */
export async function chooseFilter(talk: Talk, _work: Work, argument: string): Promise<void> {
  const [, word = "", value = ""] = /^(\S*)\s*([\s\S]*)$/.exec(argument) ?? [];
  if (word === "clear") {
    if (value !== "" && !isKind(value)) throw filterUsage(`there is no filter "${value}"`);
    for (const kind of filterKinds) {
      if (value === "" || value === kind) delete talk.settings[filterMembers[kind]];
    }
  } else if (isKind(word)) addFilter(talk, word, value.trim());
  else if (word !== "") throw filterUsage(`there is no filter "${word}"`);
  const { filters } = settingWords(talk);
  const words =
    filters.length === 0 ? "no filter: everything is searched" : `filters: ${filters.join(" · ")}`;
  await hint(talk, words);
}

const maxListed = 20;

/**
 * Continues a session and shows its last exchange, if the service has an endpoint for it.
 * Throws ApiError for a session that the service does not have.
 */
async function enterSession(talk: Talk, work: Work, id: string): Promise<void> {
  const { context, owner } = talk;
  if (work.client.dialect.paths.session === undefined) {
    leaveSession(talk);
    talk.sessionId = id;
    talk.last = indexedSession(context.env, owner, id)?.messageId ?? undefined;
    return await hint(talk, `continuing session ${id}; this service cannot show its messages`);
  }
  const session = await getSession(work.client, id);
  leaveSession(talk);
  talk.sessionId = session.chat_session_id;
  // The session's agent answers, also after a later /new. 0 is the default agent.
  if (session.persona_id) talk.settings.personaId = session.persona_id;
  else delete talk.settings.personaId;
  const last = lastExchange(session);
  talk.last = last ? last.ending.turn.messageId : null;
  const name = neutraliseLine(session.description ?? "").slice(0, 80);
  await hint(talk, `session ${id}${name === "" ? "" : ` · ${name}`}`);
  if (!last) return;
  talk.exchanges.push(last);
  await showExchange(talk, work, last);
}

/** As `enterSession`, at the start: if the service cannot show the session, only warns. */
export async function resumeSession(talk: Talk, work: Work, id: string): Promise<void> {
  try {
    await enterSession(talk, work, id);
  } catch (error) {
    const isGone = error instanceof ApiError && ["not-found", "auth"].includes(error.exit);
    if (isGone || work.signal.aborted) throw error;
    talk.sessionId = id;
    talk.last = undefined;
    await talk.output.warn(`the messages of the session cannot be shown: ${messageOf(error)}`);
  }
}

/** `/session`: shows the current session, or continues another. */
export async function chooseSession(talk: Talk, work: Work, argument: string): Promise<void> {
  if (argument !== "") {
    await enterSession(talk, work, await findSession(placeOf(talk, work), argument));
  } else if (talk.sessionId === undefined) {
    await hint(talk, "no session yet: the next question begins one");
  } else await talk.output.line("session ", talk.sessionId);
}

/** `/sessions`: lists the service's sessions, or those in the index of this machine. */
export async function showSessions(talk: Talk, work: Work): Promise<void> {
  const { output } = talk;
  const place = placeOf(talk, work);
  const rows = canListSessions(place.client)
    ? serviceSessions(place, maxListed)
    : localSessions(place);
  const sessions = await take(rows, maxListed);
  if (sessions.length === 0) return await hint(talk, "no sessions yet");
  for (const { id, updatedAt, name } of sessions) {
    const when = neutraliseLine(updatedAt ?? "")
      .slice(0, 16)
      .replace("T", " ");
    const text = `${id.slice(0, 8)}  ${when.padEnd(16)}  ${neutraliseLine(name ?? "") || "(no title)"}`;
    const line = fit(text, output.columns() - 3);
    if (id === talk.sessionId) await output.line("* ", bold(line));
    else await output.line("  ", line);
  }
  await hint(talk, "/session and the beginning of an id continues a session");
}

/** `/new`: the next question begins a new session. */
export async function beginSession(talk: Talk): Promise<void> {
  leaveSession(talk);
  await hint(talk, "the next question begins a new session");
}
