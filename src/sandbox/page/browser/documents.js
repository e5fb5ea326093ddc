// The list of documents, and one document in a dialog. Its address is `#document=ID`, so that it can
// be opened in a tab.
import { byId, element, outerLink, readableId, replaceChildren, timeOf, visible } from "./dom.js";
import { control } from "./service.js";

const [found, more, words, pair] = ["found", "more", "words", "pair"].map(byId);
const [dialog, title, texts] = ["document", "document-title", "document-text"].map(byId);
const pageSize = 10;
const prefix = "#document=";
/** Characters shown at first. A browser needs seconds for megabytes. */
const firstLength = 100_000;

let shown = pageSize;
let newestRequest = 0;
/** What is marked when the document opens next: the beginning of a passage. */
let passage = { id: "", words: "" };

/** A link that opens a document and marks a passage of it. */
export function documentLink(id, name, passageWords = "") {
  const link = element("a", { href: prefix + encodeURIComponent(id), dir: "auto" }, name);
  link.addEventListener("click", () => (passage = { id, words: passageWords }));
  return link;
}

const waitingTag = (isIndexed) =>
  !isIndexed && element("span", { class: "tag" }, "not indexed yet");

function documentRow({ id, name, pairs, updated_at, received_at, is_indexed, heading, excerpt }) {
  const connectors = pairs.map((each) => each.name).join(", ");
  const title = [documentLink(id, name, excerpt), waitingTag(is_indexed)];
  const times = [" · updated ", timeOf(updated_at), " · received ", timeOf(received_at)];
  return element(
    "li",
    {},
    element("div", { class: "title" }, ...title),
    element("code", { dir: "auto" }, readableId(id)),
    excerpt && element("p", { class: "excerpt", dir: "auto" }, heading && `${heading}: `, excerpt),
    element("p", { class: "soft" }, element("span", { dir: "auto" }, connectors), ...times),
  );
}

/** Loads the list again; changes the page only where the list differs. */
export async function loadDocuments() {
  const query = words.value.trim();
  const parameters = new URLSearchParams({ limit: String(shown), q: query });
  if (pair.value !== "") parameters.set("pair", pair.value);
  const request = (newestRequest += 1);
  const { total, documents } = await control(`documents?${parameters}`);
  // A later request has other words.
  if (request !== newestRequest) return;
  replaceChildren(byId("documents"), documents.map(documentRow));
  found.textContent = "";
  if (query !== "")
    found.textContent = total === 1 ? "1 document matches." : `${total} documents match.`;
  else if (total === 0 && pair.value !== "") found.textContent = "No document of this connector.";
  more.hidden = documents.length >= total;
}

/** The choice of a connector. */
export function showChoices(connectors) {
  const choices = connectors.map(({ cc_pair_id, name }) =>
    element("option", { value: cc_pair_id }, `${name} (${cc_pair_id})`),
  );
  const { value } = pair;
  replaceChildren(pair, [element("option", { value: "" }, "All connectors"), ...choices]);
  pair.value = value;
}

/** Where a passage stands: from its first word to the end of its paragraph. */
function placeOf(text, start) {
  const parts = start.split(/\s+/).filter(Boolean);
  const pattern = parts.map((each) => each.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&")).join("\\s+");
  const match = parts.length > 0 && new RegExp(pattern).exec(text);
  if (!match) return undefined;
  const end = match.index + match[0].length;
  const rest = text.slice(end).search(/\n\s*\n/);
  return [match.index, rest < 0 ? text.length : end + rest];
}

/** The text of a section with the passage marked, or its beginning. */
function textNode(text, start) {
  const place = placeOf(text, start);
  if (place) {
    const mark = element("mark", {}, text.slice(...place));
    const around = [text.slice(0, place[0]), mark, text.slice(place[1])];
    return element("div", { class: "text", dir: "auto" }, ...around);
  }
  const rest = text.slice(firstLength);
  const label = `Show ${rest.length.toLocaleString("en")} more characters`;
  const button = rest && element("button", { type: "button", class: "plain" }, label);
  if (button) button.addEventListener("click", () => button.replaceWith(visible(rest)));
  return element("div", { class: "text", dir: "auto" }, text.slice(0, firstLength), button);
}

function showFound(document) {
  const { id, pairs, source, link, owners, metadata, sections, is_indexed } = document;
  title.textContent = visible(document.name);
  const connectors = pairs.map((each) => `${each.name} (${each.cc_pair_id})`).join(", ");
  const facts = [
    ["Id", element("code", {}, readableId(id))],
    ["Connector", connectors],
    ["Source", source],
    link && ["Link", outerLink(link)],
    ["Updated", timeOf(document.updated_at)],
    ["Received", timeOf(document.received_at), " ", waitingTag(is_indexed)],
    owners.length > 0 && ["Owners", owners.join(", ")],
    ...Object.entries(metadata).map(([name, value]) => [name, [value].flat().join(", ")]),
  ];
  const nodes = facts
    .filter(Boolean)
    .flatMap(([name, ...values]) => [
      element("dt", {}, name),
      element("dd", { dir: "auto" }, ...values),
    ]);
  byId("document-facts").replaceChildren(...nodes);
  const start = passage.id === id ? passage.words : "";
  const parts = sections.flatMap((each) => [
    each.link && each.link !== link && element("p", { class: "soft" }, outerLink(each.link)),
    each.image_file_id && element("p", { class: "soft" }, `Image ${each.image_file_id}`),
    each.text && textNode(each.text, start),
  ]);
  texts.replaceChildren(...parts.filter(Boolean));
  texts.querySelector("mark")?.scrollIntoView({ block: "center" });
}

function addressedId() {
  return location.hash.startsWith(prefix)
    ? readableId(location.hash.slice(prefix.length))
    : undefined;
}

async function open(id) {
  title.textContent = visible(readableId(id));
  byId("document-facts").replaceChildren();
  texts.replaceChildren(element("p", { class: "soft" }, "Loading…"));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  title.focus({ preventScroll: true });
  try {
    const document = await control(`document?id=${encodeURIComponent(id)}`);
    if (addressedId() === id) showFound(document);
  } catch (error) {
    const text = `The document cannot be shown. ${error instanceof Error ? error.message : ""}`;
    texts.replaceChildren(element("p", { class: "problem" }, text));
  }
}

/** Opens the document of the address, or closes the dialog. */
export function followAddress() {
  const id = addressedId();
  if (id === undefined) dialog.close();
  else void open(id);
}

/** Connects the list and the dialog. @param {(error: unknown) => void} onError */
export function startDocuments(onError) {
  const reload = (length) => {
    shown = length;
    loadDocuments().catch(onError);
  };
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    reload(pageSize);
  });
  // The cross of a search field, and Escape in it, empty it.
  words.addEventListener("search", () => words.value === "" && reload(pageSize));
  pair.addEventListener("change", () => reload(pageSize));
  more.addEventListener("click", () => reload(shown + pageSize));
  addEventListener("hashchange", followAddress);
  byId("close").addEventListener("click", () => dialog.close());
  // A click beside the dialog closes it.
  dialog.addEventListener("click", (event) => event.target === dialog && dialog.close());
  dialog.addEventListener("close", () => {
    if (addressedId() !== undefined) history.replaceState(null, "", location.pathname);
    passage = { id: "", words: "" };
  });
}
