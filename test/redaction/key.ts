import * as fc from "../property.ts";

/** A key with characters that the spellings write in different ways. */
export const key = "tq7/kXw2+mN4pR8v-1cD6fG9=hJ3sY5u";

/** Characters of a key that tell nothing when they are seen. */
const harmless = 5;

const escapes = (text: string): string[] =>
  [...text].map((each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);

/** What a service may write in place of the key: its pieces, and how many of them are too many. */
export interface Spelling {
  name: string;
  pieces: string[];
  tooMany: number;
}

const tooMany = harmless + 1;

function base64(before: string): Spelling {
  const text = Buffer.from(before + key).toString("base64");
  // Six bytes are eight characters; what depends on the text around it is left out.
  const pieces = text.slice(before === "" ? 0 : 4, -4).split("");
  return { name: `base64 behind ${before.length} bytes`, pieces, tooMany: 8 };
}

export const spellings: readonly Spelling[] = [
  { name: "plain", pieces: [...key], tooMany },
  { name: "percent", pieces: [...key].map(encodeURIComponent), tooMany },
  base64(""),
  base64("k"),
  base64("k:"),
  {
    name: "base64url",
    pieces: Buffer.from(key).toString("base64url").slice(0, -3).split(""),
    tooMany: 8,
  },
  {
    name: "hexadecimal",
    pieces: [...key].map((each) => Buffer.from(each).toString("hex")),
    tooMany,
  },
  { name: "JSON escapes", pieces: escapes(key), tooMany },
];

/** The whole text of a spelling, as it stands in a source. */
export function writtenAs(spelling: Spelling): string {
  const found = /^base64 behind (\d)/.exec(spelling.name);
  if (found) return Buffer.from("k:".slice(0, Number(found[1])) + key).toString("base64");
  return spelling.name === "base64url"
    ? Buffer.from(key).toString("base64url")
    : spelling.pieces.join("");
}

/** The first part of the key, in any spelling, that is long enough to tell; undefined where none shows. */
export function leakIn(text: string): string | undefined {
  // Rows of a narrow terminal, the frame of a table and the escapes of HTML stand between characters.
  const joined = text.replace(/\u001b\[[\d;?]*[A-Za-z]/g, "");
  for (const { name, pieces, tooMany: most } of spellings) {
    for (let at = 0; at + most <= pieces.length; at++) {
      const part = pieces.slice(at, at + most).join("");
      if (joined.includes(part)) return `${name}: ${part}`;
    }
  }
  return undefined;
}

export const anySpelling = fc.constantFrom(...spellings);
