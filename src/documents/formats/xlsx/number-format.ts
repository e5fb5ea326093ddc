import { monthNames, weekdayNames } from "../../front-matter/values.ts";
import { sectionsOf, type Section, type Token } from "./format-code.ts";

/**
 * How Excel shows numbers (ECMA-376 part 1, 18.8.31), in the subset of the language that real files
 * use: sections, digits, thousands, percent, scale, exponents, fractions, dates, elapsed time, texts.
 * Names of months and days are English. Dates in a form of the reader's computer are shown as
 * `2031-05-01`.
 */

/** Formats that files name only by their numbers (18.8.30). */
const builtIn: Readonly<Record<number, string>> = {
  1: "0",
  2: "0.00",
  3: "#,##0",
  4: "#,##0.00",
  9: "0%",
  10: "0.00%",
  11: "0.00E+00",
  12: "# ?/?",
  13: "# ??/??",
  14: "yyyy-mm-dd",
  15: "d-mmm-yy",
  16: "d-mmm",
  17: "mmm-yy",
  18: "h:mm AM/PM",
  19: "h:mm:ss AM/PM",
  20: "h:mm",
  21: "h:mm:ss",
  22: "yyyy-mm-dd h:mm",
  37: "#,##0;(#,##0)",
  38: "#,##0;(#,##0)",
  39: "#,##0.00;(#,##0.00)",
  40: "#,##0.00;(#,##0.00)",
  41: '#,##0;-#,##0;"-"',
  42: '$#,##0;-$#,##0;"-"',
  43: '#,##0.00;-#,##0.00;"-"',
  44: '$#,##0.00;-$#,##0.00;"-"',
  45: "mm:ss",
  46: "[h]:mm:ss",
  47: "mm:ss.0",
  48: "##0.0E+0",
  49: "@",
};

/** The code of a format without one: dates of East Asia, else as typed. */
export const builtInFormat = (id: number): string =>
  builtIn[id] ?? ((id >= 27 && id <= 36) || (id >= 50 && id <= 58) ? "yyyy-mm-dd" : "General");

const mostDecimals = 30;

/** A number without sign with so many decimals, rounded as its decimal form is. */
function fixed(value: number, decimals: number): string {
  const exact = Number(value.toPrecision(15));
  const scaled = Math.round(Number(`${exact}e${decimals}`));
  const rounded = Number(`${scaled}e-${decimals}`);
  return (Number.isNaN(rounded) || scaled >= 1e15 ? exact : rounded).toFixed(decimals);
}

/** A number in the format General: at most eleven characters of a fraction. */
function generalText(value: number): string {
  const size = Math.abs(value);
  if (value === 0 || !Number.isFinite(value)) return String(value || 0);
  if (Number.isInteger(value) && size < 1e15) return String(value);
  if (size >= 1e11 || size < 1e-4) {
    const [digits = "", exponent = ""] = Number(value.toPrecision(6)).toExponential().split("e");
    const power = Number(exponent);
    return `${digits}E${power < 0 ? "-" : "+"}${String(Math.abs(power)).padStart(2, "0")}`;
  }
  return String(size >= 1 ? Number(value.toPrecision(10)) : Number(value.toFixed(9)));
}

/** The digits of a whole number at the digits of a format; extra ones stand at the first. */
function placeDigits(tokens: readonly Token[], whole: string, isGrouped: boolean): string {
  const places = tokens.filter(({ kind }) => kind === "digit").length;
  let digits = whole === "0" ? "" : whole;
  let place = 0;
  let count = 0;
  const parts: string[] = [];
  const add = (digit: string): void => {
    if (isGrouped && count > 0 && count % 3 === 0) parts.push(",");
    parts.push(digit);
    count++;
  };
  for (const { kind, text } of tokens.toReversed()) {
    if (kind === "literal") parts.push([...text].toReversed().join(""));
    if (kind !== "digit") continue;
    place++;
    const taken = place === places ? digits.length : Math.min(1, digits.length);
    const own = digits.slice(digits.length - taken);
    digits = digits.slice(0, digits.length - taken);
    if (own !== "") for (const digit of [...own].toReversed()) add(digit);
    else if (text === "0") add("0");
  }
  return [...parts.join("")].toReversed().join("");
}

/** The power of ten after a number, and what follows it. */
function powerText(power: number, rest: readonly Token[]): string {
  const sign = power < 0 ? "-" : "+";
  const literals = rest.map(({ kind, text }) => (kind === "literal" ? text : ""));
  return `E${sign}${String(Math.abs(power)).padStart(2, "0")}${literals.join("")}`;
}

function numberText(value: number, tokens: readonly Token[]): string {
  const exponentAt = tokens.findIndex(({ kind }) => kind === "exponent");
  const mantissa = exponentAt === -1 ? tokens : tokens.slice(0, exponentAt);
  const lastDigit = mantissa.findLastIndex(({ kind }) => kind === "digit");
  const firstDigit = mantissa.findIndex(({ kind }) => kind === "digit");
  if (firstDigit === -1)
    return mantissa.map(({ kind, text }) => (kind === "percent" ? "%" : text)).join("");
  const pointAt = mantissa.findIndex(({ kind }) => kind === "point");
  const wholeEnd = pointAt === -1 ? lastDigit + 1 : pointAt;
  const wholeTokens = mantissa.slice(0, wholeEnd);
  const lastWhole = wholeTokens.findLastIndex(({ kind }) => kind === "digit");
  const commas = mantissa.flatMap(({ kind }, at) => (kind === "comma" ? [at] : []));
  const isGrouped = commas.some((at) => at > firstDigit && at < lastWhole);
  const scale = commas.filter((at) => at > lastWhole && at > firstDigit).length;
  const percents = tokens.filter(({ kind }) => kind === "percent").length;
  const afterPoint = pointAt === -1 ? [] : mantissa.slice(pointAt + 1, lastDigit + 1);
  const decimalTokens = afterPoint.filter(({ kind }) => kind === "digit").slice(0, mostDecimals);
  let number = Number(`${value}e${2 * percents - 3 * scale}`);
  if (Number.isNaN(number)) number = value * 10 ** (2 * percents - 3 * scale);
  let power = 0;
  if (exponentAt !== -1 && number !== 0) {
    power = Math.floor(Math.log10(number));
    number = Number(`${number}e${-power}`) || number / 10 ** power;
  }
  const [whole = "0", decimals = ""] = fixed(number, decimalTokens.length).split(".");
  const needed = decimalTokens.findLastIndex(({ text }) => text === "0") + 1;
  const kept = decimals.slice(0, Math.max(needed, decimals.replace(/0+$/, "").length));
  const rest = mantissa
    .slice(Math.max(lastDigit, pointAt) + 1)
    .map(({ kind, text }) => (kind === "literal" ? text : kind === "percent" ? "%" : ""))
    .join("");
  const exponent = exponentAt === -1 ? "" : powerText(power, tokens.slice(exponentAt + 1));
  const shownWhole = placeDigits(wholeTokens, whole, isGrouped);
  const shownPoint = pointAt !== -1 && (kept !== "" || needed > 0) ? `.${kept}` : "";
  const leading = wholeTokens.some(({ kind }) => kind === "percent") && rest === "" ? "%" : "";
  return `${leading}${shownWhole}${shownPoint}${rest}${exponent}`;
}

/**
 * The last convergent of a continued fraction with at most this denominator, as Excel takes it: of
 * 4/11 in one digit 1/3, though 3/8 is nearer.
 */
function fractionOf(value: number, most: number): [over: number, under: number] {
  let [before, last] = [
    [0, 1],
    [1, 0],
  ] as [[number, number], [number, number]];
  for (let rest = value; ;) {
    const whole = Math.floor(rest);
    const next: [number, number] = [whole * last[0] + before[0], whole * last[1] + before[1]];
    if (next[1] > most) return last;
    [before, last] = [last, next];
    if (rest - whole < 1e-9) return last;
    rest = 1 / (rest - whole);
  }
}

/** The place of the slash of a fraction: between digits, or before a denominator that is given. */
const slashIn = (tokens: readonly Token[]): number =>
  tokens.findIndex(
    ({ kind, text }, at) =>
      kind === "literal" &&
      text === "/" &&
      tokens[at - 1]?.kind === "digit" &&
      /^[1-9#?0]$/.test(tokens[at + 1]?.text ?? ""),
  );

/** `# ?/?` and `# ??/16`, without the blanks that align them. */
function fractionText(value: number, tokens: readonly Token[], slash: number): string {
  const over = tokens.slice(0, slash).findLastIndex(({ kind }) => kind !== "digit") + 1;
  const rest = tokens.slice(slash + 1);
  const end = rest.findIndex(({ text }) => !/^[\d#?]$/.test(text));
  const under = rest.slice(0, end === -1 ? undefined : end);
  const before = tokens.slice(0, over);
  const isMixed = before.some(({ kind }) => kind === "digit");
  let whole = isMixed ? Math.floor(value) : 0;
  const written = under.map(({ text }) => text).join("");
  const given = /^[1-9]/.test(written) ? Number(written) : undefined;
  let parts: [number, number] =
    given === undefined
      ? fractionOf(value - whole, 10 ** Math.min(written.length, 7) - 1)
      : [Math.round((value - whole) * given), given];
  if (isMixed && parts[0] === parts[1]) {
    whole++;
    parts = [0, 1];
  }
  const isWhole = isMixed && parts[0] === 0;
  const digits =
    isWhole && whole === 0
      ? "0"
      : placeDigits(
          before,
          String(whole),
          before.some(({ kind }) => kind === "comma"),
        );
  const after = rest.slice(under.length).map(({ kind, text }) => (kind === "literal" ? text : ""));
  return [isMixed ? digits : "", isWhole ? "" : parts.join("/"), after.join("")].join("");
}

const dayMs = 24 * 60 * 60 * 1000;
const lastSerial = 2_958_466;

/** The day and the time of a serial number, rounded to a unit; undefined for one without. */
function dateOf(serial: number, is1904: boolean, unitMs: number): Date | undefined {
  if (serial < 0 || serial >= lastSerial) return undefined;
  const ms = Math.round((serial * dayMs) / unitMs) * unitMs;
  // Excel has a day 60 that never was: February 29, 1900.
  const days = is1904 ? 1462 : serial < 60 ? 1 : 0;
  return new Date(Date.UTC(1899, 11, 30) + days * dayMs + ms);
}

const two = (number: number): string => String(number).padStart(2, "0");

/** What a part of a date shows, by its letters. */
function datePart(date: Date, letters: string, isMinute: boolean, is12: boolean): string {
  const month = date.getUTCMonth();
  const hour = is12 ? ((date.getUTCHours() + 11) % 12) + 1 : date.getUTCHours();
  const number = (value: number): string => (letters.length > 1 ? two(value) : String(value));
  switch (letters[0]) {
    case "y":
    case "e":
      return letters.length < 3 ? two(date.getUTCFullYear() % 100) : String(date.getUTCFullYear());
    case "m":
      if (isMinute) return number(date.getUTCMinutes());
      if (letters.length === 5) return (monthNames[month] ?? "").slice(0, 1);
      if (letters.length > 2)
        return (monthNames[month] ?? "").slice(0, letters.length === 3 ? 3 : undefined);
      return number(month + 1);
    case "d": {
      const name = weekdayNames[date.getUTCDay()] ?? "";
      return letters.length > 3
        ? name
        : letters.length === 3
          ? name.slice(0, 3)
          : number(date.getUTCDate());
    }
    case "h":
      return number(hour);
    default:
      return number(date.getUTCSeconds());
  }
}

const unitsPerDay: Readonly<Record<string, number>> = { h: 24, m: 24 * 60, s: 24 * 60 * 60 };

/** Whether the `m` at a place is minutes: after hours or seconds, or before seconds. */
function isMinuteAt(letters: readonly string[], at: number): boolean {
  const before = letters[at - 1]?.replace("[", "") ?? "";
  return /^[hs]/.test(before) || letters[at + 1]?.startsWith("s") === true;
}

function halfOfDay(hours: number, text: string): string {
  const half = hours < 12 ? "AM" : "PM";
  if (text.length > 3) return half;
  return text.startsWith("a") ? half.slice(0, 1).toLowerCase() : half.slice(0, 1);
}

function dateText(serial: number, { tokens }: Section, is1904: boolean): string {
  const letters = tokens.flatMap(({ kind, text }) => (kind === "date" ? [text.toLowerCase()] : []));
  const isElapsed = letters.some((text) => text.startsWith("["));
  const size = isElapsed ? Math.abs(serial) : serial;
  // The digits after a point are parts of seconds.
  const point = tokens.findIndex(({ kind }) => kind === "point");
  const rest = point === -1 ? [] : tokens.slice(point + 1);
  const end = rest.findIndex(({ kind }) => kind !== "digit");
  const decimals = Math.min(3, end === -1 ? rest.length : end);
  const date = dateOf(size, is1904, 1000 / 10 ** decimals);
  if (!date) return generalText(serial);
  const is12 = letters.some((text) => text.includes("/"));
  const parts = String(date.getUTCMilliseconds()).padStart(3, "0");
  let at = -1;
  const shown = tokens.map(({ kind, text }, index) => {
    if (kind === "literal" || kind === "comma") return text;
    if (kind === "point") return ".";
    if (kind === "digit") return parts[index - point - 1] ?? "0";
    if (kind !== "date") return "";
    at++;
    const own = letters[at] ?? "";
    if (own.includes("/")) return halfOfDay(date.getUTCHours(), text);
    const perDay = own.startsWith("[") ? unitsPerDay[own[1] ?? ""] : undefined;
    if (perDay === undefined) return datePart(date, own, isMinuteAt(letters, at), is12);
    const elapsed = Math.floor(Number((size * perDay).toFixed(6)));
    return own.length > 3 ? two(elapsed) : String(elapsed);
  });
  return `${serial < size ? "-" : ""}${shown.join("")}`;
}

const tidy = (text: string): string => text.replace(/\s+/g, " ").trim();

/** The section for a number, and whether it writes the sign itself. */
function sectionFor(
  sections: readonly Section[],
  value: number,
): { section: Section; isSigned: boolean } | undefined {
  const numbers = sections.slice(0, 3);
  if (numbers.some(({ condition }) => condition)) {
    const section = numbers.find(({ condition }) => !condition || condition(value));
    return section && { section, isSigned: false };
  }
  const [first, second, third] = numbers;
  if (value < 0 && second) return { section: second, isSigned: true };
  if (value === 0 && third) return { section: third, isSigned: false };
  return first && { section: first, isSigned: false };
}

/** A number as a cell with a format shows it. `is1904`: days count from 1904. */
export function formatNumber(value: number, code: string, is1904: boolean): string {
  if (/^general$/i.test(code) || code === "") return generalText(value);
  const chosen = sectionFor(sectionsOf(code), value);
  if (!chosen) return generalText(value);
  const { section, isSigned } = chosen;
  const { tokens } = section;
  if (section.isDate) return tidy(dateText(value, section, is1904));
  const size = Math.abs(value);
  const isGeneral = tokens.some(({ kind }) => kind === "general" || kind === "text");
  const slash = slashIn(tokens);
  if (slash !== -1 && size >= 1e15) return generalText(value);
  const text = isGeneral
    ? tokens
        .map(({ kind, text: own }) =>
          kind === "literal" ? own : kind === "general" || kind === "text" ? generalText(size) : "",
        )
        .join("")
    : slash === -1
      ? numberText(size, tokens)
      : fractionText(size, tokens, slash);
  // What is rounded to zero has no sign.
  const isNegative = value < 0 && !isSigned && /[1-9]/.test(text);
  return tidy(`${isNegative ? "-" : ""}${text}`);
}

/** A text as a cell with a format shows it: `"No. "@`. */
export function formatText(text: string, code: string): string {
  if (!/[@;]/.test(code)) return text;
  const sections = sectionsOf(code);
  const section =
    sections[3] ?? sections.find(({ tokens }) => tokens.some(({ kind }) => kind === "text"));
  if (!section) return text;
  return section.tokens
    .map(({ kind, text: own }) => (kind === "text" ? text : kind === "literal" ? own : ""))
    .join("");
}
