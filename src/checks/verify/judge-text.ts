import type { Comparison, Doubt } from "./compare-text.ts";
import type { Spaces } from "./read-chunks.ts";

/** `more`: the index holds the sent text and further text of unknown origin. `unsure`: see `why`. */
export interface TextVerdict {
  text: "same" | "other" | "more" | "unsure";
  why?: string;
}

const reasons: Record<Doubt, string> = {
  spaces:
    "the index holds the text with other white space: the service may change it, or the text is older",
  repeats: "a chunk repeats text of another one: the index may hold an older text",
  overlap:
    "chunks begin with text of the chunk before: an overlap, or a repetition that was removed since",
  title: "the index holds the title and the text: the service may add it, or the text is older",
  characters:
    "the index lacks the dashes, quotes, arrows or emoji of the text: the service may remove them, or the text is older",
};

/** What the documents of a run show of the service. */
interface Known {
  frames: boolean;
  overlap: number;
  isWithoutOverlap: boolean;
  spaces: Spaces;
  keepsRemovable: boolean;
  removes: boolean;
}

/** One edit puts or removes white space at one cut. */
const enoughCuts = 2;

/** Whether white space between chunks may be that of an older text. */
function mayDifferInSpaces(own: Spaces, { kept, lost, joined }: Spaces): boolean {
  const isDropped = lost > kept;
  if (own.lostInLines > 0 && (!isDropped || lost < enoughCuts || joined >= lost)) return true;
  return own.joined > 0 && (isDropped || (kept === 0 && joined < enoughCuts));
}

/** What speaks against a reading: a doubt, or a character that the service would have kept. */
function objection({ needs, spaces }: Comparison, known: Known): Doubt | "older" | undefined {
  const { frames, overlap, removable } = needs;
  if (removable === "removed" && known.keepsRemovable) return "older";
  if (removable === "removed" && !known.removes) return "characters";
  if (frames !== undefined && frames !== known.frames) return "title";
  if (mayDifferInSpaces(spaces, known.spaces)) return "spaces";
  if (overlap === 0 && (known.overlap > 0 || !known.isWithoutOverlap)) return "overlap";
  return overlap !== undefined && overlap > known.overlap ? "overlap" : undefined;
}

const fewestDocuments = 5;

/** Counts documents that hold only what was sent, and those that hold more. */
interface Tally {
  same: number;
  more: number;
}

/**
 * Further text is an older version where nearly all documents hold only what was sent: this service
 * adds no context. If many hold more, nobody can tell: the service may add context, or have kept the
 * old version of all of them.
 */
const isOlder = ({ same, more }: Tally): boolean =>
  same + more >= fewestDocuments && more <= 0.2 * (same + more);

/** Decides by what the documents of a run show together. */
export interface TextJudge {
  /** Takes notice of one document. */
  note(found: Comparison): void;
  /** The verdict, if further documents of the run would hardly change it. */
  decideNow(found: Comparison): TextVerdict | undefined;
  /** Call it when all documents are noted. */
  decide(found: Comparison): TextVerdict;
}

/** So many documents show what a service does: later ones need not wait for the end of the run. */
const enoughDocuments = 50;

export function createTextJudge(): TextJudge {
  const known: Known = {
    frames: false,
    overlap: 0,
    isWithoutOverlap: false,
    spaces: { kept: 0, lost: 0, lostInLines: 0, joined: 0 },
    keepsRemovable: false,
    removes: false,
  };
  // A service may add context only to documents that it cuts into several chunks.
  const tallies: Record<"one" | "several", Tally> = {
    one: { same: 0, more: 0 },
    several: { same: 0, more: 0 },
  };
  let documents = 0;
  const tallyOf = ({ chunks }: Comparison): Tally => tallies[chunks > 1 ? "several" : "one"];
  const decide = (found: Comparison): TextVerdict => {
    const { verdict, doubt } = found;
    if (verdict === "other") return { text: "other" };
    if (verdict === "more") return { text: isOlder(tallyOf(found)) ? "other" : "more" };
    const against = verdict === "unsure" ? (doubt ?? "repeats") : objection(found, known);
    if (against === undefined) return { text: "same" };
    return against === "older" ? { text: "other" } : { text: "unsure", why: reasons[against] };
  };
  return {
    note(found) {
      const { verdict, shows, spaces } = found;
      documents++;
      if (verdict === "same" || verdict === "more") tallyOf(found)[verdict]++;
      known.frames ||= shows.frames === true;
      known.overlap = Math.max(known.overlap, shows.overlap ?? 0);
      known.isWithoutOverlap ||= shows.overlap === 0;
      known.spaces.kept += spaces.kept;
      known.spaces.lost += spaces.lost;
      known.spaces.lostInLines += spaces.lostInLines;
      known.spaces.joined += spaces.joined;
      known.keepsRemovable ||= shows.removable === "kept";
      known.removes ||= shows.removable === "removed";
    },
    decideNow(found) {
      const { verdict, needs, spaces } = found;
      const verdictNow = decide(found);
      if (verdict === "other" || verdict === "unsure") return verdictNow;
      const isPlain = Object.keys(needs).length === 0 && spaces.lostInLines + spaces.joined === 0;
      if (verdict === "same" && isPlain) return verdictNow;
      return documents >= enoughDocuments && verdictNow.text === "same" ? verdictNow : undefined;
    },
    decide,
  };
}
