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
import { rowsOfPages } from "./pages.ts";
import { createCall, readAsked, type Asked } from "./request.ts";
import { isParsed, safeJson, showBody, showHead } from "./show.ts";

/** What is taken apart must be held: no more than other listings may have. */
const parsedBytes = 64 * 1024 * 1024;

/** The global flags in the form that lists and records take; raw is no format of theirs. */
function checkForm(options: ApiOptions): void {
  if (options.output !== "raw") return checkFormat(options);
  const isPicked = (options.fields ?? options.filter ?? options.jq) !== undefined;
  if (!isPicked && options.json !== true) return;
  throw new CliError("usage", "--output raw writes the bytes as they come", {
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

/** A failure with what to do about it here; also where nobody can say whether the request was taken. */
function afterFault(error: unknown, { method }: Asked, kind: FaultKind | undefined): unknown {
  if (error instanceof ApiError && error.code === "ANSWER_TOO_LARGE") {
    return new CliError(error.exit, error.message, {
      cause: error,
      hints: [
        "without --output, --fields, --filter and --jq it is written as it comes, of any size",
      ],
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
    hints: [...error.hints, "the service may have acted on it: look before you send it again"],
  });
}

interface Asking {
  context: Context;
  client: Client;
  output: Output;
  options: ApiOptions;
  asked: Asked;
}

async function askOnce({ context, client, output, options, asked }: Asking): Promise<void> {
  const call = await createCall(context, client, asked, options.inputFile);
  let refused: Answer | undefined;
  let fault: FaultKind | undefined;
  try {
    const answer = await client.raw(
      {
        ...call,
        ...(isParsed(options) ? { responseBytes: parsedBytes } : {}),
        onFailure: (kind) => void (fault = kind),
      },
      (each) => void (refused = each),
    );
    if (options.include === true) await showHead(output, answer);
    await showBody(output, options, answer, client.url(asked.path));
  } catch (error) {
    // A redirect ends the call, so it is the last answer; an error may have been that of an earlier attempt.
    const isLast = fault === "status" || (refused !== undefined && refused.status < 400);
    if (isLast && refused) await showRefused(output, options, refused);
    throw afterFault(error, asked, fault);
  }
}

async function askPages({ context, client, output, options, asked }: Asking): Promise<void> {
  const { dialect } = client;
  if (dialect.pages === undefined) {
    throw new CliError("not-found", `the ${dialect.name} interface has no pages`, {
      hints: ["leave --paginate out: its listings come whole"],
    });
  }
  const ask = async (path: string): Promise<string> => {
    const call = await createCall(context, client, { ...asked, path }, undefined);
    const answer = await client.raw({ ...call, responseBytes: parsedBytes });
    const chunks: Uint8Array[] = [];
    for await (const chunk of answer.body) chunks.push(chunk);
    return safeJson(output, Buffer.concat(chunks).toString());
  };
  const rows = rowsOfPages(asked.path, dialect, ask);
  if (options.silent === true) {
    for await (const row of rows) void row;
    return;
  }
  const format = isParsed(options) ? options : { ...options, output: "json" };
  await writeList(output, format, [], rows);
}

/**
 * `api [METHOD] PATH`: any request to the service with the profile's key, as
 * `gh api`. The body of the answer goes to stdout as it comes, an error's too; the
 * exit code says what became of it.
 */
export async function api(context: Context, args: string[], options: ApiOptions): Promise<void> {
  checkForm(options);
  const { client, output, connection } = await connect(context, options);
  try {
    const asked = await readAsked(context, args, options, connection.baseUrl);
    for (const value of secretValues(asked.headers)) output.secrets.add(value);
    const asking = { context, client, output, options, asked };
    await (options.paginate === true ? askPages(asking) : askOnce(asking));
  } finally {
    await client.close();
  }
}
