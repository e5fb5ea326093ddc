// One document in a dialog. Its address is `#document=ID`, so that it can be opened in a tab.
import { byId, element, outerLink, readableId, visible } from "./dom.js";
import { control } from "./service.js";
import { timeOf } from "./times.js";

const dialog = /** @type {HTMLDialogElement} */ (byId("document"));
const title = byId("document-title");
const facts = byId("document-facts");
const texts = byId("document-text");
const prefix = "#document=";
/** Characters shown at first. A browser needs seconds for megabytes. */
const firstLength = 100_000;

/** @type {{ id: string, words: string } | undefined} */
let passage;

/** @param {string} id */
export function documentAddress(id) {
  return prefix + encodeURIComponent(id);
}

/**
 * Marks this passage when the document opens next.
 * @param {string} id
 * @param {string} words the beginning of the passage, with its white space collapsed
 */
export function rememberPassage(id, words) {
  passage = { id, words };
}

/**
 * Where the passage stands: from its first word to the end of its paragraph.
 * @param {string} text
 * @param {string} words
 * @returns {[number, number] | undefined}
 */
function placeOf(text, words) {
  const parts = words.split(/\s+/).filter(Boolean);
  if (parts.length === 0) return undefined;
  const pattern = parts.map((each) => each.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+");
  const match = new RegExp(pattern).exec(text);
  if (!match) return undefined;
  const end = text.slice(match.index + match[0].length).search(/\n\s*\n/);
  return [match.index, end < 0 ? text.length : match.index + match[0].length + end];
}

/**
 * The text of a section, with the passage marked.
 * @param {string} text
 * @param {string} words
 */
function textNode(text, words) {
  const box = element("div", { class: "text", dir: "auto" });
  const place = placeOf(text, words);
  if (place) {
    const [from, to] = place;
    const mark = element("mark", {}, text.slice(from, to));
    box.append(visible(text.slice(0, from)), mark, visible(text.slice(to)));
    return box;
  }
  box.append(visible(text.slice(0, firstLength)));
  if (text.length <= firstLength) return box;
  const rest = text.length - firstLength;
  const label = `Show ${rest.toLocaleString("en")} more characters`;
  const more = element("button", { type: "button", class: "plain" }, label);
  more.addEventListener("click", () => more.replaceWith(visible(text.slice(firstLength))));
  box.append(more);
  return box;
}

/**
 * @param {string} name
 * @param {...(Node | string | null)} values
 */
function fact(name, ...values) {
  return [element("dt", {}, name), element("dd", { dir: "auto" }, ...values)];
}

/** @param {any} found */
function factNodes({
  id,
  pairs,
  source,
  link,
  updated_at,
  received_at,
  is_indexed,
  metadata,
  owners,
}) {
  return [
    ...fact("Id", element("code", {}, readableId(id))),
    ...fact(
      "Connector",
      pairs.map((/** @type {any} */ each) => `${each.name} (${each.cc_pair_id})`).join(", "),
    ),
    ...fact("Source", source),
    ...(link ? fact("Link", outerLink(link)) : []),
    ...fact("Updated", timeOf(updated_at, true)),
    ...fact("Received", timeOf(received_at, true), is_indexed ? null : " · not indexed yet"),
    ...(owners.length > 0 ? fact("Owners", owners.join(", ")) : []),
    ...Object.entries(metadata).flatMap(([name, value]) => fact(name, [value].flat().join(", "))),
  ];
}

/** @param {any} found */
function showFound(found) {
  title.textContent = visible(found.name);
  facts.replaceChildren(...factNodes(found));
  const words = passage?.id === found.id ? (passage?.words ?? "") : "";
  const nodes = found.sections.flatMap((/** @type {any} */ { text, link, image_file_id }) => [
    link && link !== found.link ? element("p", { class: "soft" }, outerLink(link)) : null,
    image_file_id ? element("p", { class: "soft" }, `Image ${image_file_id}`) : null,
    text ? textNode(text, words) : null,
  ]);
  texts.replaceChildren(...nodes.filter(Boolean));
  texts.querySelector("mark")?.scrollIntoView({ block: "center" });
}

/** @param {string} id */
async function open(id) {
  title.textContent = visible(readableId(id));
  facts.replaceChildren();
  texts.replaceChildren(element("p", { class: "soft" }, "Loading…"));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  title.focus({ preventScroll: true });
  try {
    const found = await control(`document?id=${encodeURIComponent(id)}`);
    if (addressedId() === id) showFound(found);
  } catch (error) {
    const reason = error instanceof Error ? error.message : "";
    texts.replaceChildren(
      element("p", { class: "problem" }, `The document cannot be shown. ${reason}`),
    );
  }
}

function addressedId() {
  if (!location.hash.startsWith(prefix)) return undefined;
  try {
    return decodeURIComponent(location.hash.slice(prefix.length));
  } catch {
    return undefined;
  }
}

/** Opens the document of the address, or closes the dialog. */
export function followAddress() {
  const id = addressedId();
  if (id === undefined) dialog.close();
  else void open(id);
}

/** Connects the dialog with the address. */
export function startDocuments() {
  addEventListener("hashchange", followAddress);
  byId("close").addEventListener("click", () => dialog.close());
  // A click beside the dialog closes it.
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    if (addressedId() !== undefined) history.replaceState(null, "", location.pathname);
    passage = undefined;
  });
}
