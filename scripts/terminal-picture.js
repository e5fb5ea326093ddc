// Draws what a terminal shows as SVG: text that can be selected and read aloud, in light and dark.
import headless from "@xterm/headless";

const cell = { width: 8.4, height: 18 };
const margin = 16;
const attributes = [
  ["bold", (each) => each.isBold()],
  ["dim", (each) => each.isDim()],
  ["italic", (each) => each.isItalic()],
  ["underline", (each) => each.isUnderline()],
];

// The eight colours of a terminal; the bright ones look the same. Contrast is at least 4.5:1.
const palettes = {
  light: {
    paper: "#ffffff",
    border: "#d0d7de",
    text: "#1f2328",
    colours: [
      "#1f2328",
      "#b31d28",
      "#116329",
      "#7d4e00",
      "#0550ae",
      "#8250df",
      "#1b7c83",
      "#59636e",
    ],
  },
  dark: {
    paper: "#0d1117",
    border: "#30363d",
    text: "#e6edf3",
    colours: [
      "#8b949e",
      "#ff7b72",
      "#56d364",
      "#e3b341",
      "#79c0ff",
      "#d2a8ff",
      "#56d4dd",
      "#e6edf3",
    ],
  },
};

const rulesOf = ({ paper, border, text, colours }) =>
  [
    `.paper{fill:${paper};stroke:${border}}`,
    `text{fill:${text}}`,
    ...colours.map((colour, index) => `.c${index}{fill:${colour}}`),
  ].join("");

const styles = `<style>
text{font:14px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre}
${rulesOf(palettes.light)}
.bold{font-weight:bold}.dim{opacity:.75}.italic{font-style:italic}.underline{text-decoration:underline}
@media (prefers-color-scheme:dark){${rulesOf(palettes.dark)}}
</style>`;

const escapes = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text) => text.replace(/[&<>"]/g, (character) => escapes[character]);

function classesOf(each) {
  const names = attributes.filter(([, has]) => has(each)).map(([name]) => name);
  return [...names, ...(each.isFgPalette() ? [`c${each.getFgColor() % 8}`] : [])].join(" ");
}

/** Runs of characters that look the same: column, text, width in columns, classes. */
function runsOf(line) {
  const runs = [];
  for (let column = 0; column < line.length; column++) {
    const each = line.getCell(column);
    const width = each.getWidth();
    if (width === 0) continue;
    const [text, classes] = [each.getChars() || " ", classesOf(each)];
    const last = runs.at(-1);
    if (last?.classes === classes)
      Object.assign(last, { text: last.text + text, width: last.width + width });
    else runs.push({ column, text, width, classes });
  }
  return runs.filter(({ text }) => text.trim() !== "");
}

/** The width of a run is fixed, so that columns stay aligned in any font. */
function drawRun({ column, text, width, classes }, row) {
  const [lead] = /^ */.exec(text);
  const shown = text.trim();
  const columns = width - lead.length - (text.length - lead.length - shown.length);
  const x = (margin + (column + lead.length) * cell.width).toFixed(1);
  const y = margin + row * cell.height + 13;
  const look = classes === "" ? "" : ` class="${classes}"`;
  return `<text x="${x}" y="${y}" textLength="${(columns * cell.width).toFixed(1)}"${look}>${escape(shown)}</text>`;
}

/**
 * SVG of what a terminal of this many columns shows after `output`, all lines of it. `title` is
 * its accessible name.
 */
export async function drawTerminal({ output, columns, title }) {
  const terminal = new headless.Terminal({
    cols: columns,
    rows: 24,
    scrollback: 1000,
    allowProposedApi: true,
  });
  await new Promise((resolve) => {
    terminal.write(output, resolve);
  });
  const { active } = terminal.buffer;
  const lines = Array.from({ length: active.length }, (_, row) => runsOf(active.getLine(row)));
  while (lines.at(-1)?.length === 0) lines.pop();
  const width = Math.ceil(columns * cell.width + 2 * margin);
  const height = lines.length * cell.height + 2 * margin;
  const texts = lines.flatMap((runs, row) => runs.map((run) => drawRun(run, row)));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">`,
    `<title>${escape(title)}</title>`,
    styles,
    `<rect class="paper" x=".5" y=".5" width="${width - 1}" height="${height - 1}" rx="8"/>`,
    ...texts,
    "</svg>",
    "",
  ].join("\n");
}
