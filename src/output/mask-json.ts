/** Members with keys and passwords of connectors, at any depth of a response. */
const secretMembers = new Set(["credential_json", "connector_specific_config"]);
/** A longer name is none of these, even with every character escaped. */
const maxNameLength = 200;

interface ScanState {
  /** The scanned text ends inside a string. */
  inString: boolean;
  /** The last character was a backslash inside a string. */
  escaped: boolean;
  /** The last string as written; undefined if another token follows it. */
  lastString: string | undefined;
  /** `next`: a secret value follows; `value`: inside that value. */
  masking: "next" | "value" | undefined;
  /** Nesting depth inside the masked value. */
  depth: number;
  /** Masked number, `true`, `false` or `null` so far. */
  literal: string;
}

function isSecretName(written: string): boolean {
  if (secretMembers.has(written)) return true;
  if (!written.includes("\\")) return false;
  try {
    return secretMembers.has(JSON.parse(`"${written}"`) as string);
  } catch {
    return false;
  }
}

/** Tracks strings; returns whether the character belongs to one, quotes included. */
function trackString(state: ScanState, character: string): boolean {
  if (!state.inString) {
    if (character !== '"') return false;
    state.inString = true;
    state.lastString = "";
    return true;
  }
  if (state.escaped) state.escaped = false;
  else if (character === "\\") state.escaped = true;
  else if (character === '"') {
    state.inString = false;
    return true;
  }
  if (state.lastString !== undefined && state.lastString.length < maxNameLength)
    state.lastString += character;
  return true;
}

const special = /["\\]/g;

const isSpace = (character: string): boolean => " \n\r\t".includes(character);

/** Ends the masked value and returns its replacement; `null` is no secret and stays. */
function endValue(state: ScanState): string {
  const mask = state.literal === "null" ? "null" : '"***"';
  state.masking = state.lastString = undefined;
  state.literal = "";
  return mask;
}

/** Drops a character of a masked value; returns the replacement once the value has ended. */
function maskCharacter(state: ScanState, character: string): string {
  state.masking = "value";
  if (trackString(state, character)) {
    return state.depth === 0 && !state.inString ? endValue(state) : "";
  }
  const closes = "}]".includes(character);
  // A literal has no closing character: the next token ends it.
  if (state.depth === 0 && (closes || character === "," || isSpace(character))) {
    return endValue(state) + character;
  }
  if ("{[".includes(character)) state.depth++;
  else if (closes) state.depth--;
  else if (state.depth === 0) state.literal += character;
  return closes && state.depth === 0 ? endValue(state) : "";
}

/** Index of the next quote or backslash. Most of a response lies between them. */
function endOfPlainRun(text: string, from: number): number {
  special.lastIndex = from;
  return special.exec(text)?.index ?? text.length;
}

function scan(state: ScanState, character: string): string {
  if (state.masking === "next" && isSpace(character)) return character;
  if (state.masking !== undefined) return maskCharacter(state, character);
  if (trackString(state, character)) return character;
  if (character === ":" && state.lastString !== undefined && isSecretName(state.lastString)) {
    state.masking = "next";
    return character;
  }
  if (!isSpace(character)) state.lastString = undefined;
  return character;
}

/**
 * Replaces the values of `credential_json` and `connector_specific_config` by `"***"`
 * in JSON that arrives in pieces, cut at any position. Everything else is unchanged,
 * even invalid JSON. `undefined` marks the end of the text.
 */
export function createCredentialMask(): (text: string | undefined) => string {
  const state: ScanState = {
    inString: false,
    escaped: false,
    lastString: undefined,
    masking: undefined,
    depth: 0,
    literal: "",
  };
  return (text) => {
    if (text === undefined) return state.masking === "value" ? endValue(state) : "";
    let result = "";
    for (let at = 0; at < text.length; at++) {
      const end = state.inString && !state.escaped ? endOfPlainRun(text, at) : at;
      if (end > at) {
        if (state.lastString !== undefined)
          state.lastString = (state.lastString + text.slice(at, end)).slice(0, maxNameLength);
        if (state.masking === undefined) result += text.slice(at, end);
        at = end;
      }
      result += scan(state, text.charAt(at));
    }
    return result;
  };
}

/** Characters allowed before JSON: spaces and a byte order mark, also as three characters of Latin-1. */
const beforeJson = /^[\s\u00ef\u00bb\u00bf]*/;

/** The same for text of an unknown kind: it is JSON only if it starts with an object or an array. */
export function createMaskOfUnknown(): (text: string | undefined) => string {
  const mask = createCredentialMask();
  let isJson: boolean | undefined;
  return (text) => {
    const first = text?.replace(beforeJson, "").charAt(0) ?? "";
    if (first !== "") isJson ??= first === "{" || first === "[";
    return isJson === false ? (text ?? "") : mask(text);
  };
}

/** The same for a complete text. */
export function maskCredentials(json: string): string {
  const mask = createCredentialMask();
  return mask(json) + mask(undefined);
}
