// Shows an answer while it arrives, with the sources that open a document.
import { documentAddress, rememberPassage } from "./document.js";
import { element, replaceChildren, visible } from "./dom.js";
import { markdown } from "./markdown.js";
import { timeOf } from "./times.js";
import { sourcesOf } from "./turn.js";

let count = 0;

/** The service cuts a blurb inside a word. @param {string | null | undefined} blurb */
const wholeWords = (blurb) => (blurb ?? "").replace(/(?<=^.{180,})\s\S*$/s, "");

/** @param {import("./turn.js").FoundDocument} document */
function sourceLink({ document_id, semantic_identifier, blurb }) {
  const attributes = { href: documentAddress(document_id), dir: "auto" };
  const link = element("a", attributes, semantic_identifier || document_id);
  link.addEventListener("click", () => rememberPassage(document_id, wholeWords(blurb)));
  return link;
}

/** @param {import("./turn.js").FoundDocument} document */
function sourceRow(document) {
  const { updated_at, blurb } = document;
  const excerpt = wholeWords(blurb) + (wholeWords(blurb) === (blurb ?? "") ? "" : "…");
  return [
    sourceLink(document),
    updated_at ? element("span", { class: "soft" }, " · updated ", timeOf(updated_at)) : null,
    excerpt ? element("p", { class: "soft excerpt", dir: "auto" }, excerpt) : null,
  ];
}

/** @param {import("./turn.js").Turn} turn */
function sourceNodes(turn) {
  const { cited, others } = sourcesOf(turn);
  /** @type {Node[]} */
  const nodes = [];
  if (cited.length > 0) {
    const rows = cited.map(({ number, document }) =>
      element("li", { value: number }, ...sourceRow(document)),
    );
    nodes.push(element("h4", {}, "Sources"), element("ol", { class: "sources" }, ...rows));
  }
  if (others.length > 0) {
    const rows = others.map((each) => element("li", {}, ...sourceRow(each)));
    const title = `${others.length} ${cited.length > 0 ? "more found" : "found, none cited"}`;
    const list = element("ul", { class: "sources" }, ...rows);
    nodes.push(element("details", {}, element("summary", {}, title), list));
  }
  return nodes;
}

/** @param {import("./turn.js").Turn} turn */
function answerNodes(turn) {
  const documents = new Map(sourcesOf(turn).cited.map((each) => [each.number, each.document]));
  return markdown(turn.text, (number) => {
    const document = documents.get(number);
    if (!document) return new Text(`[${number}]`);
    const link = sourceLink(document);
    link.setAttribute("aria-label", `Source ${number}: ${link.textContent}`);
    link.className = "cite";
    link.textContent = String(number);
    return link;
  });
}

/**
 * Makes the elements of one question and its answer.
 * @param {string} text
 */
export function createView(text) {
  const id = `turn-${(count += 1)}`;
  const steps = element("p", { class: "soft steps", dir: "auto" });
  const answer = element("div", { class: "answer" });
  const note = element("p", { class: "soft note" });
  const sources = element("div");
  const title = element("h3", { id, dir: "auto" }, text);
  const article = element(
    "article",
    { "aria-labelledby": id },
    title,
    steps,
    answer,
    note,
    sources,
  );
  return {
    article,
    note,
    text: () => answer.textContent ?? "",
    /** @param {import("./turn.js").Turn} turn */
    show(turn) {
      const { queries, reasoning } = turn;
      const words = queries.length > 0 ? `Searched for: ${queries.join(", ")}` : reasoning;
      steps.textContent = visible(words);
      replaceChildren(answer, answerNodes(turn));
    },
    /** @param {import("./turn.js").Turn} turn */
    showSources: (turn) => sources.replaceChildren(...sourceNodes(turn)),
  };
}
