/** Members whose values are keys and passwords of connectors, wherever they stand in an answer. */
const secretMembers = new Set(["credential_json", "connector_specific_config"]);
/** A longer name is none of these, even with every character written as an escape. */
const longestName = 200;

interface Place {
  /** The text so far ends inside of a string, perhaps behind a backslash. */
  inText: boolean;
  escaped: boolean;
  /** The last string as it is written; undefined where something else came after it. */
  text: string | undefined;
  /** A secret value comes next, or is being left out: how deep, and what a word so far is. */
  hides: "next" | "value" | undefined;
  depth: number;
  word: string;
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

/** Follows a string; true for what belongs to one, its quotes included. */
function followText(place: Place, character: string): boolean {
  if (!place.inText) {
    if (character !== '"') return false;
    place.inText = true;
    place.text = "";
    return true;
  }
  if (place.escaped) place.escaped = false;
  else if (character === "\\") place.escaped = true;
  else if (character === '"') {
    place.inText = false;
    return true;
  }
  if (place.text !== undefined && place.text.length < longestName) place.text += character;
  return true;
}

const special = /["\\]/g;

const isSpace = (character: string): boolean => " \n\r\t".includes(character);

/** Ends the value that is left out, and gives what stands in its place; nothing is secret in `null`. */
function endValue(place: Place): string {
  const mask = place.word === "null" ? "null" : '"***"';
  place.hides = place.text = undefined;
  place.word = "";
  return mask;
}

/** Leaves out a piece of a value; gives what stands in its place once the value has ended. */
function hide(place: Place, character: string): string {
  place.hides = "value";
  if (followText(place, character)) {
    return place.depth === 0 && !place.inText ? endValue(place) : "";
  }
  const closes = "}]".includes(character);
  // A word has no end of its own: what comes behind it ends it.
  if (place.depth === 0 && (closes || character === "," || isSpace(character))) {
    return endValue(place) + character;
  }
  if ("{[".includes(character)) place.depth++;
  else if (closes) place.depth--;
  else if (place.depth === 0) place.word += character;
  return closes && place.depth === 0 ? endValue(place) : "";
}

/** Where the characters of a string end that only stand for themselves: most of an answer is these. */
function endOfRun(text: string, from: number): number {
  special.lastIndex = from;
  return special.exec(text)?.index ?? text.length;
}

function take(place: Place, character: string): string {
  if (place.hides === "next" && isSpace(character)) return character;
  if (place.hides !== undefined) return hide(place, character);
  if (followText(place, character)) return character;
  if (character === ":" && place.text !== undefined && isSecretName(place.text)) {
    place.hides = "next";
    return character;
  }
  if (!isSpace(character)) place.text = undefined;
  return character;
}

/**
 * Replaces the values of `credential_json` and `connector_specific_config` by `"***"`
 * in JSON that comes in pieces, cut anywhere. All else stays as it is written, also
 * where it is no JSON. `undefined` is the end.
 */
export function createCredentialMask(): (text: string | undefined) => string {
  const place: Place = {
    inText: false,
    escaped: false,
    text: undefined,
    hides: undefined,
    depth: 0,
    word: "",
  };
  return (text) => {
    if (text === undefined) return place.hides === "value" ? endValue(place) : "";
    let result = "";
    for (let at = 0; at < text.length; at++) {
      const end = place.inText && !place.escaped ? endOfRun(text, at) : at;
      if (end > at) {
        if (place.text !== undefined)
          place.text = (place.text + text.slice(at, end)).slice(0, longestName);
        if (place.hides === undefined) result += text.slice(at, end);
        at = end;
      }
      result += take(place, text.charAt(at));
    }
    return result;
  };
}

/** What may stand before JSON: spaces and a byte order mark, also as three characters of Latin-1. */
const beforeJson = /^[\s\u00ef\u00bb\u00bf]*/;

/** The same for text of an unknown kind: only what begins as an object or an array is JSON. */
export function createMaskOfUnknown(): (text: string | undefined) => string {
  const mask = createCredentialMask();
  let isJson: boolean | undefined;
  return (text) => {
    const first = text?.replace(beforeJson, "").charAt(0) ?? "";
    if (first !== "") isJson ??= first === "{" || first === "[";
    return isJson === false ? (text ?? "") : mask(text);
  };
}

/** The same for a whole text. */
export function maskCredentials(json: string): string {
  const mask = createCredentialMask();
  return mask(json) + mask(undefined);
}
