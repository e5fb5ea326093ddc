import * as fc from "../../../property.ts";
import { expect, it } from "vitest";
import { draw } from "./draw.ts";

/** A piece of Markdown, and what a reader must see of it in this order. `@@`: the next number. */
interface Block {
  lines: string[];
  seen: string[];
}

const word = fc.constantFrom("one", "**two**", "*three*", "`four`", "~~five~~", "si_x", "日本");
const words = fc.array(word, { minLength: 1, maxLength: 5 });
const bare = (text: string): string => text.replaceAll(/[*`~]/g, "");

function tableOf(cells: string[], columns: number, hasEdge: boolean): Block {
  const row = (list: string[]): string => (hasEdge ? `| ${list.join(" | ")} |` : list.join(" | "));
  const rows = [0, 1, 2].map((at) => row(cells.slice(at * columns, (at + 1) * columns)));
  const rule = row(Array.from({ length: columns }, () => "--"));
  const seen = cells.slice(0, 3 * columns).map(bare);
  return { lines: [rows[0] ?? "", rule, ...rows.slice(1)], seen };
}

function itemOf(marker: string, { lines, seen }: Block): Block {
  const width = marker.replace("@@", "100").length;
  const [first = "", ...more] = lines;
  const rest = more.map((line) => (line === "" ? "" : " ".repeat(width) + line));
  const label = marker.includes("@@") ? marker.trim() : "•";
  return { lines: [marker + first, ...rest], seen: [label, ...seen] };
}

function taskOf(box: string, text: string[]): Block {
  return { lines: [`- ${box} ${text.join(" ")}`], seen: ["•", box, ...text.map(bare)] };
}

function joined(blocks: readonly Block[], between: string[]): Block {
  return {
    lines: blocks.flatMap(({ lines }, index) => (index > 0 ? [...between, ...lines] : lines)),
    seen: blocks.flatMap((block) => block.seen),
  };
}

const marker = fc.constantFrom("- ", "* ", "+   ", "@@. ", "@@) ", "@@.  ");
const cells = fc.array(word, { minLength: 9, maxLength: 9 });
const { blocks } = fc.letrec<{ block: Block; blocks: Block }>((tie) => ({
  blocks: fc.array(tie("block"), { minLength: 1, maxLength: 3 }).map((all) => joined(all, [""])),
  block: fc.oneof(
    // Lists and what they begin with are where most can go wrong.
    { depthSize: "small" },
    {
      weight: 4,
      arbitrary: fc.array(words, { minLength: 1, maxLength: 3 }).map((lines) => ({
        lines: lines.map((line) => line.join(" ")),
        seen: lines.flat().map(bare),
      })),
    },
    fc.tuple(fc.constantFrom("#", "###"), words).map(([hashes, text]) => ({
      lines: [`${hashes} ${text.join(" ")}`],
      seen: text.map(bare),
    })),
    fc.tuple(fc.constantFrom("```", "~~~~"), words).map(([fence, code]) => ({
      lines: [`${fence}js`, ...code, fence],
      seen: ["js", ...code],
    })),
    // Behind a list it belongs to the last item, as text.
    words.map((code) => ({ lines: code.map((line) => `    ${bare(line)}`), seen: code.map(bare) })),
    fc.constant<Block>({ lines: ["___"], seen: [] }),
    fc.tuple(cells, fc.constantFrom(1, 2, 3), fc.boolean()).map(([list, columns, hasEdge]) =>
      // One column is a table only with bars at its edges.
      tableOf(list, columns, hasEdge || columns === 1),
    ),
    tie("blocks").map(({ lines, seen }) => ({
      lines: lines.map((line) => (line === "" ? ">" : `> ${line}`)),
      seen,
    })),
    {
      weight: 4,
      arbitrary: fc
        .tuple(fc.array(tie("blocks"), { minLength: 1, maxLength: 3 }), marker, fc.boolean())
        .map(([items, mark, isLoose]) =>
          joined(
            items.map((each) => itemOf(mark, each)),
            isLoose ? [""] : [],
          ),
        ),
    },
    fc.tuple(fc.constantFrom("[x]", "[_]"), words).map(([box, text]) => taskOf(box, text)),
  ),
}));

function numbered(text: string): string {
  let number = 99;
  return text.replaceAll("@@", () => String(++number));
}

it("shows the words, markers and numbers of any blocks in their order", async () => {
  await fc.assert(
    fc.asyncProperty(
      blocks,
      fc.boolean(),
      fc.constantFrom("\n", "\r\n"),
      async (all, isCut, end) => {
        const source = numbered(all.lines.join(end)).replaceAll("[_]", "[ ]");
        const drawn = await draw(isCut ? source : [source], { columns: 300 });
        const shown = (await drawn.rows())
          .join("\n")
          .replaceAll(/[│─┼╭╰]/g, " ")
          .replaceAll(/[◦▪]/g, "•")
          .replaceAll("[ ]", "[_]");
        expect(shown.split(/\s+/).filter(Boolean)).toEqual(
          numbered(all.seen.join(" ")).split(" ").filter(Boolean),
        );
      },
    ),
  );
});
