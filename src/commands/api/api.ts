import type { ApiOptions } from "./options.ts";
import type { Client } from "../../api/client.ts";
import type { Answer } from "../../api/transport/exchange.ts";
import { header } from "../../api/transport/headers.ts";
import type { FaultKind } from "../../api/retry/policy.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { checkFormat, writeList } from "../../output/formats/formats.ts";
import type { Output } from "../../output/terminal/output.ts";
import { connect } from "../connect.ts";
import { isSafe } from "./address.ts";
import { secretValues } from "./headers.ts";
import { createCall, readRequest, type ApiRequest } from "./request.ts";
import { isParsed, safeJson, showBody, showHead } from "./show.ts";
import { nestsTooDeep } from "../../api/answers/depth.ts";
import type { Dialect, PageForm } from "../../api/dialects.ts";
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
async function* rowsOfPages(
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

/** Limit for a parsed response, which is held in memory. Other listings have the same limit. */
const maxParsedBytes = 64 * 1024 * 1024;

/** Checks the output flags. `raw` is not a format of lists and records. */
function checkOutputFlags(options: ApiOptions): void {
  if (options.output !== "raw") return checkFormat(options);
  const isSelected = (options.fields ?? options.filter ?? options.jq) !== undefined;
  if (!isSelected && options.json !== true) return;
  throw new CliError("usage", "--output raw writes the bytes unchanged", {
    hints: ["leave out --json, --fields, --filter and --jq, or --output raw"],
  });
}

async function showRefused(output: Output, options: ApiOptions, answer: Answer): Promise<void> {
  const { status, headers, body } = answer;
  if (options.include === true) await showHead(output, answer);
  const isPage = /html/i.test(header(headers, "content-type") ?? "");
  if (body.length === 0 || isParsed(options) || (isPage && options.output !== "raw")) return;
  const stream = (async function* () {
    yield body;
  })();
  await showBody(output, options, { status, headers, body: stream }, "");
}

/** Adds hints of this command. `kind` tells whether the service may have acted on the request. */
function withHints(error: unknown, { method }: ApiRequest, kind: FaultKind | undefined): unknown {
  if (error instanceof ApiError && error.code === "ANSWER_TOO_LARGE") {
    return new CliError(error.exit, error.message, {
      cause: error,
      hints: ["without --output, --fields, --filter and --jq a response of any size is streamed"],
    });
  }
  if (error instanceof ApiError && (error.status === 404 || error.status === 405)) {
    return new CliError(error.exit, error.message, {
      cause: error,
      hints: ["check method and path; paths are below the API root", ...error.hints],
    });
  }
  const isUnknown = kind === "connection" || kind === "timeout";
  if (!(error instanceof ApiError) || isSafe(method) || !isUnknown) return error;
  return new CliError(error.exit, error.message, {
    cause: error,
    hints: [
      ...error.hints,
      "the service may have acted on the request: check before you send it again",
    ],
  });
}

interface ApiRun {
  context: Context;
  client: Client;
  output: Output;
  options: ApiOptions;
  request: ApiRequest;
}

async function sendOnce({ context, client, output, options, request }: ApiRun): Promise<void> {
  const call = await createCall(context, client, request, options.inputFile);
  let refused: Answer | undefined;
  let fault: FaultKind | undefined;
  try {
    const answer = await client.raw(
      {
        ...call,
        ...(isParsed(options) ? { responseBytes: maxParsedBytes } : {}),
        onFailure: (kind) => void (fault = kind),
      },
      (each) => void (refused = each),
    );
    if (options.include === true) await showHead(output, answer);
    await showBody(output, options, answer, client.url(request.path));
  } catch (error) {
    // A redirect ends the call, so it is the last response. An error status may be from an earlier attempt.
    const isLast = fault === "status" || (refused !== undefined && refused.status < 400);
    if (isLast && refused) await showRefused(output, options, refused);
    throw withHints(error, request, fault);
  }
}

async function sendPages({ context, client, output, options, request }: ApiRun): Promise<void> {
  const { dialect } = client;
  if (dialect.pages === undefined) {
    throw new CliError("not-found", `the ${dialect.name} interface has no pages`, {
      hints: ["leave out --paginate: each of its listings is one response"],
    });
  }
  const send = async (path: string): Promise<string> => {
    const call = await createCall(context, client, { ...request, path }, undefined);
    const answer = await client.raw({ ...call, responseBytes: maxParsedBytes });
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return safeJson(output, Buffer.concat(chunks).toString());
  };
  const rows = rowsOfPages(request.path, dialect, send);
  if (options.silent === true) {
    for await (const row of rows) void row;
    return;
  }
  const format = isParsed(options) ? options : { ...options, output: "json" };
  await writeList(output, format, [], rows);
}

/**
 * `api [METHOD] PATH`: sends any request to the service with the profile's key, like
 * `gh api`. Streams the response body to stdout, also that of an error. The exit
 * code reports the outcome.
 */
export async function api(context: Context, args: string[], options: ApiOptions): Promise<void> {
  checkOutputFlags(options);
  const { client, output, connection } = await connect(context, options);
  try {
    const request = await readRequest(context, args, options, connection.baseUrl);
    for (const value of secretValues(request.headers)) output.secrets.add(value);
    const run = { context, client, output, options, request };
    await (options.paginate === true ? sendPages(run) : sendOnce(run));
  } finally {
    await client.close();
  }
}
