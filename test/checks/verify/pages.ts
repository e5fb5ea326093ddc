/** Pages and random edits of them, for tests. */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Page } from "./chunker.ts";

const folder = join(import.meta.dirname, "../../..");

/** Sections as they are sent: a page is cut at its headings. */
function toPage(title: string, text: string): Page {
  const sections = text.split(/\n(?=#{1,3} )/).filter((each) => each.trim() !== "");
  return { title, sections, metadata: { source: "docs", owner: "people@example.com" } };
}

const made = [
  [
    "Leave",
    "Leave\n\nEvery employee gets 28 days. ❌ Nothing on Sundays. ✅ Mondays are fine.\n\n- Alice: read\n- Bob: write\n- Carol: admin\n\n| limit | value |\n| - | - |\n| low | -5 |\n| high | 1.5 |\n",
  ],
  [
    "休暇",
    "病気休暇は年間十日です。前日までに連絡してください。申請は上司が承認します。\n\n".repeat(9) +
      "- 一日目：申請\n- 二日目：承認\n\n人事部に聞いてください。電話は１２３です。\n",
  ],
  [
    "Résumé",
    "Le congé dure 10 jours — « sauf » exception… L’employé demande l’accord d’un chef. ".repeat(
      20,
    ) + "\n\nC’est tout 😀👍🏽. Voilà l’été.\n",
  ],
  ["Rule", `${"=".repeat(900)}\n\n${"| - | - |\n".repeat(150)}\nThe end.\n`],
  [
    "Steps",
    Array.from(
      { length: 60 },
      (_, index) => `${index + 1}. Press the button. Press the button. Wait ${index} seconds.`,
    ).join("\n"),
  ],
  [
    "Code",
    `Run this:\n\n\`\`\`sh\n${"curl -s https://example.com/a?b=1 | jq '.x[0]'\n".repeat(30)}\`\`\`\n\nThen stop.\n`,
  ],
] as const;

/** The project's own pages, and some with tables, emoji, repetitions and texts without spaces. */
export function readPages(): Page[] {
  const docs = readdirSync(join(folder, "docs")).filter((name) => name.endsWith(".md"));
  const files = [...docs.map((name) => join("docs", name)), "README.md", "CONTRIBUTING.md"];
  const pages = files.flatMap((path) => {
    const text = readFileSync(join(folder, path), "utf8");
    // Generated references are of one kind, and long.
    if (text.length > 60_000) return [];
    return [toPage(/^# (.+)/m.exec(text)?.[1] ?? path, text)];
  });
  return [...pages, ...made.map(([title, text]) => toPage(title, text))];
}

/** A generator of numbers that is the same for the same seed (mulberry32). */
export function randomFrom(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below);
  };
}

type Edit = (text: string, random: (below: number) => number) => string;

/** Changes the parts that a pattern separates: one is removed, repeated, or moved. */
const parts =
  (pattern: RegExp): Edit =>
  (text, random) => {
    // The separators stay between the parts.
    const all = text.split(pattern);
    const at = random(Math.ceil(all.length / 2)) * 2;
    const [part = ""] = all.slice(at, at + 1);
    const between = all[at + 1] ?? all[at - 1] ?? "\n";
    const kind = random(3);
    if (kind === 0) all.splice(at, 2);
    else if (kind === 1) all.splice(at, 0, part, between);
    else {
      all.splice(at, 2);
      all.splice(random(Math.ceil(all.length / 2)) * 2, 0, part, between);
    }
    return all.join("");
  };

const insert =
  (values: readonly string[]): Edit =>
  (text, random) => {
    const characters = Array.from(text);
    const at = random(characters.length + 1);
    characters.splice(at, 0, values[random(values.length)]!);
    return characters.join("");
  };

const removeAny =
  (pattern: RegExp): Edit =>
  (text, random) => {
    const found = [...text.matchAll(pattern)];
    const one = found[random(Math.max(1, found.length))];
    return one ? text.slice(0, one.index) + text.slice(one.index + one[0].length) : text;
  };

export const edits: Record<string, Edit> = {
  "a character removed": removeAny(/[^]/gu),
  "a character repeated": (text, random) => {
    const characters = Array.from(text);
    const at = random(characters.length);
    characters.splice(at, 0, characters[at] ?? "");
    return characters.join("");
  },
  "a character inserted": insert(["a", "Z", "7", " ", "é", "日", "#", "\n"]),
  "punctuation inserted": insert([".", ",", "!", "—", "…", "’", "-", "|", "`"]),
  "punctuation removed": removeAny(/[\p{P}\p{S}]/gu),
  "an emoji inserted": insert(["❌", "✅", "😀", "⚠️", "👩‍💻", "→"]),
  "an emoji removed": removeAny(/\p{Extended_Pictographic}/gu),
  "a number": (text, random) => {
    const found = [...text.matchAll(/-?\d+(?:\.\d+)?/g)];
    const one = found[random(Math.max(1, found.length))];
    if (!one) return text;
    const value = [one[0].replace("-", ""), one[0].split(".")[0]!, `${one[0]}0`, "77"][random(4)]!;
    return text.slice(0, one.index) + value + text.slice(one.index + one[0].length);
  },
  "a line": parts(/(\n)/),
  "a list item": (text, random) => {
    const items = [...text.matchAll(/^[ \t]*(?:[-*]|\d+\.) .*$/gm)];
    const one = items[random(Math.max(1, items.length))];
    if (!one) return text;
    const cut = [one[0].replace(/:.*$/, ""), "", `${one[0]}\n${one[0]}`][random(3)]!;
    return text.slice(0, one.index) + cut + text.slice(one.index + one[0].length);
  },
  "a sentence": parts(/((?<=[.!?。])\s*)/),
};

/** A page with one edit, in one of its sections. */
export function editPage(page: Page, name: string, random: (below: number) => number): Page {
  const at = random(page.sections.length);
  const sections = page.sections.map((section, index) =>
    index === at ? edits[name]!(section, random) : section,
  );
  return { ...page, sections: sections.filter((each) => each.trim() !== "") };
}
