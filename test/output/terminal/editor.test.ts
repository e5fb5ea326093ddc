import headless from "@xterm/headless";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  createEditor,
  type Completion,
  type Entry,
  createInputReader,
  inertPaste,
  longestPaste,
} from "../../../src/output/terminal/editor.ts";

interface Options {
  columns?: number;
  history?: string[];
  status?: string;
  complete?: () => Completion;
}

/** An editor on a terminal emulator, and what a person does and sees there. */
function open({ columns = 40, history = [], status = "", complete }: Options = {}) {
  const terminal = new headless.Terminal({ cols: columns, rows: 24, allowProposedApi: true });
  let width = columns;
  const editor = createEditor({
    write: (sequence) => terminal.write(sequence),
    columns: () => width,
    hasColour: false,
    history: () => history,
    status: () => status,
    complete: async () => complete?.() ?? { from: 0, candidates: [] },
  });
  const read = createInputReader();
  const settled = (): Promise<void> => new Promise((resolve) => terminal.write("", resolve));
  return {
    editor,
    press(...chunks: string[]) {
      for (const chunk of chunks) for (const input of read(Buffer.from(chunk))) editor.press(input);
    },
    async rows() {
      await settled();
      const rows = Array.from({ length: 24 }, (_, y) =>
        terminal.buffer.active.getLine(y)?.translateToString(true).trimEnd(),
      );
      return rows.slice(0, rows.findLastIndex((row) => row !== "") + 1);
    },
    async cursor() {
      await settled();
      return [terminal.buffer.active.cursorY, terminal.buffer.active.cursorX];
    },
    async resize(to: number) {
      await settled();
      terminal.resize(to, 24);
      width = to;
      editor.redraw();
    },
  };
}

const up = "\u001b[A";
const down = "\u001b[B";
const left = "\u001b[D";
const pasted = (text: string): string => `\u001b[200~${text}\u001b[201~`;
const typed = (text: string): Entry => ({ type: "text", text, isPasted: false });

describe("the editor", () => {
  const long = "x\ty\n".repeat(400);
  it.each<[string, string[], Entry]>([
    ["a line", ["hello\r"], typed("hello")],
    ["Alt-Enter", ["a", "\u001b\r", "b", "\r"], typed("a\nb")],
    ["Alt-Enter in two chunks", ["a", "\u001b", "\r", "b\r"], typed("a\nb")],
    ["Shift-Enter", ["a\u001b[13;2ub\r"], typed("a\nb")],
    ["Ctrl-J", ["a", "\n", "b", "\r"], typed("a\nb")],
    ["a trailing backslash", ["a\\\r", "b\r"], typed("a\nb")],
    ["an escaped backslash", ["a\\\\\r"], typed("a\\\\")],
    [
      "a paste of lines",
      [pasted("/exit\r/new\r"), "\r"],
      { type: "text", text: "/exit\n/new\n", isPasted: true },
    ],
    ["a long paste", ["a ", pasted(long), "b\r"], typed(`a ${long}b`)],
    ["a paste in the middle", ["a", pasted("\tb\nc"), "\r"], typed("a\tb\nc")],
    [
      "lines without brackets",
      ["/help\r/exit\r"],
      { type: "text", text: "/help\n/exit", isPasted: true },
    ],
    ["typed text in the place of a paste", [pasted("/x"), "\u0015", "/y\r"], typed("/y")],
    ["a paste that never ends", ["a\u001b[200~bc", "\u0003", "x\r"], typed("abcx")],
    ["keys inside a paste", ["a", pasted("\u001b[A\u0003\u009b"), "\r"], typed("a^[[A^C<U+009B>")],
    ["Ctrl-D", ["\u0004"], { type: "end" }],
    ["Ctrl-C twice", ["\u0003", "\u0003"], { type: "end" }],
    ["Ctrl-C with text, then text", ["abc\u0003", "d\r"], typed("d")],
    ["Ctrl-C in the second line", ["a\\\r", "\u0003", "d\r"], typed("d")],
    ["Enter on nothing", ["\r", " \r", "x\r"], typed("x")],
    ["keys in the middle", ["ac", left, "b\r"], typed("abc")],
    ["arrows of the other kind", ["ac", "\u001bOD", "b\r"], typed("abc")],
    ["words", ["one two", "\u001b[1;5D", "x", "\u0017", "y\r"], typed("one ytwo")],
    ["whole characters", ["a👍", "\u007f", "休み\u007f\r"], typed("a休")],
    ["a sequence in pieces", ["ab", left, "\u001b", "[", "3", "~", "c\r"], typed("ac")],
    ["an unknown sequence for nothing", ["\u001b[17;2~x\r"], typed("x")],
    ["an escape key, then a letter", ["\u001b", "x\r"], typed("x")],
    ["C1 characters for nothing", ["\u009b31mx\r"], typed("31mx")],
    ["a bidirectional override as what it is", ["\u202ea\r"], typed("<U+202E>a")],
  ])("takes %s", async (_name, chunks, entry) => {
    const { editor, press } = open();
    const read = editor.read();
    press(...chunks);
    expect(await read).toEqual(entry);
  });

  it("joins bytes of a character that come apart", () => {
    const read = createInputReader();
    const bytes = Buffer.from("休");
    expect([...read(bytes.subarray(0, 1)), ...read(bytes.subarray(1))]).toEqual([
      { type: "key", text: "休" },
    ]);
  });

  it("asks again before Ctrl-C leaves, and any other key takes that back", async () => {
    const { editor, press, rows } = open({ columns: 80 });
    void editor.read();
    press("\u0003");
    expect(await rows()).toEqual(["press Ctrl-C again or Ctrl-D to leave the conversation", ">"]);
    press("x", "\u0003", "\u0003");
    expect((await rows()).at(-1)).toBe(">");
  });

  it("keeps keys that come before it reads, and one line for each reading", async () => {
    const { editor, press } = open();
    press("one\r");
    press("two\r");
    expect(await editor.read()).toEqual(typed("one"));
    press("three\r");
    editor.dropKeys();
    press("four\r");
    expect(await editor.read()).toEqual(typed("four"));
  });

  it("goes through the history and comes back to what was begun", async () => {
    const { editor, press, rows } = open({ history: ["first", "second\nline", long] });
    const read = editor.read();
    press(up);
    expect(await rows()).toEqual(["> [text 1: 401 lines]"]);
    press(up);
    expect(await rows()).toEqual(["> second↵line"]);
    press(up);
    expect(await rows()).toEqual(["> first"]);
    press(down, "!\r");
    expect(await read).toEqual(typed("second\nline!"));
  });

  it("searches the history for what is typed", async () => {
    const { editor, press, rows } = open({ history: ["ask leave", "other", "leave now"] });
    void editor.read();
    press("leave", "\u0012");
    expect(await rows()).toEqual(["> leave now"]);
    press("\u0012", "\u0012");
    expect(await rows()).toEqual(["> ask leave"]);
  });

  it("completes the common beginning, and lists what is possible at a second Tab", async () => {
    const { editor, press, rows } = open({
      complete: () => ({ from: 1, candidates: ["session ", "sessions \u001b"] }),
    });
    void editor.read();
    press("/s\t");
    await expect.poll(rows).toEqual(["> /session"]);
    press("\t");
    await expect.poll(rows).toEqual(["> /session", "session      sessions ^[", "", "> /session"]);
  });

  it("shows the status above, cut to the row", async () => {
    const { editor, press, rows } = open({
      columns: 20,
      status: "agent 3 · model very-long-name",
    });
    void editor.read();
    press("hi");
    expect(await rows()).toEqual(["agent 3 · model ve…", "> hi"]);
  });

  it.each([20, 40])(
    "keeps rows and cursor right at %d columns, in wide scripts",
    async (columns) => {
      const { editor, press, rows, cursor } = open({ columns });
      void editor.read();
      press("日本語のテキストは長い文です");
      expect((await rows()).join("")).toBe("> 日本語のテキストは長い文です");
      press("\u0001", "e\u0301ก็");
      expect(await cursor()).toEqual([0, 4]);
      press("\u0005", "\u007f".repeat(30));
      expect(await rows()).toEqual([">"]);
    },
  );

  it("goes on after a change of the window", async () => {
    const { editor, press, rows, resize } = open({ columns: 30 });
    const read = editor.read();
    press("one two");
    await resize(20);
    press(" three\r");
    expect(await read).toEqual(typed("one two three"));
    expect((await rows()).join("\n")).toContain("> one two three");
  });

  it("erases its prompt when it is closed", async () => {
    const { editor, press, rows } = open({ columns: 20 });
    void editor.read();
    press("a line that is longer than a row");
    editor.close();
    expect(await rows()).toEqual([]);
  });
});

describe("pastes", () => {
  it("are cut where they are too long, which the line says", async () => {
    const { editor, press, rows } = open({ columns: 80 });
    const read = editor.read();
    press(pasted("x".repeat(longestPaste + 1)));
    expect(await rows()).toEqual(["> [text 1: 1 line, cut: send it as a file with /file]"]);
    press("\r");
    expect(await read).toMatchObject({ text: "x".repeat(longestPaste) });
  });

  it("are read the same in every division", () => {
    const text = fc.string({
      unit: fc.constantFrom("a", "\u001b", "[", "2", "0", "1", "~", "\r", "\n", "休", "\u009b"),
    });
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 });
    fc.assert(
      fc.property(text, sizes, (inner, all) => {
        fc.pre(!inner.includes("\u001b[201~") && inner !== "\u0003");
        const bytes = Buffer.from(`${pasted(inner)}z`);
        const read = createInputReader();
        const inputs = [];
        for (let at = 0, turn = 0; at < bytes.length; turn++) {
          const size = all[turn % all.length]!;
          inputs.push(...read(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(inputs).toEqual([
          { type: "paste", text: inertPaste(inner), isCut: false },
          { type: "key", text: "z" },
        ]);
      }),
    );
  });
});
