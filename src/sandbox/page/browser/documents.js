// The list of documents: the newest first, or those that match words.
import { documentAddress, rememberPassage } from "./document.js";
import { byId, element, readableId, replaceChildren } from "./dom.js";
import { control } from "./service.js";
import { timeOf } from "./times.js";

const list = byId("documents");
const found = byId("found");
const more = byId("more");
const words = /** @type {HTMLInputElement} */ (byId("words"));
const pair = /** @type {HTMLSelectElement} */ (byId("pair"));
const pageSize = 10;

let shown = pageSize;
let newestRequest = 0;

/** @param {any} each */
function documentRow({ id, name, pairs, updated_at, received_at, is_indexed, heading, excerpt }) {
  const link = element("a", { href: documentAddress(id), dir: "auto" }, name);
  link.addEventListener("click", () => rememberPassage(id, excerpt ?? ""));
  const connectors = pairs.map((/** @type {any} */ one) => one.name).join(", ");
  return element(
    "li",
    {},
    element(
      "div",
      { class: "title" },
      link,
      is_indexed ? null : element("span", { class: "tag" }, "not indexed yet"),
    ),
    element("code", { dir: "auto" }, readableId(id)),
    excerpt === undefined
      ? null
      : element("p", { class: "excerpt", dir: "auto" }, heading ? `${heading}: ` : "", excerpt),
    element(
      "p",
      { class: "soft" },
      element("span", { dir: "auto" }, connectors),
      " · updated ",
      timeOf(updated_at),
      " · received ",
      timeOf(received_at),
    ),
  );
}

/** @param {number} total @param {boolean} isSearch */
function foundText(total, isSearch) {
  if (isSearch) return total === 1 ? "1 document matches." : `${total} documents match.`;
  return pair.value === "" || total > 0 ? "" : "No document of this connector.";
}

/** Loads the list again; changes the page only where the list differs. */
export async function loadDocuments() {
  const query = words.value.trim();
  const parameters = new URLSearchParams({ limit: String(shown) });
  if (query !== "") parameters.set("q", query);
  if (pair.value !== "") parameters.set("pair", pair.value);
  const request = (newestRequest += 1);
  const { total, documents } = await control(`documents?${parameters}`);
  // A later request has other words.
  if (request !== newestRequest) return;
  replaceChildren(list, documents.map(documentRow));
  found.textContent = foundText(total, query !== "");
  more.hidden = documents.length >= total;
}

/** @param {(error: unknown) => void} onError */
export function startList(onError) {
  const reload = () => {
    shown = pageSize;
    loadDocuments().catch(onError);
  };
  byId("find").addEventListener("submit", (event) => {
    event.preventDefault();
    reload();
  });
  // The cross of a search field, and Escape in it, empty it.
  words.addEventListener("search", () => {
    if (words.value === "") reload();
  });
  pair.addEventListener("change", reload);
  more.addEventListener("click", () => {
    shown += pageSize;
    loadDocuments().catch(onError);
  });
}

/** @param {any[]} connectors */
export function showChoices(connectors) {
  const names = connectors.map(({ cc_pair_id, name }) => [
    String(cc_pair_id),
    `${name} (${cc_pair_id})`,
  ]);
  const key = JSON.stringify(names);
  if (pair.dataset["shown"] === key) return;
  pair.dataset["shown"] = key;
  const { value } = pair;
  const options = [["", "All connectors"], ...names].map(([id = "", label = ""]) =>
    element("option", { value: id }, label),
  );
  pair.replaceChildren(...options);
  pair.value = value;
}
