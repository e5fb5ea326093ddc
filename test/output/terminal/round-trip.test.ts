import { parse } from "csv-parse/sync";
import * as fc from "../../property.ts";
import { load } from "js-yaml";
import { expect, it } from "vitest";
import { writeList, type Column } from "../../../src/output/formats/formats.ts";
import { isInert } from "../../../src/output/terminal/neutralise.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

interface Row {
  name: string;
  note: string | null;
}

const columns: Column<Row>[] = [
  { name: "name", value: (row) => row.name },
  { name: "note", value: (row) => row.note },
];

/** Text that no gate changes: what a terminal acts on is replaced (neutralise.ts). */
const inert = fc
  .string({ unit: "binary", maxLength: 30 })
  .filter((text) => isInert(text.replace(/[\n\t]/g, "")) && text.isWellFormed());
const odd = fc.constantFrom(
  "=1+1",
  '"',
  "a,b",
  " a ",
  "yes",
  "~",
  "- a",
  "a: b",
  "!!js/x",
  "#",
  "",
);
const rows = fc.array(
  fc.record({ name: fc.oneof(inert, odd), note: fc.option(fc.oneof(inert, odd)) }),
  { minLength: 1, maxLength: 4 },
);

async function written(data: Row[], output: string): Promise<string> {
  const context = createTestContext();
  await writeList(createOutput(context), { output }, columns, data);
  return context.stdoutText();
}

/** As a spreadsheet shows it: the apostrophe before a formula is not seen. */
const shown = (text: string): string => (/^'[=+\-@\t\r]/.test(text) ? text.slice(1) : text);

it("csv is read back as it was, and no cell is a formula", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (data) => {
      const [header, ...read] = parse(await written(data, "csv")) as string[][];
      expect(header).toEqual(["name", "note"]);
      for (const cell of read.flat()) {
        expect(/^[=+\-@\t\r]/.test(cell) && !/^[-+]?[\d.,]+$/.test(cell)).toBe(false);
      }
      const known = data.filter(({ name }) => !/^'[=+\-@\t\r]/.test(name));
      if (known.length < data.length) return;
      expect(read.map(([name = "", note = ""]) => [shown(name), shown(note)])).toEqual(
        data.map(({ name, note }) => [shown(name), shown(note ?? "")]),
      );
    }),
  );
});

it("tsv has a line a row and a cell a column", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (data) => {
      const lines = (await written(data, "tsv")).split("\n");
      expect(lines).toHaveLength(data.length + 1);
      for (const line of lines.slice(0, -1)) expect(line.split("\t")).toHaveLength(2);
    }),
  );
});

it("yaml is read back as it was", async () => {
  await fc.assert(
    fc.asyncProperty(rows, async (data) => {
      expect(load(await written(data, "yaml"))).toEqual(data);
    }),
  );
});
