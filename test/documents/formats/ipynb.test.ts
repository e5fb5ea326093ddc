import { describe, expect, it } from "vitest";
import { readNotebook } from "../../../src/documents/formats/ipynb.ts";
import type { Parsed, PageSite } from "../../../src/documents/formats/format.ts";
import { expectLinear } from "../../cost.ts";
import { around } from "./around.ts";

type Cell = Record<string, unknown>;

const read = (notebook: unknown, site?: PageSite): Parsed =>
  readNotebook(JSON.stringify(notebook), "a.ipynb", { ...around, site });
const notebook = (...cells: Cell[]): unknown => ({
  cells,
  metadata: { kernelspec: { language: "python" } },
  nbformat: 4,
});
const bodyOf = (...cells: Cell[]): string => read(notebook(...cells)).body.trim();
const text = (...source: string[]): Cell => ({ cell_type: "markdown", source });
const code = (source: string, outputs: unknown[] = [], metadata: Cell = {}): Cell => ({
  cell_type: "code",
  source,
  outputs,
  metadata,
});
const shown = (data: Cell): Cell => ({ output_type: "display_data", data });

describe("Jupyter notebooks", () => {
  it("shows cells and what they printed in order", () => {
    const cells = [
      text("# Lamps\n", "\n", "Some *text*."),
      code("print(1)", [
        { output_type: "stream", name: "stdout", text: ["one\n"] },
        { output_type: "stream", name: "stdout", text: "\u001b[31mtwo\u001b[0m\n" },
        { output_type: "error", ename: "ValueError", evalue: "no lamp", traceback: ["x"] },
      ]),
      code("2", [{ output_type: "execute_result", data: { "text/plain": ["2"] } }]),
    ];
    expect(bodyOf(...cells)).toBe(
      "# Lamps\n\nSome *text*.\n\n```python\nprint(1)\n```\n\n```\none\ntwo\n```\n\n```\nValueError: no lamp\n```\n\n```python\n2\n```\n\n```\n2\n```",
    );
    expect(read(notebook(...cells)).title).toBe("Lamps");
  });

  it("reads nbformat 3", () => {
    const cells = [
      { cell_type: "heading", level: 2, source: ["Old"] },
      {
        cell_type: "code",
        language: "julia",
        input: ["x"],
        outputs: [
          { output_type: "stream", stream: "stdout", text: ["a"] },
          { output_type: "pyout", text: ["3"], png: "AAAA" },
          { output_type: "pyerr", ename: "E", evalue: "v" },
        ],
      },
    ];
    const { body, leftOut, title } = read({ worksheets: [{ cells }], nbformat: 3 });
    expect(body.trim()).toBe("## Old\n\n```julia\nx\n```\n\n```\na\n```\n\n```\nE: v\n```");
    expect(leftOut).toEqual([{ kind: "output", what: "image/png", line: undefined }]);
    expect(title).toBe("Old");
  });

  it.each<[string, Cell, string, string[]]>([
    [
      "a table of HTML",
      {
        "text/plain": ["x"],
        "text/html": ["<table><tr><th>a</th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>"],
      },
      "| a | b |\n| --- | --- |\n| 1 | 2 |",
      [],
    ],
    ["Markdown", { "text/markdown": "**x**", "text/plain": "<obj>" }, "**x**", []],
    ["a formula", { "text/latex": "$x$", "text/plain": "x" }, "$x$", []],
    ["an image", { "image/png": "AAAA", "text/plain": "<Figure>" }, "", ["image/png"]],
    ["a script", { "text/html": "<script>x</script>", "text/plain": "<obj>" }, "", ["text/html"]],
    [
      "a widget",
      { "application/vnd.jupyter.widget-view+json": {}, "text/plain": "IntSlider()" },
      "",
      ["application/vnd.jupyter.widget-view+json"],
    ],
  ])("shows %s of an output", (_name, data, expected, counted) => {
    const { body, leftOut = [] } = read(notebook(code("", [shown(data)])));
    expect(body.trim()).toBe(expected);
    expect(leftOut.map(({ kind, what }) => `${kind} ${what}`)).toEqual(
      counted.map((what) => `output ${what}`),
    );
  });

  it("leaves out what tags remove, and keeps what is folded", () => {
    const output = [{ output_type: "stream", text: "out" }];
    const cells = [
      code("a", output, { tags: ["remove-cell"] }),
      code("b", output, { tags: ["remove_input"] }),
      code("c", output, { tags: ["remove-output"] }),
      code("d", [], { tags: ["hide-cell"] }),
      code("e", [], { hide_input: true }),
    ];
    const { body, leftOut } = read(notebook(...cells));
    expect(body.trim()).toBe("```\nout\n```\n\n```python\nc\n```\n\n```python\nd\n```");
    expect(leftOut?.map(({ kind }) => kind)).toEqual(["hidden", "hidden", "hidden"]);
  });

  it("takes front matter from the first cell, and options of Quarto from each", () => {
    const site: PageSite = {
      generator: "quarto",
      prefix: "",
      value: () => undefined,
      data: () => ({}),
    };
    const cells = [
      { cell_type: "raw", source: "---\ntitle: T\n---" },
      code("#| echo: false\nx", [{ output_type: "stream", text: "1" }]),
      code("#| include: false\ny", [{ output_type: "stream", text: "2" }]),
    ];
    const { body, frontMatter } = read(notebook(...cells), site);
    expect(body.trim()).toBe("```\n1\n```");
    expect(frontMatter?.data["title"]).toBe("T");
    expect(bodyOf(text("---\nno: [matter\n"), text("a"))).toContain("no: [matter");
  });

  it("lets nothing in a cell reach into the next one", () => {
    expect(bodyOf(text("```\na"), text("b"))).toBe("```\na\n```\n\nb");
    expect(bodyOf(text("a <!-- b"), text("c"))).toBe("a \n\nc");
    expect(bodyOf(text("a"), text("---"))).toBe("a\n\n---");
  });

  it("shows raw cells for web pages only, and counts images of attachments", () => {
    const raw = (raw_mimetype: string, source: string): Cell => ({
      cell_type: "raw",
      source,
      metadata: { raw_mimetype },
    });
    const { body, leftOut } = read(
      notebook(
        raw("text/latex", "\\x"),
        raw("text/html", "<b>x</b>"),
        text("![y](attachment:y.png)"),
      ),
    );
    expect(body.trim()).toBe("<b>x</b>\n\n![y](attachment:y.png)");
    expect(leftOut?.map(({ what }) => what)).toEqual(["raw text/latex"]);
  });

  it("cuts long outputs, and counts what it cut", () => {
    const long = `${"x".repeat(99)}\n`.repeat(2000);
    const { body, leftOut } = read(notebook(code("", [{ output_type: "stream", text: long }])));
    expect(body.length).toBeLessThan(101_000);
    expect(leftOut?.[0]?.what).toBe("the end of a text of 199999 characters");
    const html = `<p>${"x".repeat(2_000_001)}</p>`;
    expect(read(notebook(code("", [shown({ "text/html": html })]))).leftOut?.[0]?.what).toBe(
      "HTML of 2000008 characters",
    );
  });

  it.each([
    ['{"cells": [\n  {"a": }\n]}', 'a.ipynb:2:9: no Jupyter notebook: JSON is broken at "}"'],
    ["", "a.ipynb:1:1: no Jupyter notebook: JSON is broken at the end"],
    ['{"cells": []}\u00A0', 'a.ipynb:1:14: no Jupyter notebook: JSON is broken at "\u00A0"'],
    ["{}", "a.ipynb: no Jupyter notebook: it has no cells"],
    ["[1]", "a.ipynb: no Jupyter notebook: it has no cells"],
    ['{"cells": 1}', "a.ipynb: no Jupyter notebook: it has no cells"],
  ])("refuses %j", (source, message) => {
    expect(() => readNotebook(source, "a.ipynb", around)).toThrow(message);
  });

  it("reads any JSON in the place of cells, in linear time", () => {
    const odd = [1, null, [], {}, { cell_type: 3 }, { cell_type: "code", outputs: [1, {}] }];
    expect(read({ cells: odd, metadata: 7 }).body.trim()).toBe("");
    expectLinear(
      4000,
      (size) => void read(notebook(...Array.from({ length: size }, () => code("x")))),
    );
    const stream = { output_type: "stream", name: "stdout", text: "x\n" };
    expectLinear(20_000, (size) => {
      read(
        notebook(
          code(
            "",
            Array.from({ length: size }, () => stream),
          ),
        ),
      );
    });
  });
});
