import { CliError } from "../../errors.ts";
import type { Output } from "../terminal/output.ts";
import {
  checkNames,
  createColumn,
  parseFields,
  parseFilter,
  passes,
  pick,
  type Column,
  type Filter,
} from "./select.ts";
import { writers } from "./writers.ts";

export type { Column } from "./select.ts";
type FormatName = keyof typeof writers;

/** The global flags for the format of the output. */
export interface FormatOptions {
  output?: string | undefined;
  json?: boolean | undefined;
  fields?: string | undefined;
  filter?: readonly string[] | undefined;
  jq?: string | undefined;
  flagSources?: Readonly<Record<string, "flag" | "env">> | undefined;
}

interface Request {
  /** Undefined without a flag; then the default of the output applies. */
  format: FormatName | undefined;
  fields: string[] | undefined;
  filters: Filter[];
  jq: string | undefined;
}

const names = Object.keys(writers) as FormatName[];

function readFormat(options: FormatOptions): FormatName | undefined {
  const { output, json, flagSources } = options;
  const format = names.find((each) => each === output);
  if (output !== undefined && !format) {
    throw new CliError("usage", `--output ${output}: no such format`, {
      hints: [`formats: ${names.join(", ")}`],
    });
  }
  if (json !== true) return format;
  if (format === undefined || format === "json") return "json";
  // A flag overrides a variable; two conflicting flags are an error.
  if (flagSources?.["output"] === "env") return "json";
  if (flagSources?.["json"] === "env") return format;
  throw new CliError("usage", `--json and --output ${format} exclude each other`, {
    hints: ["use only one of them"],
  });
}

function readRequest(options: FormatOptions): Request {
  const format = readFormat(options);
  const { jq } = options;
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
export function checkSelection<Row>(
  options: FormatOptions,
  columns: readonly Column<Row>[],
  sample: Row,
): void {
  const { fields = [], filters } = readRequest(options);
  checkNames([...fields, ...filters.map(({ name }) => name)], columns, [sample]);
}

async function* select<Row extends object>(
  rows: Iterable<Row> | AsyncIterable<Row>,
  request: Request,
  columns: readonly Column<Row>[],
  { secrets }: Output,
): AsyncGenerator<Row> {
  for await (const row of rows) {
    // Redacted before a cell is cut or jq takes a part: a part of a secret would not be found.
    if (passes(row, request.filters, columns)) yield secrets.redactAll(row);
  }
}

async function collect<Row>(rows: Iterable<Row> | AsyncIterable<Row>): Promise<Row[]> {
  const all: Row[] = [];
  for await (const row of rows) all.push(row);
  return all;
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
  rows: Iterable<Row> | AsyncIterable<Row>,
  header = true,
): Promise<number> {
  const request = readRequest(options);
  const { fields } = request;
  const requested = [...(fields ?? []), ...request.filters.map((filter) => filter.name)];
  let source = rows;
  if (requested.some((name) => !columns.some((column) => column.name === name))) {
    // Only the rows show whether a member exists, so all rows are read first.
    const all = await collect(rows);
    checkNames(requested, columns, all);
    source = all;
  }
  let count = 0;
  const counted = async function* (): AsyncGenerator<Row> {
    for await (const row of select(source, request, columns, output)) {
      count++;
      yield row;
    }
  };
  const records = async function* (): AsyncGenerator<object> {
    for await (const row of counted()) yield fields ? pick(row, fields, columns) : row;
  };
  if (request.jq !== undefined) {
    await writeJq(output, options, JSON.stringify(await collect(records())));
    return count;
  }
  const format = request.format ?? (output.isTerminal ? "table" : "tsv");
  const writer = writers[format];
  if (writer.kind === "records") await writer.write(output, records());
  else {
    const shown = fields
      ? fields.map((name) => createColumn(name, columns))
      : columns.filter((column) => column.shown !== false);
    await writer.write(output, shown, counted(), header);
  }
  return count;
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
  const request = readRequest(options);
  if (request.filters.length > 0) {
    throw new CliError("usage", "--filter is for lists; this is one record", {
      hints: ["select members with --fields"],
    });
  }
  if (request.fields) checkNames(request.fields, [], [record]);
  const picked = request.fields ? pick(record, request.fields, []) : record;
  if (request.jq !== undefined) return await writeJq(output, options, JSON.stringify(picked));
  const format = request.format ?? (output.isTerminal ? "table" : "json");
  const writer = writers[format];
  if (writer.kind === "records") return await writer.write(output, [picked], true);
  if (format === "table") return await (await import("./record.ts")).writeReadable(output, picked);
  const columns = leaves(picked, "").map(([name, value]) => ({ name, value: () => value }));
  await writer.write(output, columns, [picked]);
}
