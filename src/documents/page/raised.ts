const signs = new Map(
  Object.entries({
    ...Object.fromEntries(Array.from("⁰¹²³⁴⁵⁶⁷⁸⁹", (sign, digit) => [digit, sign])),
    "+": "⁺",
    "-": "⁻",
    "−": "⁻",
    "=": "⁼",
    "(": "⁽",
    ")": "⁾",
    n: "ⁿ",
    i: "ⁱ",
  }),
);

// 1st, 2e, nº, TM: they read the same in line with the text before.
const sameInLine = new Set(
  "st nd rd th e er ers ère re res ème o os a as r d de le me mes gr tm sm".split(" "),
);
const longest = 20;

/**
 * Raised text as characters in a line: 10 and a raised 6 are 10⁶, not 106. What has no raised
 * characters gets a `^`. Marks of notes in brackets, other signs and whole words stay as they are.
 */
export function raised(text: string): string {
  const inner = text.trim();
  const characters = Array.from(inner, (each) => signs.get(each));
  if (characters.every((each) => each !== undefined)) {
    return text.replace(inner, characters.join(""));
  }
  if (/^\p{L}{4,}$/u.test(inner)) return text;
  const isShort = /^[^\s[\](){}]+$/.test(inner) && inner.length <= longest;
  if (!isShort || !/[\p{L}\p{N}]/u.test(inner) || sameInLine.has(inner.toLowerCase())) return text;
  return text.replace(inner, () => (characters.length === 1 ? `^${inner}` : `^(${inner})`));
}
