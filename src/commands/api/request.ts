import type { Call, Client } from "../../api/client.ts";
import { exactBytes } from "../../api/transport/multipart.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError, codeOf, fileProblem } from "../../errors.ts";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, resolve } from "node:path";
import {
  isMethod,
  isSafe,
  keyFor,
  parseHeaders,
  parseMethod,
  parsePath,
  withQuery,
  type Method,
} from "./address.ts";

export interface ApiOptions extends GlobalFlags {
  method?: string;
  rawField?: string[];
  field?: string[];
  /** --input; `input` is the global --no-input. */
  inputFile?: string;
  header?: string[];
  include?: boolean;
  paginate?: boolean;
  silent?: boolean;
  key?: "api" | "access";
}

/** Body members from --raw-field and --field. Has no prototype, so every name is a plain member. */
interface Tree {
  [name: string]: unknown;
}

/** One --raw-field or --field. */
export interface Field {
  name: string;
  /** Absent for `name[]`, an empty list. */
  value?: unknown;
}

const maxDepth = 20;

function isTree(value: unknown): value is Tree {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Splits `a[b][]` into its steps: `a`, `b` and an empty step, which stands for a list element. */
function stepsOf(name: string): string[] {
  const [, first, rest = ""] = /^([^[\]]+)((?:\[[^[\]]*\])*)$/.exec(name) ?? [];
  const steps = first === undefined ? [] : [first, ...rest.split("[").slice(1)];
  if (steps.length === 0 || steps.length > maxDepth) {
    throw new CliError("usage", `field ${name}: not a valid field name`, {
      hints: ["write name, name[member], or name[] for an element of a list"],
    });
  }
  return steps.map((step) => step.replace(/\]$/, ""));
}

/** Whether the last list element can hold this member; else the member begins the next element. */
function canHold(tree: Tree, steps: readonly string[]): boolean {
  const [step = "", ...rest] = steps;
  const known = tree[step];
  if (known === undefined) return true;
  if (rest.length === 0) return false;
  if (rest[0] === "") return Array.isArray(known);
  return isTree(known) && canHold(known, rest);
}

function contradiction(name: string): CliError {
  return new CliError("usage", `field ${name}: it contradicts an earlier field`, {
    hints: ["use each name once, with one kind of value; name[] adds to a list"],
  });
}

/** The value of a member, or of the whole body, once it has a field at these steps. */
function grow(known: unknown, steps: readonly string[], field: Field): unknown {
  const [step, ...rest] = steps;
  if (step === undefined) {
    if (known !== undefined) throw contradiction(field.name);
    return field.value;
  }
  if (step !== "") {
    const tree = known === undefined ? (Object.create(null) as Tree) : known;
    if (!isTree(tree)) throw contradiction(field.name);
    tree[step] = grow(tree[step], rest, field);
    return tree;
  }
  const list: unknown = known === undefined ? [] : known;
  if (!Array.isArray(list) || rest[0] === "") throw contradiction(field.name);
  const last: unknown = list.at(-1);
  if (rest.length > 0 && isTree(last) && canHold(last, rest)) grow(last, rest, field);
  else if (rest.length > 0 || "value" in field) list.push(grow(undefined, rest, field));
  return list as unknown[];
}

/**
 * Builds one object from the fields, nested as in `gh api`: `a[b]=c` is a member of an
 * object, `a[]=c` an element of a list, `a[][b]=c` a member of an element. A member
 * that the last element already has begins the next element. Throws CliError `usage`
 * for invalid names and for names that contradict each other.
 */
export function createBody(fields: readonly Field[]): Tree {
  const body = Object.create(null) as Tree;
  for (const field of fields) grow(body, stepsOf(field.name), field);
  return body;
}

function queryText(name: string, value: unknown): string {
  if (value === null) return "";
  if (typeof value !== "object") return String(value);
  throw new CliError("usage", `field ${name}: a query can hold only texts and lists of texts`, {
    hints: ["send it in a body: --method POST"],
  });
}

/** Builds a query string without `?`. A list repeats its name: the service reads lists this way. */
export function createQuery(fields: readonly Field[]): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(createBody(fields))) {
    for (const each of Array.isArray(value) ? (value as unknown[]) : [value]) {
      query.append(name, queryText(name, each));
    }
  }
  return query.toString();
}

/** The value of a typed field: a JSON literal, a whole number, or the unchanged text. */
export function typedValue(name: string, text: string): unknown {
  if (["true", "false", "null"].includes(text)) return JSON.parse(text);
  if (!/^-?(?:0|[1-9]\d*)$/.test(text)) return text;
  const number = Number(text);
  if (Number.isSafeInteger(number)) return number;
  throw new CliError("usage", `--field ${name}: the number is too large to be sent exactly`, {
    hints: ["send it as text with --raw-field, or the whole body with --input"],
  });
}

/** Splits `name=value`; `name[]` alone is an empty list. Throws CliError `usage`. */
export function splitField(flag: string, given: string): [name: string, text: string | undefined] {
  const at = given.indexOf("=");
  if (at > 0) return [given.slice(0, at), given.slice(at + 1)];
  if (at < 0 && given.endsWith("[]")) return [given, undefined];
  // The argument is not quoted: it may be a secret without its name.
  throw new CliError("usage", `${flag}: expected name=value`, {
    hints: ["for example -f message=Hello, -F stream=false, -F text=@file.md"],
  });
}

type BodyParts = Pick<Call, "body" | "contentType" | "contentLength" | "attempts">;

/** Largest field value from a file or stdin. */
const maxFieldBytes = 64 * 1024 * 1024;

function unreadable(flag: string, path: string, error: unknown): CliError {
  return new CliError("usage", `${flag}: cannot read ${path}: ${fileProblem(codeOf(error))}`, {
    cause: error,
    hints: ["check the path; - stands for stdin"],
  });
}

function checkPiped({ stdin }: Context, flag: string): void {
  if (!stdin.isTTY) return;
  throw new CliError("usage", `${flag}: stdin is a terminal; nothing is piped in`, {
    hints: ["for example `knowctl api POST PATH --input - < body.json`"],
  });
}

async function* stdinChunks({ stdin, signal }: Context): AsyncGenerator<Uint8Array> {
  const { stream } = stdin;
  const stop = (): void => void stream.destroy();
  signal.addEventListener("abort", stop, { once: true });
  try {
    yield* stdin;
  } catch (error) {
    signal.throwIfAborted();
    throw new CliError("local", "cannot read stdin", { cause: error });
  } finally {
    signal.removeEventListener("abort", stop);
    // The service may respond before the whole body is sent; then nothing more is read.
    stream.destroy();
  }
}

/**
 * The body of --input: a file, or stdin with `-`, sent while it is read. Only a body
 * that can be read twice is retried. Throws CliError `usage` for a file that cannot
 * be read; while sending, `local` for a file that changes.
 */
async function inputBody(context: Context, input: string): Promise<BodyParts> {
  const contentType = "application/json";
  if (input === "-") {
    checkPiped(context, "--input -");
    return { contentType, attempts: 1, body: () => stdinChunks(context) };
  }
  const path = resolve(context.cwd, input);
  try {
    const info = await stat(path);
    if (info.isDirectory()) throw Object.assign(new Error("a folder"), { code: "EISDIR" });
    if (!info.isFile()) return { contentType, attempts: 1, body: () => createReadStream(path) };
    const bytes = () => createReadStream(path);
    const file = { name: basename(path), type: contentType, sizeBytes: info.size, bytes };
    return { contentType, contentLength: info.size, body: () => exactBytes(file) };
  } catch (error) {
    throw unreadable("--input", input, error);
  }
}

/** The text of a file, or of stdin with `-`, for a field. Throws CliError `usage`. */
async function fieldText(context: Context, name: string, file: string): Promise<string> {
  const flag = `--field ${name}`;
  if (file === "-") checkPiped(context, flag);
  const chunks: Uint8Array[] = [];
  let size = 0;
  try {
    const path = resolve(context.cwd, file);
    for await (const chunk of file === "-" ? stdinChunks(context) : createReadStream(path)) {
      chunks.push(chunk as Uint8Array);
      if ((size += (chunk as Uint8Array).length) > maxFieldBytes) break;
    }
  } catch (error) {
    context.signal.throwIfAborted();
    throw unreadable(flag, file, error);
  }
  if (size > maxFieldBytes) {
    throw new CliError("usage", `${flag}: ${file} is larger than ${maxFieldBytes} bytes`, {
      hints: ["send the whole body with --input, which has no limit"],
    });
  }
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(Buffer.concat(chunks));
  } catch (error) {
    throw new CliError("usage", `${flag}: ${file} is not UTF-8`, {
      cause: error,
      hints: ["a field must be text; `knowctl files upload` sends files of any kind"],
    });
  }
}

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
