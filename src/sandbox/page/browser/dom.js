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

const times = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });

/** A time in the reader's own zone. */
export function timeOf(iso) {
  const ms = Date.parse(iso);
  return element("time", { datetime: iso }, Number.isNaN(ms) ? iso : times.format(ms));
}
