// Words as hashes. A loop over character codes: a pattern that finds the words of 40,000 pages takes
// longer than everything else that lint does with them.

const letterOrDigit = /[\p{L}\p{N}\p{M}]/u;
/** Scripts that put no spaces between words: each character counts as a word. */
export const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

const [separator, part, whole] = [0, 1, 2];
/** What each UTF-16 unit is to words; 3 is not known yet. */
const kinds = new Uint8Array(65_536).fill(3);
/** Its lower case, as far as that is one unit: a copy of the text in lower case takes as long as the loop. */
const lowerCase = new Uint16Array(65_536);

function kindOf(code: number): number {
  let kind = kinds[code] ?? separator;
  if (kind === 3) {
    const char = String.fromCharCode(code);
    // Half of a pair: rare letters and emoji alike.
    const isPart = letterOrDigit.test(char) || (code >= 0xd800 && code <= 0xdfff);
    kind = unspaced.test(char) ? whole : isPart ? part : separator;
    kinds[code] = kind;
    lowerCase[code] = char.toLowerCase().charCodeAt(0);
  }
  return kind;
}

const offsetBasis = 0x811c9dc5;
const prime = 0x01000193;

// A piece of the text, and the hashes of its words. Arrays of numbers: a loop over a string and a call
// for each word take twice as long.
const units = new Uint16Array(32_768);
const unitBytes = Buffer.from(units.buffer);
const hashes = new Int32Array(units.length + 1);

/**
 * Receives `count` hashes (32 bits, signed) of words, valid during the call. `characters` of them are
 * characters of scripts without spaces.
 */
export type OnWords = (hashes: Int32Array, count: number, characters: number) => void;

/** Calls `onWords` with the words of each piece of a text, in order, whatever their case. */
export function hashWords(text: string, onWords: OnWords): void {
  let hash = offsetBasis;
  let isOpen = false;
  for (let start = 0; start < text.length; start += units.length) {
    const end = Math.min(text.length, start + units.length);
    unitBytes.write(start === 0 && end === text.length ? text : text.slice(start, end), "utf16le");
    let count = 0;
    let characters = 0;
    for (let at = 0; at < end - start; at++) {
      const code = units[at] ?? 0;
      const kind = kindOf(code);
      if (kind === part) {
        hash = Math.imul(hash ^ (lowerCase[code] ?? code), prime);
        isOpen = true;
        continue;
      }
      if (isOpen) hashes[count++] = hash;
      if (kind === whole) {
        hashes[count++] = Math.imul(offsetBasis ^ code, prime);
        characters++;
      }
      hash = offsetBasis;
      isOpen = false;
    }
    if (isOpen && end === text.length) hashes[count++] = hash;
    onWords(hashes, count, characters);
  }
}

/** Spreads all bits of a hash (the finaliser of MurmurHash3). */
export function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
