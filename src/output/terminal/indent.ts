/** Deeper levels are not indented further. */
const maxDepth = 40;

interface IndentState {
  depth: number;
  inString: boolean;
  escaped: boolean;
  /** The last token was an opening bracket. */
  opened: boolean;
  /** White space since the last token; it separates two top-level values. */
  spaced: boolean;
  /** A token has been written. */
  started: boolean;
}

function newLine({ depth }: IndentState): string {
  return `\n${"  ".repeat(Math.min(Math.max(0, depth), maxDepth))}`;
}

/** Formats a character outside strings. */
function formatToken(state: IndentState, character: string): string {
  if (character === " " || character === "\n" || character === "\r" || character === "\t") {
    state.spaced = true;
    return "";
  }
  let lead = "";
  if (character === "}" || character === "]") {
    state.depth--;
    lead = state.opened ? "" : newLine(state);
    state.opened = false;
    return lead + character;
  }
  if (state.opened) lead = newLine(state);
  else if (state.depth === 0 && state.spaced && state.started) lead = "\n";
  state.opened = false;
  state.spaced = false;
  state.started = true;
  if (character === ",") return `,${newLine(state)}`;
  if (character === ":") return ": ";
  if (character === "{" || character === "[") {
    state.depth++;
    state.opened = true;
  }
  state.inString = character === '"';
  return lead + character;
}

/**
 * Indents JSON that arrives in pieces, cut at any position. Only white space outside
 * strings changes, so numbers keep their digits. Invalid JSON stays readable.
 */
export function createIndenter(): (text: string) => string {
  const state: IndentState = {
    depth: 0,
    inString: false,
    escaped: false,
    opened: false,
    spaced: false,
    started: false,
  };
  return (text) => {
    let result = "";
    for (const character of text) {
      if (!state.inString) result += formatToken(state, character);
      else {
        result += character;
        if (state.escaped) state.escaped = false;
        else if (character === "\\") state.escaped = true;
        else if (character === '"') state.inString = false;
      }
    }
    return result;
  };
}
