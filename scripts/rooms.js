// Draws the rooms of src/ and what they import, from the imports themselves: docs/rooms.svg.
import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, posix } from "node:path";
import { projectFolder } from "./install.js";

const source = join(projectFolder, "src");

// Whoever may import errors may import these; arrows to them would hide all others.
const groundFloor = new Set([
  "errors.ts",
  "make-folder.ts",
  "nearest.ts",
  "ownership.ts",
  "replace-file.ts",
]);

// Static imports, of types too; a command that is loaded on demand is no arrow.
const importLine = /^(?:import [^"\n]*|\} from )"(\.{1,2}\/[^"]+)"/gm;

function sourceFiles() {
  return readdirSync(source, { recursive: true, encoding: "utf8" })
    .map((name) => name.replaceAll("\\", "/"))
    .filter((name) => name.endsWith(".ts"))
    .toSorted();
}

// The flags of a command stand beside it, and belong to the command line.
const roomOf = (path) => (/^commands\/[^/]+\/flags/.test(path) ? "cli" : path.split("/")[0]);

/** By room, its sub-folders and the rooms that it imports. */
function readRooms() {
  const rooms = new Map();
  for (const file of sourceFiles()) {
    const name = roomOf(file);
    if (groundFloor.has(name)) continue;
    const room = rooms.get(name) ?? { name, parts: new Set(), imports: new Set() };
    rooms.set(name, room);
    const part =
      file.startsWith(`${name}/`) && file.split("/").length > 2 ? file.split("/")[1] : undefined;
    if (part !== undefined) room.parts.add(part);
    const text = readFileSync(join(source, file), "utf8");
    for (const [, path] of text.matchAll(importLine)) {
      const target = roomOf(posix.join(dirname(file), path));
      if (target !== name && !groundFloor.has(target)) room.imports.add(target);
    }
  }
  return rooms;
}

/** How many rooms lie below one another at most, from each room on. */
function depths(rooms) {
  const known = new Map();
  const depthOf = (name) => {
    if (!known.has(name)) {
      known.set(name, 0);
      const below = [...(rooms.get(name)?.imports ?? [])].map((each) => depthOf(each) + 1);
      known.set(name, Math.max(0, ...below));
    }
    return known.get(name);
  };
  for (const name of rooms.keys()) depthOf(name);
  return known;
}

/** Whether a room reaches another one through a third: then its own arrow says nothing new. */
function reachesThroughOthers(rooms, from, to) {
  const seen = new Set([from]);
  const next = [...rooms.get(from).imports].filter((each) => each !== to);
  while (next.length > 0) {
    const name = next.pop();
    if (name === to) return true;
    if (seen.has(name)) continue;
    seen.add(name);
    next.push(...(rooms.get(name)?.imports ?? []));
  }
  return false;
}

const width = 960;
const rowHeight = 132;
const boxHeight = 78;

function place(rooms) {
  const depthOf = depths(rooms);
  const top = Math.max(...depthOf.values());
  const places = new Map();
  for (let depth = top; depth >= 0; depth--) {
    const row = [...rooms.values()].filter(({ name }) => depthOf.get(name) === depth);
    const boxWidth = Math.min(250, width / row.length - 16);
    for (const [index, room] of row.entries()) {
      const x = ((index + 0.5) * width) / row.length - boxWidth / 2;
      places.set(room.name, { x, y: 16 + (top - depth) * rowHeight, width: boxWidth });
    }
  }
  return { places, height: (top + 1) * rowHeight };
}

const escape = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");

/** Names in lines of at most so many characters. */
function wrap(names, most) {
  const lines = [""];
  for (const name of names) {
    const last = lines.at(-1);
    if (last !== "" && last.length + name.length + 1 > most) lines.push(name);
    else lines[lines.length - 1] = last === "" ? name : `${last} ${name}`;
  }
  return lines.filter(Boolean);
}

function drawRoom({ name, parts }, { x, y, width: boxWidth }) {
  const title = name.replace(/\.ts$/, "");
  const lines = wrap([...parts], Math.floor(boxWidth / 6.6)).slice(0, 3);
  const text = lines.map(
    (line, index) =>
      `<text class="part" x="${x + 10}" y="${y + 42 + index * 14}">${escape(line)}</text>`,
  );
  return [
    `<rect x="${x}" y="${y}" width="${boxWidth}" height="${boxHeight}" rx="8"/>`,
    `<text class="name" x="${x + 10}" y="${y + 24}">${escape(title)}</text>`,
    ...text,
  ].join("\n");
}

function drawArrow(from, to) {
  const [x1, x2] = [from.x + from.width / 2, to.x + to.width / 2];
  const [y1, y2] = [from.y + boxHeight, to.y - 3];
  const bend = (y1 + y2) / 2;
  return `<path d="M${x1} ${y1} C${x1} ${bend} ${x2} ${bend} ${x2} ${y2}" marker-end="url(#head)"/>`;
}

const style = `
rect { fill: #f6f8fa; stroke: #57606a }
path { fill: none; stroke: #57606a; stroke-width: 1.2 }
marker path { fill: #57606a; stroke: none }
text { font-family: system-ui, sans-serif; fill: #1f2328 }
.name { font-size: 15px; font-weight: 600 }
.part { font-size: 11px; font-weight: 400; fill: #57606a }
@media (prefers-color-scheme: dark) {
  rect { fill: #161b22; stroke: #8b949e }
  path { stroke: #8b949e }
  marker path { fill: #8b949e }
  text { fill: #e6edf3 }
  .part { fill: #8b949e }
}`;

/** The picture as SVG. An arrow goes from a room to one that it imports, unless a third leads there. */
export function roomsPicture() {
  const rooms = readRooms();
  const { places, height } = place(rooms);
  const arrows = [];
  for (const { name, imports } of rooms.values()) {
    for (const to of imports) {
      if (!rooms.has(to) || reachesThroughOthers(rooms, name, to)) continue;
      arrows.push(drawArrow(places.get(name), places.get(to)));
    }
  }
  const boxes = [...rooms.values()].map((room) => drawRoom(room, places.get(room.name)));
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Rooms of src/ and what they import">
<style>${style}
</style>
<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto"><path d="M0 0 L8 4 L0 8 z"/></marker></defs>
${[...arrows, ...boxes].join("\n")}
</svg>
`;
}
