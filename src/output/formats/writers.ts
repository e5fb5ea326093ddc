import { csvLine, tsvLine } from "./csv.ts";
import type { Output } from "../terminal/output.ts";
import type { Column } from "./select.ts";

type Rows<Row> = Iterable<Row> | AsyncIterable<Row>;

/** A format of cells: columns decide what is shown. */
interface CellWriter {
  kind: "cells";
  /** With `header` false the rows go on below earlier ones. */
  write<Row>(
    output: Output,
    columns: readonly Column<Row>[],
    rows: Rows<Row>,
    header?: boolean,
  ): Promise<void>;
}

/** A format of whole records. With `single` the document is the one record, not a list of it. */
interface RecordWriter {
  kind: "records";
  write(output: Output, records: Rows<object>, single?: boolean): Promise<void>;
}

/** Large enough that a listing is not a system call a row, small enough to stream. */
const pieceLength = 64 * 1024;

/** Collects text and passes it on in pieces; call end() for the rest. */
function createPieces(write: (text: string) => Promise<void>) {
  let held: string[] = [];
  let length = 0;
  const end = async (): Promise<void> => {
    const text = held.join("");
    held = [];
    length = 0;
    if (text !== "") await write(text);
  };
  return {
    end,
    async add(text: string): Promise<void> {
      held.push(text);
      length += text.length;
      if (length >= pieceLength) await end();
    },
  };
}

async function writeJson(output: Output, records: Rows<object>, single = false): Promise<void> {
  const pieces = createPieces((text) => output.json(text));
  let first = true;
  for await (const record of records) {
    const text = JSON.stringify(record, undefined, 2);
    if (single) await pieces.add(`${text}\n`);
    else await pieces.add(`${first ? "[" : ","}\n  ${text.replaceAll("\n", "\n  ")}`);
    first = false;
  }
  if (!single) await pieces.add(first ? "[]\n" : "\n]\n");
  await pieces.end();
}

async function writeNdjson(output: Output, records: Rows<object>): Promise<void> {
  const pieces = createPieces((text) => output.json(text));
  for await (const record of records) await pieces.add(`${JSON.stringify(record)}\n`);
  await pieces.end();
}

async function writeYaml(output: Output, records: Rows<object>, single = false): Promise<void> {
  const { dump } = await import("js-yaml");
  const pieces = createPieces((text) => output.write(text));
  let empty = true;
  for await (const record of records) {
    empty = false;
    // Anchors and folded lines are right but hard on simple readers.
    await pieces.add(dump(single ? record : [record], { noRefs: true, lineWidth: -1 }));
  }
  if (empty && !single) await pieces.add("[]\n");
  await pieces.end();
}

function cellWriter(line: (values: readonly unknown[]) => string, hasHeader: boolean): CellWriter {
  return {
    kind: "cells",
    async write(output, columns, rows, header = true) {
      const pieces = createPieces((text) => output.write(text));
      if (hasHeader && header) await pieces.add(line(columns.map((column) => column.name)));
      for await (const row of rows) {
        await pieces.add(line(columns.map((column) => column.value(row))));
      }
      await pieces.end();
    },
  };
}

/** The formats of lists and records. A new one is an entry here. */
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
