import type { SearchQuery } from "../../api/search.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkSelection, writeList } from "../../output/formats/formats.ts";
import { parseFilter, passes } from "../../output/formats/select.ts";
import { pathsFrom, type ShownPath } from "../../output/paths.ts";
import type { Output } from "../../output/terminal/output.ts";
import {
  drawResults,
  searchColumns,
  snippetOf,
  type Span,
  sandboxCaveat,
} from "../../output/search/results.ts";
import type { SearchResult } from "../../output/search/schema.ts";
import { filesInState, type StateFlag } from "../files-in-state.ts";
import { parseSince, parseTags } from "../chat/options.ts";
import { connect, whileAsking, type Connected } from "../connect.ts";
import { findProjectRoot } from "../project-root.ts";
import { createAllowance } from "./allow.ts";
import { describePassed, searchByWays, type Searched, type WayName } from "./ways.ts";

export interface SearchOptions extends GlobalFlags, StateFlag {
  limit?: number;
  sourceType?: string[];
  documentSet?: string[];
  filterTag?: string[];
  since?: string;
  via?: WayName;
  allowTokens?: number;
}

const defaultLimit = 10;

function queryOf(
  args: readonly string[],
  options: SearchOptions,
  { client }: Connected,
  now: number,
): SearchQuery {
  const { filterTag, since } = options;
  return {
    query: args.join(" ").trim(),
    sourceTypes: options.sourceType,
    documentSets: options.documentSet,
    tags: filterTag && parseTags(filterTag, client.dialect),
    timeCutoff: since === undefined ? undefined : parseSince(since, now),
  };
}

interface LocalFiles {
  /** By document id, relative to the project root. */
  paths: ReadonlyMap<string, string>;
  shown: ShownPath;
}

/** The local files of documents, from the state of the project root if there is one. */
async function localFilesOf(
  context: Context,
  options: SearchOptions,
  connected: Connected & { output: Output },
  ids: readonly string[],
): Promise<LocalFiles> {
  try {
    const { folder: root, start } = findProjectRoot(context, [], options);
    const paths = await filesInState(context, { root, state: options.state }, connected, ids);
    return { paths, shown: pathsFrom(start, root) };
  } catch {
    // For example an invalid root: the results are then shown without files.
    return { paths: new Map(), shown: (path) => path };
  }
}

interface Results {
  rows: SearchResult[];
  hits: ReadonlyMap<SearchResult, readonly Span[]>;
}

function resultsOf(
  { found, way }: Searched,
  query: string,
  local: LocalFiles,
  isSandbox: boolean,
): Results {
  const hits = new Map<SearchResult, readonly Span[]>();
  const rows = found.map(({ text, id, ...rest }, index) => {
    const snippet = snippetOf(text, query);
    const row: SearchResult = {
      rank: index + 1,
      id,
      title: rest.title,
      link: rest.link,
      snippet: snippet.text === "" ? null : snippet.text,
      source: rest.source,
      updatedAt: rest.updatedAt,
      score: rest.score,
      path: (id === null ? undefined : local.paths.get(id)) ?? null,
      via: way.name,
      ...(isSandbox ? { sandbox: true } : {}),
    };
    hits.set(row, snippet.hits);
    return row;
  });
  return { rows, hits };
}

/** Names the way that was used where it is not the best one, and what an empty list may mean. */
async function explain(
  output: Output,
  { way, passed, found }: Searched,
  query: SearchQuery,
  count: number,
): Promise<void> {
  if (passed.length > 0) {
    await output.note(`searched by ${way.name}; not possible: ${describePassed(passed)}`);
  }
  const titles = found.filter(({ hidden }) => hidden).map(({ id, title }) => title ?? id ?? "");
  if (titles.length > 0) {
    await output.note(`hidden, so that no other search finds it: ${titles.join(", ")}`);
  }
  if (count > 0) return;
  await output.note("nothing found among the documents that this key can read");
  if (way.name === "keyword" && (query.documentSets ?? []).length > 0) {
    await output.note("this way does not check the names of document sets");
  }
}

/**
 * `search`: the documents that match a query, the best first. Throws CliError `usage` before any
 * request for bad flags and for a cost that is not allowed, `auth` where every free way is
 * refused, `not-found` for a way that the service lacks, and ApiError.
 */
export async function search(
  context: Context,
  args: string[],
  options: SearchOptions,
): Promise<void> {
  checkSelection(options, searchColumns(String));
  if (args.join("").trim() === "") throw new CliError("usage", "the query is empty");
  const connected = await connect(context, options);
  const { client, output } = connected;
  try {
    const query = queryOf(args, options, connected, context.now());
    const allow = createAllowance(context, options, output);
    const { via, limit = defaultLimit } = options;
    const searched = await searchByWays(
      client,
      query,
      { via, limit },
      {
        allow,
        waiting: (work) => whileAsking(connected, work),
      },
    );
    searched.found = searched.found.slice(0, limit);
    const ids = searched.found.flatMap(({ id }) => id ?? []);
    const local = await localFilesOf(context, options, connected, ids);
    const { rows, hits } = resultsOf(searched, query.query, local, client.isSandbox());
    const columns = searchColumns(local.shown);
    const asTable = (options.output ?? "table") === "table" && options.json !== true;
    const { fields, jq } = options;
    const draws = output.isTerminal && asTable && fields === undefined && jq === undefined;
    const filters = (options.filter ?? []).map(parseFilter);
    const shown = draws ? rows.filter((row) => passes(row, filters, columns)) : [];
    if (draws) await drawResults(output, shown, hits, local.shown);
    const count = draws ? shown.length : await writeList(output, options, columns, rows);
    await explain(output, searched, query, count);
    if (client.isSandbox()) await output.warn(sandboxCaveat);
  } finally {
    await client.close();
  }
}
