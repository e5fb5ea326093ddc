import type { Client } from "../../api/client.ts";
import type { Dialect } from "../../api/dialects.ts";
import type { Gate } from "../../api/retry/gate.ts";
import {
  assistedCalls,
  searchAssisted,
  searchIndexed,
  searchKeyword,
  type SearchQuery,
} from "../../api/search.ts";
import { ApiError, CliError } from "../../errors.ts";
import { foundDocuments, foundSections, type Found } from "./found.ts";

export type WayName = "indexed" | "keyword" | "assisted" | "chat";

/** One way to search. */
export interface Way {
  name: WayName;
  /** Calls of a language model that a search may make; 0 if it costs nothing. */
  calls: number;
  /** The cost in words. */
  cost: string;
  path(paths: Dialect["paths"]): string | undefined;
  /** Finds documents, at least `limit` of them if there are so many and the way can. */
  find(client: Client, query: SearchQuery, limit: number, gate?: Gate): Promise<Found[]>;
}

/** A document has several sections, so more sections than documents are asked for. */
const sectionsPerDocument = 5;
const fewestSections = 30;
const mostSections = 10_000;

/** Asks for more sections while all of them belong to fewer documents than wanted. */
async function findIndexed(
  client: Client,
  query: SearchQuery,
  limit: number,
  gate?: Gate,
): Promise<Found[]> {
  let sections = Math.max(fewestSections, limit * sectionsPerDocument);
  for (;;) {
    sections = Math.min(sections, mostSections);
    const found = await searchIndexed(client, { ...query, sections }, { gate });
    const documents = foundDocuments(found);
    const isAll = found.length < sections || sections === mostSections;
    if (isAll || documents.length >= limit) return documents;
    sections *= 8;
  }
}

/** Best first: observed-service.md 11.2 and 11.3. */
const ways: readonly Way[] = [
  {
    name: "indexed",
    calls: 0,
    cost: "nothing",
    path: (paths) => paths.indexedSearch,
    find: findIndexed,
  },
  {
    name: "keyword",
    calls: 0,
    cost: "nothing",
    path: (paths) => paths.keywordSearch,
    find: async (client, query, _limit, gate) =>
      foundDocuments(await searchKeyword(client, query, { gate })),
  },
  {
    name: "assisted",
    calls: assistedCalls,
    cost: `up to ${assistedCalls} model calls`,
    path: (paths) => paths.assistedSearch,
    find: async (client, query, _limit, gate) =>
      foundSections(await searchAssisted(client, query, { gate })),
  },
  {
    name: "chat",
    calls: 1,
    cost: "one answer of the assistant, which is 1 model call or more",
    path: (paths) => paths.chat,
    find: async (client, query, _limit, gate) =>
      await (await import("./chat-way.ts")).findByChat(client, query, gate),
  },
];

/** A way that was not possible. */
export interface Passed {
  way: Way;
  error: ApiError;
}

export interface Searched {
  way: Way;
  found: Found[];
  passed: readonly Passed[];
}

const isRefused = ({ error }: Passed): boolean => error.status === 403;
const isMissing = (error: unknown): error is ApiError =>
  error instanceof ApiError && (error.status === 404 || error.status === 405);

/** A 403 that is about a document set is no refusal of the way: the next way would hide it. */
const isAboutSet = (error: ApiError, query: SearchQuery): boolean =>
  (query.documentSets ?? []).length > 0 && /document set/i.test(error.message);

/** Whether the next way may be tried after this failure. */
function isPassable(error: unknown, query: SearchQuery): error is ApiError {
  if (isMissing(error)) return true;
  return error instanceof ApiError && error.status === 403 && !isAboutSet(error, query);
}

/** `indexed (403), keyword (404)` */
export function describePassed(passed: readonly Passed[]): string {
  return passed.map(({ way, error }) => `${way.name} (${error.status})`).join(", ");
}

function refusedAll(passed: readonly Passed[]): CliError {
  const { error } = passed.find(isRefused)!;
  const { method, url, status, code, hints } = error;
  const message = `the key may not search: ${describePassed(passed)}; ${error.message}`;
  return new ApiError("auth", message, {
    method,
    url,
    status,
    code,
    hints: [...hints, "a search that costs model tokens needs --via assisted or --via chat"],
    cause: error,
  });
}

/** The ways that the dialect has, or the named one. Throws CliError `not-found` for a missing one. */
function waysOf({ name, paths }: Dialect, via: WayName | undefined): Way[] {
  const offered = ways.filter((way) => way.path(paths) !== undefined);
  const named = offered.filter((way) => via === undefined || way.name === via);
  if (named.length > 0) return named;
  const names = offered.map((way) => way.name).join(", ");
  throw new CliError("not-found", `the ${name} dialect has no search --via ${via}`, {
    hints: [`it has: ${names}`],
  });
}

/**
 * Uses the best way that is possible: the named one, else the first one that the service has and
 * allows. A free way that is refused ends the search before any costly way. Throws CliError `auth`
 * for that, and the error of the last way if the service has none.
 */
async function useBest<Result>(
  { dialect }: Client,
  query: SearchQuery,
  via: WayName | undefined,
  use: (way: Way, passed: readonly Passed[]) => Promise<Result>,
): Promise<Result> {
  const passed: Passed[] = [];
  for (const way of waysOf(dialect, via)) {
    if (way.calls > 0 && passed.some(isRefused)) throw refusedAll(passed);
    try {
      return await use(way, passed);
    } catch (error) {
      if (via !== undefined || !isPassable(error, query)) throw error;
      passed.push({ way, error });
      // What costs is not sent again in another form after a refusal.
      if (way.calls > 0 && error.status === 403) throw error;
    }
  }
  throw passed.at(-1)!.error;
}

interface SearchHost {
  /** Called before a request that costs model tokens; throws to prevent it. */
  allow(way: Way, passed: readonly Passed[]): Promise<void>;
  /** Runs a search, and shows that it waits. */
  waiting<T>(work: () => Promise<T>): Promise<T>;
}

/**
 * Searches by the best way. Throws as useBest(), and as `allow`.
 */
export async function searchByWays(
  client: Client,
  query: SearchQuery,
  { via, limit }: { via: WayName | undefined; limit: number },
  { allow, waiting }: SearchHost,
): Promise<Searched> {
  return await useBest(client, query, via, async (way, passed) => {
    if (way.calls > 0) await allow(way, passed);
    return { way, found: await waiting(() => way.find(client, query, limit)), passed };
  });
}

/**
 * Chooses the way for a run of many searches: the named one without a request, else the best one
 * that answers a trial search and costs nothing. If only costly ways are left, returns the first of
 * them unsent. Throws as useBest().
 */
export async function chooseWay(
  client: Client,
  query: SearchQuery,
  via: WayName | undefined,
): Promise<{ way: Way; passed: readonly Passed[] }> {
  return await useBest(client, query, via, async (way, passed) => {
    if (via === undefined && way.calls === 0) await way.find(client, query, 1);
    return { way, passed };
  });
}
