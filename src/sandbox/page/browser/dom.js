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
 * @typedef {Node | string | null | undefined | false} Child
 * @param {string} tag
 * @param {Record<string, string | number | boolean | undefined>} [attributes] false and undefined: left out
 * @param {...Child} children
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...nodesOf(children));
  return made;
}

/** @param {Child[]} children */
function nodesOf(children) {
  return children
    .filter((each) => each !== null && each !== undefined && each !== false && each !== "")
    .map((each) => (typeof each === "string" ? visible(each) : /** @type {Node} */ (each)));
}

/**
 * @template {HTMLElement} [T=HTMLElement]
 * @param {string} id
 * @returns {T}
 */
export function byId(id) {
  return /** @type {T} */ (document.getElementById(id));
}

/**
 * Replaces the children if they differ. Keeps the focus on the control with the same address or label.
 * @param {HTMLElement} parent
 * @param {Element[]} children
 */
export function replaceChildren(parent, children) {
  const isSame =
    parent.childElementCount === children.length &&
    children.every((each, index) => parent.children[index]?.outerHTML === each.outerHTML);
  if (isSame) return;
  const active = document.activeElement;
  const mark = active && parent.contains(active) ? markOf(active) : undefined;
  parent.replaceChildren(...children);
  if (mark === undefined) return;
  const same = [...parent.querySelectorAll("a, button, summary")].find(
    (each) => markOf(each) === mark,
  );
  if (same instanceof HTMLElement) same.focus({ preventScroll: true });
}

/** @param {Element} control */
const markOf = (control) => control.getAttribute("href") ?? control.textContent;

/** Only http and https addresses become links; `file:` and `javascript:` stay text.
 * @param {string} address
 * @param {string} [text]
 */
export function outerLink(address, text = address) {
  if (!/^https?:\/\//i.test(address)) return element("span", {}, text);
  return element("a", { href: address, rel: "noreferrer noopener", target: "_blank" }, text);
}

/** The stored id in a readable form: `docs%2Fleave.md` is `docs/leave.md`.
 * @param {string} id
 */
export function readableId(id) {
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}
