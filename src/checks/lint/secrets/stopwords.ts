import { pack } from "./pack.ts";

// Many words: V8 takes milliseconds to compile one expression of them, and few values get this far.
const stopwords = pack.generic.stopwords.toLowerCase().split(" ");

/** Whether a value contains a word, which random values rarely do. */
export function hasStopword(text: string): boolean {
  const lower = text.toLowerCase();
  return stopwords.some((each) => lower.includes(each));
}
