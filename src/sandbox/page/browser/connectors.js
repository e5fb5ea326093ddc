// The connectors and what became of their documents.
import { byId, element, replaceChildren } from "./dom.js";
import { timeOf } from "./times.js";

/** @param {number} count */
const documents = (count) =>
  count === 1 ? "1 document" : `${count.toLocaleString("en")} documents`;

/** @param {any} connector */
function stateOf({ documents: count, waiting }) {
  if (count === 0) return element("span", { class: "tag" }, "empty");
  if (waiting === 0) return element("span", { class: "tag good" }, "indexed");
  return element("span", { class: "tag busy" }, `indexing ${waiting.toLocaleString("en")}`);
}

/** @param {any} connector */
function connectorRow(connector) {
  const { cc_pair_id, name, source, access_type, documents: count, received_at } = connector;
  return element(
    "li",
    {},
    element(
      "div",
      { class: "title" },
      element("span", { class: "id", title: "cc_pair_id" }, String(cc_pair_id)),
      element("strong", { dir: "auto" }, name),
      stateOf(connector),
    ),
    element(
      "p",
      { class: "soft" },
      `${source} · ${access_type} · ${documents(count)}`,
      ...(received_at === null ? [] : [" · last upload ", timeOf(received_at)]),
    ),
  );
}

/** @param {any[]} connectors */
export function showConnectors(connectors) {
  replaceChildren(byId("connectors"), connectors.map(connectorRow));
}
