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

/** Receives a hash (32 bits) of a word. `isCharacter` if it is one of a script without spaces. */
export type OnWord = (hash: number, isCharacter: boolean) => void;

/** Calls `onWord` with each word of a text, in order, whatever its case. */
export function hashWords(text: string, onWord: OnWord): void {
  let hash = offsetBasis;
  let isOpen = false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = kindOf(code);
    if (kind === part) {
      hash = Math.imul(hash ^ (lowerCase[code] ?? code), prime);
      isOpen = true;
      continue;
    }
    if (isOpen) onWord(hash, false);
    if (kind === whole) onWord(Math.imul(offsetBasis ^ code, prime), true);
    hash = offsetBasis;
    isOpen = false;
  }
  if (isOpen) onWord(hash, false);
}

/** Spreads all bits of a hash (the finaliser of MurmurHash3). */
export function mix(hash: number): number {
  let mixed = hash ^ (hash >>> 16);
  mixed = Math.imul(mixed, 0x85ebca6b);
  mixed ^= mixed >>> 13;
  mixed = Math.imul(mixed, 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}
