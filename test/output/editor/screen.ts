import { displayWidth } from "../../../src/output/terminal/width.ts";

/** As much of a terminal as the editor uses: enough to see what it draws. */
export interface Screen {
  write(text: string): void;
  /** Rows without the empty ones at the end, and without trailing spaces. */
  rows(): string[];
  cursor(): [row: number, column: number];
}

const graphemes = new Intl.Segmenter();
const sequence = /^\u001b\[([0-9?;]*)([A-Za-z])/;

export function createScreen(columns: number, height = 24): Screen {
  let lines: string[][] = [[]];
  let row = 0;
  let column = 0;
  const down = (): void => {
    row++;
    if (row >= height) {
      lines.shift();
      row--;
    }
    lines[row] ??= [];
  };
  const put = (segment: string): void => {
    const width = displayWidth(segment);
    if (column + width > columns) {
      column = 0;
      down();
    }
    const line = lines[row]!;
    while (line.length < column) line.push(" ");
    line[column] = segment;
    for (let more = 1; more < width; more++) line[column + more] = "";
    column += width;
  };
  const control = (parameters: string, name: string): void => {
    const count = Number(parameters) || 1;
    if (name === "A") row = Math.max(0, row - count);
    else if (name === "C") column = Math.min(columns - 1, column + count);
    else if (name === "J" && parameters === "2") lines = Array.from({ length: row + 1 }, () => []);
    else if (name === "J") {
      lines[row] = lines[row]!.slice(0, column);
      lines.length = row + 1;
    } else if (name === "H") [row, column] = [0, 0];
    else if (name !== "m") throw new Error(`unknown sequence ${name}`);
  };
  return {
    write(text) {
      let rest = text;
      while (rest !== "") {
        const found = sequence.exec(rest);
        if (found) control(found[1]!, found[2]!);
        else if (rest.startsWith("\r")) column = 0;
        else if (rest.startsWith("\n")) down();
        else if (rest < " ") throw new Error(`control character ${rest.charCodeAt(0)}`);
        const { segment } = graphemes.segment(rest).containing(0)!;
        const taken = found?.[0] ?? (/^[\r\n]/.test(rest) ? rest.charAt(0) : segment);
        if (!found && !/^[\r\n]/.test(rest)) put(segment);
        rest = rest.slice(taken.length);
      }
    },
    rows() {
      const texts = lines.map((line) => line.join("").trimEnd());
      return texts.slice(0, texts.findLastIndex((text) => text !== "") + 1);
    },
    cursor: () => [row, column],
  };
}
