import * as fc from "../../../property.ts";
import { describe, expect, it } from "vitest";
import { openDrawing } from "../../../../src/output/chat/markdown.ts";
import { draw } from "./draw.ts";
import { options, source, words } from "./fragments.ts";
import { openTerminal } from "./terminal.ts";

describe("any Markdown", () => {
  it("looks the same wherever its stream is cut", async () => {
    const cuts = fc.array(fc.nat(400), { maxLength: 30 });
    await fc.assert(
      fc.asyncProperty(source, cuts, options, async (text, at, look) => {
        const edges = [...new Set([0, ...at.filter((each) => each < text.length), text.length])];
        edges.sort((a, b) => a - b);
        const pieces = edges.slice(1).map((end, index) => text.slice(edges[index], end));
        const whole = await draw([text], look);
        const cut = await draw(pieces, look);
        expect(await cut.looks()).toEqual(await whole.looks());
      }),
      fc.few(60),
    );
  });

  it("sends a terminal only sequences of our own, and never one that leaves the row", async () => {
    await fc.assert(
      fc.asyncProperty(source, options, async (text, look) => {
        const drawn = await draw(text, look);
        // Whoever looks waits for the terminal: without it all of them would be kept to the end.
        await drawn.rows();
        const rest = drawn
          .written()
          .replaceAll(
            /\u001b\[[\d;]*m|\r?\u001b\[(?:K|\d+D\u001b\[K)|\u001b\]8;;(?:(?:https?:\/\/|mailto:)[!-~]+)?\u001b\\/g,
            "",
          );
        expect(rest).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
      fc.few(60),
    );
  });

  it("never changes a row once another one stands below it", async () => {
    await fc.assert(
      fc.asyncProperty(source, options, async (text, look) => {
        const terminal = openTerminal(look);
        const drawing = await openDrawing(terminal.output, { shortensMarkers: false });
        let before: string[] = [];
        for (const character of text) {
          await terminal.output.write(...(await drawing.add(character)));
          const rows = await terminal.looks();
          // A line of code that runs over the edge takes several rows, its last one is the open one.
          const above = before.slice(0, -1);
          expect(rows.slice(0, above.length)).toEqual(above);
          before = rows;
        }
      }),
      fc.few(15),
    );
  });

  it("loses none of its letters", async () => {
    await fc.assert(
      fc.asyncProperty(words, options, fc.boolean(), async (list, look, isCut) => {
        const text = list.join(" ");
        // What stands behind a fence is the name of a language, of which only a word is shown.
        fc.pre(!/(?:```|~~~)[^\n]*[a-z]/.test(text));
        const rows = await (await draw(isCut ? text : [text], look)).rows();
        const letters = (from: string): string => from.replaceAll(/[^a-z]/g, "");
        const shown = letters(rows.join(""));
        const meant = letters(text);
        // A table that is too wide is a list: its headers stand in front of every cell.
        if (!text.includes("--")) {
          expect(shown).toBe(meant);
          return;
        }
        for (const letter of new Set(meant)) {
          const count = shown.split(letter).length;
          expect(count).toBeGreaterThanOrEqual(meant.split(letter).length);
        }
      }),
      fc.few(60),
    );
  });

  it("fills no row that the terminal would have to break", async () => {
    await fc.assert(
      fc.asyncProperty(words, options, async (list, look) => {
        const text = list.join(" ");
        // Code is not wrapped.
        fc.pre(!/```|~~~|\t| {4}/.test(text));
        const drawn = await draw([text], look);
        expect(await drawn.lines()).toEqual(await drawn.rows());
      }),
      fc.few(60),
    );
  });
});
