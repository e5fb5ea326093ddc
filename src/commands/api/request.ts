import type { ApiOptions } from "./options.ts";
import type { Call, Client } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import {
  isMethod,
  isSafe,
  keyFor,
  parseMethod,
  parsePath,
  withQuery,
  type Method,
} from "./address.ts";
import { fieldText, inputBody } from "./body.ts";
import { createBody, createQuery, splitField, typedValue, type Field } from "./fields.ts";
import { parseHeaders } from "./headers.ts";

/** The request from arguments and flags, read before anything is opened or sent. */
export interface ApiRequest {
  method: Method;
  path: string;
  headers: Record<string, string>;
  fields: Field[];
  key: Call["key"] | undefined;
}

function splitArguments(
  args: readonly string[],
  given: string | undefined,
): [word: string | undefined, path: string | undefined] {
  const [first = "", second] = args;
  if (second === undefined && isMethod(first)) {
    throw new CliError("usage", `${first} is a method; the path after it is missing`, {
      hints: ["for example `knowctl api GET tool`; write a path of that name as /api/" + first],
    });
  }
  if (second === undefined) return [given, first];
  if (given === undefined) return [first, second];
  throw new CliError("usage", "the method is set twice", {
    hints: ["write it before the path, or with --method"],
  });
}

async function readFields(context: Context, options: ApiOptions): Promise<Field[]> {
  const fields: Field[] = [];
  for (const each of options.rawField ?? []) {
    const [name, value] = splitField("--raw-field", each);
    fields.push(value === undefined ? { name } : { name, value });
  }
  for (const each of options.field ?? []) {
    const [name, text] = splitField("--field", each);
    if (text === undefined) fields.push({ name });
    else if (text.startsWith("@")) {
      fields.push({ name, value: await fieldText(context, name, text.slice(1)) });
    } else fields.push({ name, value: typedValue(name, text) });
  }
  return fields;
}

function checkStdin(options: ApiOptions): void {
  const readers = (options.field ?? []).filter((each) => /^[^=]+=@-$/.test(each)).length;
  if (readers + (options.inputFile === "-" ? 1 : 0) < 2) return;
  throw new CliError("usage", "stdin can be read only once", {
    hints: ["use - in only one of --input and --field"],
  });
}

function checkPages(options: ApiOptions, method: Method): void {
  if (options.paginate !== true) return;
  const other = options.include === true ? "--include" : "--output raw";
  if (options.include === true || options.output === "raw") {
    throw new CliError("usage", `--paginate and ${other} exclude each other`, {
      hints: ["--paginate prints the rows of all pages as one list"],
    });
  }
  if (method !== "GET" || options.inputFile !== undefined) {
    throw new CliError("usage", "--paginate works only with GET and without a body", {
      hints: ["with fields, add --method GET: they become the query"],
    });
  }
}

/** Reads the request from the command line. Throws CliError `usage` before anything is sent. */
export async function readRequest(
  context: Context,
  args: readonly string[],
  options: ApiOptions,
  baseUrl: string,
): Promise<ApiRequest> {
  const [word, given = ""] = splitArguments(args, options.method);
  const hasBody = options.inputFile !== undefined;
  const hasFields = (options.rawField ?? options.field) !== undefined;
  const method = parseMethod(word ?? (hasBody || hasFields ? "POST" : "GET"));
  const path = parsePath(given, baseUrl);
  const headers = parseHeaders(options.header ?? []);
  checkStdin(options);
  checkPages(options, method);
  const fields = await readFields(context, options);
  const isQuery = isSafe(method) || hasBody;
  const keys = { api: "apiKey", access: "accessToken" } as const;
  return {
    method,
    path: isQuery ? withQuery(path, createQuery(fields)) : path,
    fields: isQuery ? [] : fields,
    headers,
    key: options.key === undefined ? undefined : keys[options.key],
  };
}

/** Builds the client's call. Throws CliError `usage` for a body that cannot be read. */
export async function createCall(
  context: Context,
  { dialect }: Client,
  { method, path, headers, fields, key }: ApiRequest,
  input: string | undefined,
): Promise<Call> {
  const call: Call = {
    what: "api",
    policy: isSafe(method) ? "rawSafe" : "rawUnsafe",
    method,
    path,
    key: key ?? keyFor(path, dialect),
    headers: { accept: "application/json, */*", ...headers },
  };
  if (input !== undefined) return { ...call, ...(await inputBody(context, input)) };
  if (fields.length === 0) return call;
  const body = Buffer.from(JSON.stringify(createBody(fields)));
  return { ...call, body, contentType: "application/json" };
}
