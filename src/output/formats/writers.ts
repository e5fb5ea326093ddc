import { csvLine, tsvLine } from "./csv.ts";
import type { Output } from "../terminal/output.ts";
import type { Column } from "./select.ts";

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** A format of cells: the columns select the data. */
interface CellWriter {
  kind: "cells";
  /** With `header` false, the rows continue an earlier table. */
  write<Row>(
    output: Output,
    columns: readonly Column<Row>[],
    rows: Rows<Row>,
    header?: boolean,
  ): Promise<void>;
}

/** A format of whole records. With `single`, the output is one record, not a list. */
interface RecordWriter {
  kind: "records";
  write(output: Output, records: Rows<object>, single?: boolean): Promise<void>;
}

/** Large enough to avoid a system call for each row, small enough to stream. */
const bufferLength = 64 * 1024;

/** Buffers text and writes it in large pieces; call flush() for the rest. */
function createWriteBuffer(write: (text: string) => Promise<void>) {
  let buffered: string[] = [];
  let length = 0;
  const flush = async (): Promise<void> => {
    const text = buffered.join("");
    buffered = [];
    length = 0;
    if (text !== "") await write(text);
  };
  return {
    flush,
    async add(text: string): Promise<void> {
      buffered.push(text);
      length += text.length;
      if (length >= bufferLength) await flush();
    },
  };
}

async function writeJson(output: Output, records: Rows<object>, single = false): Promise<void> {
  const buffer = createWriteBuffer((text) => output.json(text));
  let first = true;
  for await (const record of records) {
    const text = JSON.stringify(record, undefined, 2);
    if (single) await buffer.add(`${text}\n`);
    else await buffer.add(`${first ? "[" : ","}\n  ${text.replaceAll("\n", "\n  ")}`);
    first = false;
  }
  if (!single) await buffer.add(first ? "[]\n" : "\n]\n");
  await buffer.flush();
}

async function writeNdjson(output: Output, records: Rows<object>): Promise<void> {
  const buffer = createWriteBuffer((text) => output.json(text));
  for await (const record of records) await buffer.add(`${JSON.stringify(record)}\n`);
  await buffer.flush();
}

async function writeYaml(output: Output, records: Rows<object>, single = false): Promise<void> {
  const { dump } = await import("js-yaml");
  const buffer = createWriteBuffer((text) => output.write(text));
  let empty = true;
  for await (const record of records) {
    empty = false;
    // Anchors and folded lines are valid YAML, but simple readers fail on them.
    await buffer.add(dump(single ? record : [record], { noRefs: true, lineWidth: -1 }));
  }
  if (empty && !single) await buffer.add("[]\n");
  await buffer.flush();
}

function cellWriter(line: (values: readonly unknown[]) => string, hasHeader: boolean): CellWriter {
  return {
    kind: "cells",
    async write(output, columns, rows, header = true) {
      const buffer = createWriteBuffer((text) => output.write(text));
      if (hasHeader && header) await buffer.add(line(columns.map((column) => column.name)));
      for await (const row of rows) {
        await buffer.add(line(columns.map((column) => column.value(row))));
      }
      await buffer.flush();
    },
  };
}

/** The formats of lists and records. A new format is an entry here. */
export const writers = {
  table: {
    kind: "cells",
    async write(output, columns, rows) {
      const { writeTable } = await import("../terminal/table.ts");
      const all = [];
      for await (const row of rows) all.push(row);
      await writeTable(output, columns, all);
    },
  },
  json: { kind: "records", write: writeJson },
  ndjson: { kind: "records", write: writeNdjson },
  yaml: { kind: "records", write: writeYaml },
  csv: cellWriter(csvLine, true),
  tsv: cellWriter(tsvLine, false),
} as const satisfies Record<string, CellWriter | RecordWriter>;
