import { tmpdir } from "node:os";
import headless from "@xterm/headless";
import type { Context } from "../../../src/context.ts";
import { openDrawing } from "../../../src/output/chat/markdown.ts";
import { createOutput, type Output } from "../../../src/output/terminal/output.ts";
import { createTestContext } from "../../support.ts";

export interface TestTerminal {
  output: Output;
  /** Everything on the screen and above it, without the empty rows below. */
  rows(): Promise<string[]>;
  /** The same with rows joined that the terminal itself has broken: what a reader would copy. */
  lines(): Promise<string[]>;
  /** The same with the look of each character: its text and a code of its style. */
  looks(): Promise<string[]>;
  resize(columns: number): Promise<void>;
  /** All bytes that were written. */
  written(): string;
}

export interface TerminalOptions {
  columns?: number;
  color?: boolean;
  env?: Record<string, string>;
  secret?: string;
}

const height = 50;

/** A real terminal emulator behind an Output: asserts see what a reader would. */
export function openTerminal(options: TerminalOptions = {}): TestTerminal {
  const { columns = 80, color = true, env = {} } = options;
  const terminal = new headless.Terminal({
    cols: columns,
    rows: height,
    scrollback: 10_000,
    convertEol: true,
    allowProposedApi: true,
  });
  let all = "";
  let width = columns;
  let written: Promise<void> = Promise.resolve();
  const write = (text: string): Promise<void> => {
    all += text;
    // A terminal does not wait either; who looks at the screen does.
    written = new Promise((resolve) => terminal.write(text, resolve));
    return Promise.resolve();
  };
  // Nothing is written there, as in play().
  const cwd = tmpdir();
  const test = createTestContext({ isTTY: true, cwd, env: { TERM: "xterm-kitty", ...env } });
  const sink = { isTTY: true, columns: () => width, write };
  const context: Context = { ...test, stdout: sink, stderr: sink };
  const output = createOutput(context, { color });
  if (options.secret) output.secrets.add(options.secret);
  const lines = async (look: boolean): Promise<string[]> => {
    await written;
    const buffer = terminal.buffer.active;
    const rows: string[] = [];
    for (let y = 0; y < buffer.length; y++) {
      const line = buffer.getLine(y);
      if (!look) rows.push(line?.translateToString(true) ?? "");
      else {
        let row = "";
        for (let x = 0; x < (line?.length ?? 0); x++) {
          const cell = line?.getCell(x);
          if (!cell || cell.getChars() === "") continue;
          const code = [
            cell.isBold() && "b",
            cell.isItalic() && "i",
            cell.isUnderline() && "u",
            cell.isDim() && "d",
            cell.isStrikethrough() && "s",
            cell.isFgDefault() ? "" : String(cell.getFgColor()),
          ];
          row += `${cell.getChars()}${code.filter(Boolean).join("")}`;
        }
        rows.push(row);
      }
    }
    while (rows.at(-1)?.trim() === "") rows.pop();
    return rows;
  };
  return {
    output,
    rows: () => lines(false),
    async lines() {
      const rows = await lines(false);
      const joined: string[] = [];
      for (const [y, row] of rows.entries()) {
        const line = terminal.buffer.active.getLine(y);
        const next = terminal.buffer.active.getLine(y + 1);
        // Spaces at the edge belong to a row that goes on.
        const text = next?.isWrapped ? (line?.translateToString(false) ?? "") : row;
        if (line?.isWrapped) joined.push((joined.pop() ?? "") + text);
        else joined.push(text);
      }
      return joined;
    },
    looks: () => lines(true),
    async resize(columns) {
      await written;
      width = columns;
      terminal.resize(columns, height);
    },
    written: () => all,
  };
}

/** Draws `pieces` on a terminal of its own, each with one write. */
export async function draw(
  pieces: Iterable<string>,
  options: TerminalOptions & { shortensMarkers?: boolean } = {},
): Promise<TestTerminal> {
  const terminal = openTerminal(options);
  const { output } = terminal;
  const { shortensMarkers = false } = options;
  const drawing = await openDrawing(output, { shortensMarkers });
  for (const piece of pieces) await output.write(...(await drawing.add(piece)));
  await output.write(...(await drawing.end()));
  await output.flush();
  return terminal;
}

/** The rows that `source` ends up as. */
export async function rowsOf(source: string, options: TerminalOptions = {}): Promise<string[]> {
  return await (await draw([source], options)).rows();
}
