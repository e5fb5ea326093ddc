import { nestsTooDeep } from "../../api/answers/depth.ts";
import type { Dialect, PageForm } from "../../api/dialects.ts";
import { CliError } from "../../errors.ts";
import { readMember } from "../../output/formats/select.ts";

/** More pages than this mean that the service repeats pages. */
const maxPages = 100_000;

interface Page {
  rows: unknown[];
  /** Path of the next page; undefined after the last page. */
  next: string | undefined;
}

function withParameter(path: string, name: string, value: string): string {
  const url = new URL(`http://base${path}`);
  url.searchParams.set(name, value);
  return url.pathname + url.search;
}

function pagingError(path: string, problem: string): CliError {
  return new CliError("server-error", `pages of ${path}: ${problem}`, {
    hints: ["request the pages one by one, without --paginate"],
  });
}

/** Next path of a listing whose cursor is in the last row of the page. */
function nextByCursor(
  path: string,
  form: PageForm & { by: "cursor" },
  value: unknown,
  last: unknown,
) {
  if (readMember(value, [form.more]).value !== true) return undefined;
  const cursor = readMember(last, [form.cursor]).value;
  if (typeof cursor !== "string" || cursor === "") {
    throw pagingError(path, `the last row has no ${form.cursor}, but more rows follow`);
  }
  return withParameter(path, form.parameter, cursor);
}

/** Next path of a listing whose pages are numbered from 0. */
function nextByNumber(
  path: string,
  form: PageForm & { by: "number" },
  value: unknown,
  state: State,
) {
  const total = readMember(value, [form.total]).value;
  const number = Number(new URL(`http://base${path}`).searchParams.get(form.parameter) ?? "0");
  if (!Number.isSafeInteger(number)) throw pagingError(path, `${form.parameter} is not a number`);
  state.size ??= state.rows;
  // Rows before the user's first page count as seen.
  const seen = state.rows + (number - state.pages) * state.size;
  if (typeof total === "number" && seen >= total) return undefined;
  return withParameter(path, form.parameter, String(number + 1));
}

interface State {
  pages: number;
  rows: number;
  /** Rows of the first page: the page size. */
  size?: number;
}

function readPage(
  path: string,
  value: unknown,
  { pages: forms, name }: Dialect,
  state: State,
): Page {
  if (Array.isArray(value)) return { rows: value as unknown[], next: undefined };
  for (const form of forms ?? []) {
    const rows: unknown = readMember(value, [form.rows]).value;
    if (!Array.isArray(rows)) continue;
    state.rows += rows.length;
    if (rows.length === 0) return { rows, next: undefined };
    const next =
      form.by === "cursor"
        ? nextByCursor(path, form, value, rows.at(-1))
        : nextByNumber(path, form, value, state);
    return { rows: rows as unknown[], next };
  }
  throw new CliError(
    "server-error",
    `${path}: the response is not a page in a form of the ${name} interface`,
    {
      hints: ["leave out --paginate to see the response"],
    },
  );
}

/**
 * Yields the rows of all pages from `path` on; requests a page when its rows are due.
 * `send` sends one GET and returns the response text. Throws CliError `server-error`
 * for a response that is not a page, and for pages that do not end.
 */
export async function* rowsOfPages(
  path: string,
  dialect: Dialect,
  send: (path: string) => Promise<string>,
): AsyncGenerator<object> {
  const state: State = { pages: 0, rows: 0 };
  const seen = new Set<string>();
  for (let at: string | undefined = path; at !== undefined;) {
    if (seen.has(at) || seen.size > maxPages) throw pagingError(path, "the service repeats them");
    seen.add(at);
    const json = await send(at);
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      throw pagingError(at, "the response is not JSON");
    }
    if (nestsTooDeep(value, json)) throw pagingError(at, "the response is nested too deep");
    const page = readPage(at, value, dialect, state);
    for (const row of page.rows) {
      yield typeof row === "object" && row !== null ? row : { value: row };
    }
    state.pages++;
    at = page.next;
  }
}
