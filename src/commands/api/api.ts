import type { Client } from "../../api/client.ts";
import type { Answer } from "../../api/transport/exchange.ts";
import { header } from "../../api/transport/headers.ts";
import type { FaultKind } from "../../api/retry/policy.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError } from "../../errors.ts";
import { checkFormat, writeList } from "../../output/formats/formats.ts";
import type { Output } from "../../output/terminal/output.ts";
import { rowsWhileWaiting, whileWaiting } from "../../output/terminal/spinner.ts";
import { withConnection } from "../connect.ts";
import { isSafe, secretValues } from "./address.ts";
import { createCall, readRequest, type ApiOptions, type ApiRequest } from "./request.ts";
import { isParsed, readParsed, showBody, showHead } from "./show.ts";
import type { Dialect, PageForm } from "../../api/dialects.ts";
import { readMember } from "../../output/formats/select.ts";

/** More pages than this mean that the service repeats pages. */
const maxPages = 100_000;

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

/** Next path of a listing whose pages are numbered from 0; `sizes` are the rows of each page so far. */
function nextByNumber(
  path: string,
  form: PageForm & { by: "number" },
  value: unknown,
  sizes: readonly number[],
) {
  const total = readMember(value, [form.total]).value;
  const number = Number(new URL(`http://base${path}`).searchParams.get(form.parameter) ?? "0");
  if (!Number.isSafeInteger(number)) throw pagingError(path, `${form.parameter} is not a number`);
  // Rows before the user's first page count as seen; the first page has the page size.
  const before = (number + 1 - sizes.length) * (sizes[0] ?? 0);
  const seen = sizes.reduce((sum, size) => sum + size, before);
  if (typeof total === "number" && seen >= total) return undefined;
  return withParameter(path, form.parameter, String(number + 1));
}

/**
 * Yields the rows of all pages from `path` on; requests a page when its rows are due.
 * `read` sends one GET and parses the response. Throws CliError `server-error`
 * for a response that is not a page, and for pages that do not end.
 */
async function* rowsOfPages(
  path: string,
  { pages: forms = [], name }: Dialect,
  read: (path: string) => Promise<unknown>,
): AsyncGenerator<object> {
  const sizes: number[] = [];
  const seen = new Set<string>();
  for (let at: string | undefined = path; at !== undefined;) {
    if (seen.has(at) || seen.size > maxPages) throw pagingError(path, "the service repeats them");
    seen.add(at);
    const value = await read(at);
    const form = forms.find(({ rows }) => Array.isArray(readMember(value, [rows]).value));
    const found = form ? readMember(value, [form.rows]).value : value;
    if (!Array.isArray(found)) {
      const message = `${at}: the response is not a page in a form of the ${name} dialect`;
      throw new CliError("server-error", message, {
        hints: ["leave out --paginate to see the response"],
      });
    }
    const rows = found as unknown[];
    for (const row of rows) yield typeof row === "object" && row !== null ? row : { value: row };
    sizes.push(rows.length);
    if (!form || rows.length === 0) return;
    at =
      form.by === "cursor"
        ? nextByCursor(at, form, value, rows.at(-1))
        : nextByNumber(at, form, value, sizes);
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
  if (!(error instanceof ApiError)) return error;
  const { exit, message, hints, status, code } = error;
  const hinted = (...all: string[]): CliError =>
    new CliError(exit, message, { cause: error, hints: all });
  if (code === "ANSWER_TOO_LARGE") {
    return hinted(
      "without --output, --fields, --filter and --jq a response of any size is streamed",
    );
  }
  if (status === 404 || status === 405) {
    return hinted("check method and path; paths are below the API root", ...hints);
  }
  if (isSafe(method) || (kind !== "connection" && kind !== "timeout")) return error;
  return hinted(
    ...hints,
    "the service may have acted on the request: check before you send it again",
  );
}

const waitText = "waiting for the response";

interface ApiRun {
  context: Context;
  client: Client;
  output: Output;
  options: ApiOptions;
  request: ApiRequest;
}

async function sendOnce({ context, client, output, options, request }: ApiRun): Promise<void> {
  const created = await createCall(context, client, request, options.inputFile);
  let refused: Answer | undefined;
  let fault: FaultKind | undefined;
  try {
    const call = {
      ...created,
      ...(isParsed(options) ? { responseBytes: maxParsedBytes } : {}),
      onFailure: (kind: FaultKind) => void (fault = kind),
    };
    const answer = await whileWaiting(output, waitText, () =>
      client.raw(call, (each) => void (refused = each)),
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
    throw new CliError("not-found", `the ${dialect.name} dialect has no pages`, {
      hints: ["leave out --paginate: each of its listings is one response"],
    });
  }
  const read = async (path: string): Promise<unknown> => {
    const call = await createCall(context, client, { ...request, path }, undefined);
    const answer = await client.raw({ ...call, responseBytes: maxParsedBytes });
    const broken = (problem: string): CliError =>
      pagingError(path, `the response is ${problem === "empty" ? "not JSON" : problem}`);
    return (await readParsed(output, answer.body, broken)).value;
  };
  const rows = rowsOfPages(request.path, dialect, read);
  if (options.silent === true) {
    for await (const row of rowsWhileWaiting(output, waitText, rows)) void row;
    return;
  }
  const format = isParsed(options) ? options : { ...options, output: "json" };
  await writeList(output, format, [], rowsWhileWaiting(output, waitText, rows));
}

/**
 * `api [METHOD] PATH`: sends any request to the service with the profile's key, like
 * `gh api`. Streams the response body to stdout, also that of an error. The exit
 * code reports the outcome.
 */
export async function api(context: Context, args: string[], options: ApiOptions): Promise<void> {
  checkOutputFlags(options);
  await withConnection(context, options, async ({ client, output, connection }) => {
    const request = await readRequest(context, args, options, connection.baseUrl);
    for (const value of secretValues(request.headers)) output.secrets.add(value);
    const run = { context, client, output, options, request };
    await (options.paginate === true ? sendPages(run) : sendOnce(run));
  });
}
