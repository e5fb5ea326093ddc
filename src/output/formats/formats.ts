import { CliError } from "../../errors.ts";
import type { Output } from "../terminal/output.ts";
import {
  checkNames,
  parseFields,
  parseFilter,
  passes,
  pick,
  shownColumns,
  valueOf,
  type Column,
  type Filter,
} from "./select.ts";
import { writers, type RowFormat } from "./writers.ts";
import type * as z from "zod/mini";

export type { Column } from "./select.ts";
type FormatName = keyof typeof writers;

/** The global flags for the format of the output. */
export interface FormatOptions {
  output?: string | undefined;
  json?: boolean | undefined;
  fields?: string | undefined;
  filter?: readonly string[] | undefined;
  jq?: string | undefined;
  /** Most rows of a list; the command has the flag. */
  limit?: number | undefined;
}

interface Request {
  /** Undefined without a flag; then the default of the output applies. */
  format: FormatName | undefined;
  fields: string[] | undefined;
  filters: Filter[];
  jq: string | undefined;
  limit: number;
}

const names = Object.keys(writers) as FormatName[];

function readRequest(options: FormatOptions): Request {
  const { jq, json, output } = options;
  const format = json === true ? "json" : names.find((each) => each === output);
  if (jq !== undefined && format !== undefined && format !== "json" && format !== "ndjson") {
    throw new CliError("usage", `--jq and --output ${format} exclude each other`, {
      hints: ["--jq sets the format itself: it prints text as it is, anything else as JSON"],
    });
  }
  return {
    format,
    fields: options.fields === undefined ? undefined : parseFields(options.fields),
    filters: (options.filter ?? []).map(parseFilter),
    jq,
    limit: options.limit ?? Infinity,
  };
}

/**
 * Throws CliError `usage` for an unknown format, an invalid --fields or --filter,
 * or flags that exclude each other. Call it before any request.
 */
export function checkFormat(options: FormatOptions): void {
  readRequest(options);
}

/**
 * Same as checkFormat(), for members that are known before any request. Also throws CliError `usage`
 * for a name in --fields or --filter that is neither a column nor a member of `sample`.
 */
export function checkSelection<Row extends object>(
  options: FormatOptions,
  columns: readonly Column<Row>[],
  sample: object = {},
): void {
  const { fields = [], filters } = readRequest(options);
  checkNames([...fields, ...filters.map(({ name }) => name)], columns as Column<object>[], [
    sample,
  ]);
}

/** Prints the results of a jq expression on a JSON text. */
export async function writeJq(
  output: Output,
  options: Pick<FormatOptions, "jq" | "output">,
  json: string,
): Promise<void> {
  const { runJq } = await import("./jq.ts");
  const { signal } = output;
  for (const line of await runJq(options.jq ?? ".", json, { signal })) {
    // Like `gh --jq`: text is printed without quotes, so that scripts need not unquote it.
    if (line.startsWith('"') && options.output !== "ndjson") {
      await output.line(JSON.parse(line) as string);
    } else await output.json(`${line}\n`);
  }
}

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** Large enough to avoid a system call for each row, small enough to stream. */
const bufferLength = 64 * 1024;

async function readAll<Row>(rows: Rows<Row>, limit: number): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) if (all.push(row) >= limit) break;
  return all;
}

/** Yields the rows that pass the filters, at most `limit`, without secrets. */
async function* select<Row extends object>(
  rows: Rows<Row>,
  { filters, limit }: Request,
  columns: readonly Column<Row>[],
  { secrets }: Output,
): AsyncGenerator<Row> {
  let left = limit;
  for await (const row of rows) {
    if (!passes(row, filters, columns)) continue;
    // Redacted before a cell is cut or jq takes a part: a part of a secret would not be found.
    yield secrets.redactAll(row);
    if (--left <= 0) return;
  }
}

/** Writes rows one after the other in a format that needs no other row; returns their number. */
async function writeRows<Row extends object>(
  output: Output,
  format: RowFormat,
  columns: readonly Column<Row>[],
  rows: AsyncIterable<Row>,
  { fields, header }: { fields: string[] | undefined; header: boolean },
): Promise<number> {
  const write = (part: string): Promise<void> =>
    format.isJson ? output.json(part) : output.write(part);
  let count = 0;
  let text = header ? format.head(columns.map(({ name }) => name)) : "";
  for await (const row of rows) {
    const cells = (): unknown[] => columns.map((column) => valueOf(column, row));
    text += format.row(format.isCells ? cells() : fields ? pick(row, fields, columns) : row, count);
    count++;
    if (text.length < bufferLength) continue;
    await write(text);
    text = "";
  }
  await write(text + format.tail(count));
  return count;
}

/**
 * Writes rows in the requested format; default: a table on a terminal, else tsv
 * without a header. json, ndjson and yaml contain whole records unless --fields
 * selects members. Returns the number of rows that passed --filter, so that the
 * caller can report an empty list. Without `header`, the rows continue a table
 * that was written before.
 */
export async function writeList<Row extends object>(
  output: Output,
  options: FormatOptions,
  columns: readonly Column<Row>[],
  rows: Rows<Row>,
  header = true,
): Promise<number> {
  const request = readRequest(options);
  const { fields, filters, jq, limit } = request;
  const names = [...(fields ?? []), ...filters.map(({ name }) => name)];
  const isKnown = names.every((name) => columns.some((column) => column.name === name));
  const most = filters.length === 0 ? limit : Infinity;
  // Only the rows show whether a member exists, so all rows are read first.
  const source = isKnown ? rows : await readAll(rows, most);
  if (!isKnown) checkNames(names, columns, source as Row[]);
  const shown = shownColumns(columns, options.fields);
  const selected = select(source, request, columns, output);
  const name = request.format ?? (output.isTerminal ? "table" : "tsv");
  const format = jq === undefined ? await writers[name]?.() : undefined;
  if (format) return await writeRows(output, format, shown, selected, { fields, header });
  const all = await readAll(selected, Infinity);
  if (jq !== undefined) {
    const records = fields ? all.map((row) => pick(row, fields, columns)) : all;
    await writeJq(output, options, JSON.stringify(records));
  } else await (await import("../terminal/table.ts")).writeTable(output, shown, all);
  return all.length;
}

function leaves(record: object, prefix: string): [string, unknown][] {
  return Object.entries(record).flatMap(([name, value]): [string, unknown][] => {
    const inner = typeof value === "object" && value !== null && !Array.isArray(value);
    return inner ? leaves(value as object, `${prefix}${name}.`) : [[`${prefix}${name}`, value]];
  });
}

/**
 * Writes one record; default: a line for each member on a terminal, else json.
 * csv and tsv contain one row with a column for each innermost member.
 */
export async function writeRecord(
  output: Output,
  options: FormatOptions,
  rawRecord: object,
): Promise<void> {
  const record = output.secrets.redactAll(rawRecord);
  const { fields, filters, jq, format: given } = readRequest(options);
  if (filters.length > 0) {
    throw new CliError("usage", "--filter is for lists; this is one record", {
      hints: ["select members with --fields"],
    });
  }
  if (fields) checkNames(fields, [], [record]);
  const picked = fields ? pick(record, fields, []) : record;
  if (jq !== undefined) return await writeJq(output, options, JSON.stringify(picked));
  const format = await writers[given ?? (output.isTerminal ? "table" : "json")]?.();
  if (!format) return await (await import("./record.ts")).writeReadable(output, picked);
  if (format.isJson) return await output.json(format.single(picked));
  if (!format.isCells) return await output.write(format.single(picked));
  const members = leaves(picked, "");
  const head = format.head(members.map(([name]) => name));
  await output.write(
    head +
      format.row(
        members.map(([, value]) => value),
        0,
      ),
  );
}

/** Whether flags select members of the JSON of a report. */
const selectsMembers = ({ fields, jq }: FormatOptions): boolean =>
  fields !== undefined || jq !== undefined;

/** The format of stdout; `json` where flags select members. cli/ has refused unknown formats. */
export function reportFormat(options: FormatOptions): string {
  return selectsMembers(options) || options.json ? "json" : (options.output ?? "text");
}

/** A value with the members that a schema names. */
export function sampleOf(schema: z.ZodMiniType): unknown {
  const { def } = schema as
    | z.ZodMiniObject
    | z.ZodMiniOptional
    | z.ZodMiniNullable
    | z.ZodMiniArray;
  if (def.type === "optional" || def.type === "nullable") {
    return sampleOf(def.innerType as z.ZodMiniType);
  }
  if (def.type !== "object") return def.type === "array" ? [] : null;
  const members = Object.entries(def.shape as Record<string, z.ZodMiniType>);
  return Object.fromEntries(members.map(([name, member]) => [name, sampleOf(member)]));
}

/**
 * Throws CliError `usage` for --fields or --jq with a format without members, and for a name in
 * --fields that `sample` does not have. Call it before any request.
 */
export function checkMembers(
  options: FormatOptions,
  sample: object,
  formatsWithoutMembers: readonly string[] = ["text"],
): void {
  if (!selectsMembers(options)) return;
  if (formatsWithoutMembers.includes(options.output ?? "")) {
    const flag = options.fields === undefined ? "--jq" : "--fields";
    throw new CliError("usage", `${flag} and --output ${options.output} exclude each other`, {
      hints: ["the flag selects from the JSON: use --output json, or omit --output"],
    });
  }
  checkSelection(options, [], sample);
}

/** Writes the JSON of a report, which comes in pieces: whole, or the members that flags select. */
export async function writeJsonReport(
  output: Output,
  options: FormatOptions,
  pieces: Iterable<string>,
): Promise<void> {
  if (!selectsMembers(options)) {
    for (const piece of pieces) await output.json(piece);
    return;
  }
  const record = JSON.parse([...pieces].join("")) as object;
  await writeRecord(output, { ...options, output: options.output ?? "json" }, record);
}
