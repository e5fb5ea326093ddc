import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  createEditor,
  type Completion,
  type Entry,
} from "../../../src/output/terminal/editor/editor.ts";
import { createKeyReader } from "../../../src/output/terminal/editor/keys.ts";
import { createScreen } from "./screen.ts";

interface Options {
  columns?: number;
  rows?: number;
  history?: string[];
  status?: string;
  complete?: (text: string) => Completion;
}

function open({ columns = 40, rows = 10, history = [], status = "", complete }: Options = {}) {
  const screen = createScreen(columns, rows);
  const editor = createEditor({
    write: screen.write,
    columns: () => columns,
    rows: () => rows,
    hasColour: false,
    history: () => history,
    status: () => status,
    complete: (text) => Promise.resolve(complete?.(text) ?? { from: 0, candidates: [] }),
  });
  const keys = createKeyReader();
  return {
    screen,
    editor,
    press(text: string) {
      for (const key of keys(Buffer.from(text))) editor.press(key);
    },
  };
}

const up = "\u001b[A";
const down = "\u001b[B";
const left = "\u001b[D";

describe("the editor", () => {
  it.each<[string, string[], Entry]>([
    ["a line", ["hello\r"], { type: "text", text: "hello", isPasted: false }],
    ["Alt-Enter", ["a", "\u001b\r", "b", "\r"], { type: "text", text: "a\nb", isPasted: false }],
    ["Ctrl-J", ["a", "\n", "b", "\r"], { type: "text", text: "a\nb", isPasted: false }],
    ["a trailing backslash", ["a\\\r", "b\r"], { type: "text", text: "a\nb", isPasted: false }],
    ["an escaped backslash", ["a\\\\\r"], { type: "text", text: "a\\\\", isPasted: false }],
    [
      "a paste of lines",
      ["\u001b[200~/exit\r/new\r\u001b[201~", "\r"],
      { type: "text", text: "/exit\n/new\n", isPasted: true },
    ],
    ["Ctrl-D", ["\u0004"], { type: "end" }],
    ["Ctrl-C twice", ["\u0003", "\u0003"], { type: "end" }],
    [
      "Ctrl-C with text, then text",
      ["abc\u0003", "d\r"],
      { type: "text", text: "d", isPasted: false },
    ],
    ["Enter on nothing", ["\r", " \r", "x\r"], { type: "text", text: "x", isPasted: false }],
    ["keys in the middle", ["ac", left, "b\r"], { type: "text", text: "abc", isPasted: false }],
  ])("takes %s", async (_name, chunks, entry) => {
    const { editor, press } = open();
    const read = editor.read();
    for (const chunk of chunks) press(chunk);
    expect(await read).toEqual(entry);
  });

  it("asks again before Ctrl-C leaves, and any other key takes that back", () => {
    const { editor, press, screen } = open();
    void editor.read();
    press("\u0003");
    expect(screen.rows()[1]).toContain("Ctrl-C again");
    press("x");
    expect(screen.rows()).toEqual(["> x"]);
  });

  it("keeps keys that come before it reads, and one line for each reading", async () => {
    const { editor, press } = open();
    press("one\r");
    press("two\r");
    expect(await editor.read()).toMatchObject({ text: "one" });
    expect(await editor.read()).toMatchObject({ text: "two" });
  });

  it("goes through the history and comes back to what was begun", () => {
    const { editor, press, screen } = open({ history: ["first", "second\nline"] });
    void editor.read();
    press("draft");
    press(up);
    expect(screen.rows()).toEqual(["> second", "  line"]);
    press(up);
    press(up);
    expect(screen.rows()).toEqual(["> first"]);
    press(down);
    press(down);
    expect(screen.rows()).toEqual(["> draft"]);
  });

  it("searches the history", () => {
    const { editor, press, screen } = open({ history: ["ask leave", "other", "leave now"] });
    void editor.read();
    press("leave");
    press("\u0012");
    expect(screen.rows()).toEqual(["> leave now", "history: leave"]);
    press("\u0012");
    expect(screen.rows()[0]).toBe("> ask leave");
    press("\u0012");
    expect(screen.rows()).toEqual(["> ask leave", "history: no older text contains leave"]);
  });

  it("searches for what is typed after Ctrl-R, as a shell does, until another key", () => {
    const { editor, press, screen } = open({ history: ["ask leave", "other", "leave now"] });
    void editor.read();
    press("\u0012");
    expect(screen.rows()).toEqual(["> leave now", "history: type a part of the text"]);
    press("o");
    press("t");
    expect(screen.rows()).toEqual(["> other", "history: ot"]);
    press("x");
    expect(screen.rows()).toEqual(["> other", "history: no older text contains otx"]);
    press("\u001b[D");
    press("!");
    expect(screen.rows()).toEqual(["> othe!r"]);
  });

  it("completes the common beginning and lists what is possible", async () => {
    const { editor, press, screen } = open({
      complete: () => ({ from: 1, candidates: ["session ", "sessions "] }),
    });
    void editor.read();
    press("/s\t");
    await Promise.resolve();
    await Promise.resolve();
    expect(screen.rows()).toEqual(["> /session", "session   sessions"]);
    press("x");
    expect(screen.rows()).toEqual(["> /sessionx"]);
  });

  it("shows the status above, and leaves only what was entered", () => {
    const { editor, press, screen } = open({
      status: "agent 3 · model very-long-name/that-does-not-fit",
    });
    void editor.read();
    press("hi");
    expect(screen.rows()).toEqual(["agent 3 · model very-long-name/that-do…", "> hi"]);
    expect(screen.cursor()).toEqual([1, 4]);
    press("\r");
    expect(screen.rows()).toEqual(["> hi"]);
    expect(screen.cursor()).toEqual([1, 0]);
  });

  it("shows of a long text the part around the cursor", () => {
    const { editor, press, screen } = open({ rows: 5 });
    void editor.read();
    press(
      `\u001b[200~${Array.from({ length: 12 }, (_, index) => `line ${index}`).join("\n")}\u001b[201~`,
    );
    expect(screen.rows()).toEqual(["  line 8", "  line 9", "  line 10", "  line 11"]);
    press(up.repeat(11));
    expect(screen.rows()).toEqual(["> line 0", "  line 1", "  line 2", "  line 3"]);
  });

  it("draws what a new drawing would show, after any keys", () => {
    const chunk = fc.constantFrom(
      "a",
      "word ",
      "休",
      "e\u0301",
      "👩‍💻",
      "\n",
      "\u007f",
      left,
      up,
      down,
      "\u001b[H",
      "\u001b[F",
      "\u0017",
      "\u0015",
      "\u000b",
      "\u0019",
      "\u001b[3~",
      "\u001b[200~one\ntwo three four\u001b[201~",
    );
    fc.assert(
      fc.property(
        fc.array(chunk, { maxLength: 40 }),
        fc.integer({ min: 6, max: 30 }),
        (chunks, columns) => {
          const { editor, press, screen } = open({ columns, status: "status" });
          void editor.read();
          for (const each of chunks) press(each);
          const drawn = [screen.rows(), screen.cursor()];
          // Keys that came before are drawn once, at the end.
          const other = open({ columns, status: "status" });
          for (const each of chunks) other.press(each);
          void other.editor.read();
          expect(drawn).toEqual([other.screen.rows(), other.screen.cursor()]);
        },
      ),
    );
  });
});
