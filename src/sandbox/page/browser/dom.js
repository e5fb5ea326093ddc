// Makes elements from text. Nothing on this page is ever parsed as HTML.

/**
 * Shows what cannot be seen: control characters as pictures (␛), characters that reorder text as
 * their code. Drops direction marks, which occur in honest texts.
 * @param {string} text
 */
export function visible(text) {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(/[\u0000-\u0008\u000b-\u001f]/g, (each) =>
      String.fromCodePoint(0x2400 + each.charCodeAt(0)),
    )
    .replace(/\u007f/g, "\u2421")
    .replace(
      /[\u0080-\u009f\u202a-\u202e\u2066-\u2069]/g,
      (each) => `[U+${each.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}]`,
    )
    .replace(/[\u061c\u200e\u200f]/g, "");
}

/**
 * An element with these attributes (`false` and `undefined` are left out) and children (the same).
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes]
 * @param {...(Node | string | null | undefined | false)} children
 * @returns {any}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined && value !== false) {
      made.setAttribute(name, value === true ? "" : String(value));
    }
  }
  for (const child of children) {
    if (typeof child === "string") made.append(visible(child));
    else if (child) made.append(child);
  }
  return made;
}

/** @returns {any} */
export const byId = (id) => document.getElementById(id);

/** What a control is recognised by after it was made again: its address or its label. */
const markOf = (control) => control.getAttribute("href") ?? control.textContent;

/** Replaces the children if they differ; the focus stays on the same control. */
export function replaceChildren(parent, children) {
  const same =
    parent.childElementCount === children.length &&
    children.every((each, index) => parent.children[index].outerHTML === each.outerHTML);
  if (same) return;
  const active = parent.contains(document.activeElement) ? document.activeElement : undefined;
  parent.replaceChildren(...children);
  if (!active) return;
  const controls = [...parent.querySelectorAll("a, button, summary")];
  controls.find((each) => markOf(each) === markOf(active))?.focus({ preventScroll: true });
}

/** Only http and https addresses become links; `file:` and `javascript:` stay text. */
export function outerLink(address, text = address) {
  if (!/^https?:\/\//i.test(address)) return element("span", {}, text);
  return element("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, text);
}

/** The stored id in a readable form: `docs%2Fleave.md` is `docs/leave.md`. */
export function readableId(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

export const plural = (count, noun) =>
  `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto", style: "short" });
const date = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "long", timeStyle: "long" });

/** `3 min. ago`; a date after 30 days, and for a time in the future. */
export function ago(ms, now) {
  const seconds = Math.round((now - ms) / 1000);
  if (seconds > 30 * 86_400 || seconds < -60) return date.format(ms);
  if (seconds < 5) return "just now";
  if (seconds < 60) return relative.format(-seconds, "second");
  if (seconds < 3_600) return relative.format(-Math.floor(seconds / 60), "minute");
  if (seconds < 86_400) return relative.format(-Math.floor(seconds / 3_600), "hour");
  return relative.format(-Math.floor(seconds / 86_400), "day");
}

/** How long ago a time is, or date and time in full if `isExact`. */
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
