import { matchesWithin } from "../../time-limit.ts";
import { quoted, type Word } from "./word.ts";

// Two ways to write an accented letter are the same text.
const plain = (text: string): string => text.normalize("NFC");
const lower = (text: string): string => plain(text).toLowerCase();

/** The answer contains the text, in the same case. */
export const contains: Word<string> = {
  judge: (text, { answer }) => ({ passed: plain(answer).includes(plain(text)) }),
};

/** The answer contains the text, in any case. */
export const icontains: Word<string> = {
  judge: (text, { answer }) => ({ passed: lower(answer).includes(lower(text)) }),
};

/** The answer contains at least one of the texts, in the same case. */
export const containsAny: Word<readonly string[]> = {
  judge(texts, { answer }) {
    const found = texts.filter((text) => plain(answer).includes(plain(text)));
    const detail = found.length > 0 ? `found ${quoted(found)}` : "found none of them";
    return { passed: found.length > 0, detail };
  },
};

/** The answer contains each of the texts, in the same case. */
export const containsAll: Word<readonly string[]> = {
  judge(texts, { answer }) {
    const missing = texts.filter((text) => !plain(answer).includes(plain(text)));
    const detail = missing.length > 0 ? `missing ${quoted(missing)}` : "found all of them";
    return { passed: missing.length === 0, detail };
  },
};

/** The JavaScript regular expression matches somewhere in the answer. */
export const regex: Word<string> = {
  judge(source, { answer }) {
    const matched = matchesWithin(new RegExp(source), answer);
    if (matched !== undefined) return { passed: matched };
    return { error: "the regular expression takes too long on this answer; write a simpler one" };
  },
};

/** The answer took at most this many milliseconds. */
export const latency: Word<number> = {
  judge: (limitMs, { elapsedMs }) => ({
    passed: elapsedMs <= limitMs,
    detail: `${Math.round(elapsedMs)} ms`,
  }),
};
