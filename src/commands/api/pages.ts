import { nestsTooDeep } from "../../api/answers/depth.ts";
import type { Dialect, PageForm } from "../../api/dialects.ts";
import { CliError } from "../../errors.ts";
import { readMember } from "../../output/formats/select.ts";

/** More pages than this are a service that repeats itself. */
const mostPages = 100_000;

interface Page {
  rows: unknown[];
  /** Where the next one is; undefined after the last. */
  next: string | undefined;
}

function withParameter(path: string, name: string, value: string): string {
  const url = new URL(`http://base${path}`);
  url.searchParams.set(name, value);
  return url.pathname + url.search;
}

function cannotGoOn(path: string, words: string): CliError {
  return new CliError("server-error", `pages of ${path}: ${words}`, {
    hints: ["ask for the pages one by one, without --paginate"],
  });
}

/** The next address of a listing whose pages are found by what stands last in this one. */
function afterCursor(
  path: string,
  form: PageForm & { by: "cursor" },
  value: unknown,
  last: unknown,
) {
  if (readMember(value, [form.more]).value !== true) return undefined;
  const cursor = readMember(last, [form.cursor]).value;
  if (typeof cursor !== "string" || cursor === "") {
    throw cannotGoOn(path, `the last row has no ${form.cursor}, and more rows follow`);
  }
  return withParameter(path, form.parameter, cursor);
}

/** The next address of a listing whose pages are numbered from 0. */
function afterNumber(
  path: string,
  form: PageForm & { by: "number" },
  value: unknown,
  state: State,
) {
  const total = readMember(value, [form.total]).value;
  const number = Number(new URL(`http://base${path}`).searchParams.get(form.parameter) ?? "0");
  if (!Number.isSafeInteger(number)) throw cannotGoOn(path, `${form.parameter} is no number`);
  state.size ??= state.rows;
  // Rows before the page that the user began with count as seen.
  const seen = state.rows + (number - state.pages) * state.size;
  if (typeof total === "number" && seen >= total) return undefined;
  return withParameter(path, form.parameter, String(number + 1));
}

interface State {
  pages: number;
  rows: number;
  /** Rows of the first page: the others have as many, but the last. */
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
        ? afterCursor(path, form, value, rows.at(-1))
        : afterNumber(path, form, value, state);
    return { rows: rows as unknown[], next };
  }
  throw new CliError(
    "server-error",
    `${path}: the answer is no page that ${name} is known to have`,
    {
      hints: ["leave --paginate out to see it"],
    },
  );
}

/**
 * The rows of all pages from `path` on, as they are asked for. `ask` sends one GET
 * and gives the text of its answer. Throws CliError `server-error` for an answer
 * that is no page or pages that do not end.
 */
export async function* rowsOfPages(
  path: string,
  dialect: Dialect,
  ask: (path: string) => Promise<string>,
): AsyncGenerator<object> {
  const state: State = { pages: 0, rows: 0 };
  const seen = new Set<string>();
  for (let at: string | undefined = path; at !== undefined;) {
    if (seen.has(at) || seen.size > mostPages) throw cannotGoOn(path, "they repeat themselves");
    seen.add(at);
    const json = await ask(at);
    let value: unknown;
    try {
      value = JSON.parse(json);
    } catch {
      throw cannotGoOn(at, "the answer is not JSON");
    }
    if (nestsTooDeep(value, json)) throw cannotGoOn(at, "the answer is nested too deep");
    const page = readPage(at, value, dialect, state);
    for (const row of page.rows) {
      yield typeof row === "object" && row !== null ? row : { value: row };
    }
    state.pages++;
    at = page.next;
  }
}
