/** Deeper than this a line is not moved further to the right. */
const deepest = 40;

interface Place {
  depth: number;
  inText: boolean;
  escaped: boolean;
  /** A bracket has been opened, and nothing stands in it yet. */
  opened: boolean;
  /** White space since the last character; between two values it separates them. */
  spaced: boolean;
  begun: boolean;
}

function newLine({ depth }: Place): string {
  return `\n${"  ".repeat(Math.min(Math.max(0, depth), deepest))}`;
}

function outside(place: Place, character: string): string {
  if (character === " " || character === "\n" || character === "\r" || character === "\t") {
    place.spaced = true;
    return "";
  }
  let lead = "";
  if (character === "}" || character === "]") {
    place.depth--;
    lead = place.opened ? "" : newLine(place);
    place.opened = false;
    return lead + character;
  }
  if (place.opened) lead = newLine(place);
  else if (place.depth === 0 && place.spaced && place.begun) lead = "\n";
  place.opened = false;
  place.spaced = false;
  place.begun = true;
  if (character === ",") return `,${newLine(place)}`;
  if (character === ":") return ": ";
  if (character === "{" || character === "[") {
    place.depth++;
    place.opened = true;
  }
  place.inText = character === '"';
  return lead + character;
}

/**
 * Lays JSON out for reading while it comes, in pieces cut anywhere. Only white space
 * outside of strings changes, so numbers keep their digits; what is no JSON comes
 * out readable, too.
 */
export function createIndenter(): (text: string) => string {
  const place: Place = {
    depth: 0,
    inText: false,
    escaped: false,
    opened: false,
    spaced: false,
    begun: false,
  };
  return (text) => {
    let result = "";
    for (const character of text) {
      if (!place.inText) result += outside(place, character);
      else {
        result += character;
        if (place.escaped) place.escaped = false;
        else if (character === "\\") place.escaped = true;
        else if (character === '"') place.inText = false;
      }
    }
    return result;
  };
}
