import {
  writeJq,
  writeList,
  writeRecord,
  type Column,
  type FormatOptions,
} from "../../output/formats/formats.ts";
import type { Output } from "../../output/terminal/output.ts";
import { readMember } from "../../output/formats/select.ts";
import type { ApiOptions } from "./request.ts";
import { STATUS_CODES } from "node:http";
import { allHeaders, header } from "../../api/transport/headers.ts";
import { withoutSecrets } from "../../api/transport/attempt.ts";
import { nestsTooDeep, redactText } from "../../api/answers/redaction.ts";
import type { StreamedAnswer } from "../../api/transport/exchange.ts";
import { shorten } from "../../api/answers/words.ts";
import { CliError } from "../../errors.ts";
import { createIndenter } from "../../output/terminal/indent.ts";
import {
  createCredentialMask,
  createMaskOfUnknown,
  maskCredentials,
} from "../../output/mask-json.ts";
import { neutraliseJson } from "../../output/terminal/neutralise.ts";

/** Rows that define the columns of a list with unknown members. */
const sampleSize = 100;

function isRecord(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A column for each member of the first rows. Numbers align right, so that they are never cut. */
function columnsOf(rows: readonly object[]): Column<object>[] {
  const first = rows.slice(0, sampleSize);
  const names = new Set(first.flatMap((row) => Object.keys(row)));
  return [...names].map((name) => {
    const value = (row: object): unknown => readMember(row, [name]).value;
    const values = first.map(value).filter((each) => (each ?? null) !== null);
    const isNumber = values.length > 0 && values.every((each) => typeof each === "number");
    return { name, value, ...(isNumber ? { align: "right" } : {}) };
  });
}

/**
 * Writes any JSON value; `json` is its text. A list of objects is written as a list with
 * their members as columns, an object as one record, anything else as a list with one
 * column `value`. Throws CliError `usage` like writeList and writeRecord.
 */
async function writeValue(
  output: Output,
  options: FormatOptions,
  value: unknown,
  json: string,
): Promise<void> {
  const plain = options.fields === undefined && options.filter === undefined;
  if (options.jq !== undefined && plain) return await writeJq(output, options, json);
  if (isRecord(value)) return await writeRecord(output, options, value);
  const list: unknown[] = Array.isArray(value) ? value : [value];
  if (list.every(isRecord)) {
    await writeList(output, options, columnsOf(list), list);
    return;
  }
  const isWhole = options.json === true || options.output === "json";
  if (plain && isWhole) return await output.json(`${JSON.stringify(value, undefined, 2)}\n`);
  const rows = list.map((each) => (isRecord(each) ? each : { value: each }));
  await writeList(output, options, columnsOf(rows), rows);
}

type Head = Pick<StreamedAnswer, "status" | "headers">;

/** Writes the status line, the headers with keys masked, and an empty line, as in HTTP/1.1. */
export async function showHead(output: Output, { status, headers }: Head): Promise<void> {
  await output.line(`HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}`.trimEnd());
  for (const [name, value] of Object.entries(withoutSecrets(allHeaders(headers)))) {
    for (const each of Array.isArray(value) ? value : [value]) {
      await output.line(`${name}: ${each.replace(/[\r\n]+/g, " ")}`);
    }
  }
  await output.line("");
}

const jsonType =
  /^(?:application\/(?:[\w.-]+\+)?(?:json|json-seq|ndjson|x-ndjson|jsonl)|text\/event-stream)\b/i;
const onlyJson = /^application\/(?:[\w.-]+\+)?json\b/i;
const textType =
  /^(?:text\/|application\/(?:[\w.-]+\+)?(?:xml|yaml|x-yaml|toml|javascript|x-www-form-urlencoded)\b)/i;

type Kind = "json" | "text" | "page" | "bytes";

function kindOf(contentType: string): Kind {
  if (jsonType.test(contentType)) return "json";
  if (/^(?:text\/html|application\/xhtml\+xml)\b/i.test(contentType)) return "page";
  return contentType === "" || textType.test(contentType) ? "text" : "bytes";
}

function notText(kind: Kind, contentType: string, address: string): CliError {
  const shown = shorten(contentType, 80);
  if (kind === "page") {
    return new CliError("server-error", `unexpected answer (${shown}) from ${address}`, {
      hints: [
        "the response is a web page: check the path and the base URL",
        "--output raw writes the page as it is",
      ],
    });
  }
  return new CliError("server-error", `the response from ${address} is not text (${shown})`, {
    hints: ["--output raw writes its bytes: `knowctl api PATH --output raw > FILE`"],
  });
}

/** Writes JSON text in chunks. Holds back a tail that may be the beginning of a secret. */
function createJsonWriter(output: Output, layOut: (text: string) => string) {
  let held = "";
  const write = async (text: string, isLast: boolean): Promise<void> => {
    held += neutraliseJson(layOut(text));
    const end = held.length - (isLast ? 0 : output.secrets.openTail(held));
    const ready = isLast ? output.secrets.redactLast(held) : held.slice(0, end);
    held = held.slice(end);
    if (ready !== "") await output.json(ready);
  };
  return write;
}

/** Streams the body in constant memory: text and JSON made inert, or with `raw` every byte. */
async function showStream(
  output: Output,
  body: AsyncIterable<Uint8Array>,
  form: "raw" | "json" | "pretty" | "text",
  isJson: boolean,
): Promise<void> {
  const decoder = new TextDecoder();
  const mask = isJson ? createCredentialMask() : createMaskOfUnknown();
  const layOut = form === "pretty" ? createIndenter() : (text: string): string => text;
  const writeJson = createJsonWriter(output, layOut);
  let last = "\n";
  for await (const chunk of body) {
    if (form === "raw" && !output.isTerminal) {
      // latin1 maps one byte to one character, so bytes that are not masked stay unchanged.
      await output.bytes(Buffer.from(mask(Buffer.from(chunk).toString("latin1")), "latin1"));
      continue;
    }
    const text = mask(decoder.decode(chunk, { stream: true }));
    last = text.at(-1) ?? last;
    if (form === "json" || form === "pretty") await writeJson(text, false);
    else await output.write(text);
  }
  const rest = mask(decoder.decode()) + mask(undefined);
  if (form === "json" || form === "pretty") await writeJson(rest, true);
  else if (rest !== "") await output.write(rest);
  // On a terminal, the prompt begins on a new line.
  if (output.isTerminal && (last !== "\n" || form === "pretty")) await output.line("");
  await output.flush();
}

/** Parses a body, without the run's secrets and the connectors' keys. Throws what `broken` makes of a problem. */
export async function readParsed(
  { secrets }: Output,
  body: AsyncIterable<Uint8Array>,
  broken: (problem: string) => CliError,
): Promise<{ value: unknown; json: string }> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  const json = redactText(maskCredentials(Buffer.concat(chunks).toString()), secrets);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    // The parser's own message quotes the response.
    throw broken(json === "" ? "empty" : "not JSON");
  }
  if (nestsTooDeep(value, json)) throw broken("nested too deep");
  return { value, json };
}

/** Whether the flags need a parsed response, instead of the streamed one. */
export function isParsed({ output, json, fields, filter, jq }: ApiOptions): boolean {
  const isFormat = output !== undefined && output !== "raw";
  return isFormat || json === true || (fields ?? filter ?? jq) !== undefined;
}

/** Writes a response body in the form that the options select. `address` is for messages. */
export async function showBody(
  output: Output,
  options: ApiOptions,
  { headers, status, body }: StreamedAnswer,
  address: string,
): Promise<void> {
  const contentType = header(headers, "content-type") ?? "";
  const isEmpty = status === 204 || header(headers, "content-length") === "0";
  if (options.silent === true || isEmpty) {
    // Read to the end: only then is the response complete.
    for await (const chunk of body) void chunk;
    return;
  }
  if (options.output === "raw") {
    return await showStream(output, body, "raw", jsonType.test(contentType));
  }
  const kind = kindOf(contentType);
  if (kind === "page" || kind === "bytes") {
    await body.return(undefined);
    throw notText(kind, contentType, address);
  }
  if (isParsed(options)) {
    const broken = (problem: string): CliError =>
      new CliError("server-error", `the response from ${address} is ${problem}`, {
        hints: ["leave out --output, --fields, --filter and --jq to see it unchanged"],
      });
    const { value, json } = await readParsed(output, body, broken);
    return await writeValue(output, options, value, json);
  }
  const isPretty = output.isTerminal && onlyJson.test(contentType);
  await showStream(
    output,
    body,
    kind === "text" ? "text" : isPretty ? "pretty" : "json",
    kind === "json",
  );
}
