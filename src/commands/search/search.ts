import type { SearchQuery } from "../../api/search.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkSelection, writeList } from "../../output/formats/formats.ts";
import { parseFilter, passes } from "../../output/formats/select.ts";
import { pathsFrom } from "../../output/paths.ts";
import type { Output } from "../../output/terminal/output.ts";
import {
  drawResults,
  searchColumns,
  snippetOf,
  type Span,
  sandboxCaveat,
} from "../../output/search/results.ts";
import type { SearchResult } from "../../output/search/schema.ts";
import { filesInProject, type StateFlag } from "../files-in-state.ts";
import { parseSince, parseTags } from "../chat/options.ts";
import { withConnection, whileAsking, type Connected } from "../connect.ts";
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

interface Results {
  rows: SearchResult[];
  hits: ReadonlyMap<SearchResult, readonly Span[]>;
}

function resultsOf(
  { found, way }: Searched,
  query: string,
  files: ReadonlyMap<string, string>,
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
      path: (id === null ? undefined : files.get(id)) ?? null,
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
  await withConnection(context, options, async (connected) => {
    const { client, output } = connected;
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
    const { files, root, start } = await filesInProject(context, options, connected, ids);
    const shownPath = pathsFrom(start, root);
    const { rows, hits } = resultsOf(searched, query.query, files, client.isSandbox());
    const columns = searchColumns(shownPath);
    const asTable = (options.output ?? "table") === "table" && options.json !== true;
    const { fields, jq } = options;
    const draws = output.isTerminal && asTable && fields === undefined && jq === undefined;
    const filters = (options.filter ?? []).map(parseFilter);
    const shown = draws ? rows.filter((row) => passes(row, filters, columns)) : [];
    if (draws) await drawResults(output, shown, hits, shownPath);
    const count = draws ? shown.length : await writeList(output, options, columns, rows);
    await explain(output, searched, query, count);
    if (client.isSandbox()) await output.warn(sandboxCaveat);
  });
}
