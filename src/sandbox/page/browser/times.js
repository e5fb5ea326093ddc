import { element } from "./dom.js";

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const units = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" });
const longestDays = 30;

/**
 * `3 min. ago`; a date after 30 days, and for a time in the future.
 * @param {number} ms
 * @param {number} now
 */
export function ago(ms, now) {
  const seconds = Math.round((now - ms) / 1000);
  if (seconds > longestDays * 86_400 || seconds < -60) return date.format(ms);
  if (seconds < 5) return "just now";
  const [unit, size] = units.find(([, each]) => seconds >= each) ?? ["second", 1];
  return relative.format(-Math.floor(seconds / size), unit);
}

/**
 * @param {string} iso
 * @param {boolean} [isExact] date and time in full
 */
export function timeOf(iso, isExact = false) {
  const ms = Date.parse(iso);
  if (Number.isNaN(ms)) return element("span", {}, iso);
  const full = exact.format(ms);
  if (isExact) return element("time", { datetime: iso }, full);
  return element("time", { datetime: iso, title: full, class: "ago" }, ago(ms, Date.now()));
}

/** Brings every "3 min. ago" up to date. */
export function refreshTimes() {
  for (const each of document.querySelectorAll("time.ago")) {
    const text = ago(Date.parse(each.getAttribute("datetime") ?? ""), Date.now());
    if (each.textContent !== text) each.textContent = text;
  }
}
