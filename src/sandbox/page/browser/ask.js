// Asks a question, shows its answer while it arrives, and its sources.
import { documentLink } from "./documents.js";
import { byId, element, plural, replaceChildren, timeOf, visible } from "./dom.js";
import { markdown } from "./markdown.js";
import { send } from "./service.js";
import { addLine, failureOf, linesOf, newTurn, sourcesOf } from "./turn.js";

const question = byId("question");
const turns = byId("turns");

/** @type {string | undefined} */
let session;
/** @type {AbortController | undefined} */
let running;
let count = 0;

/** Reads the answer into `turn`. Returns the reason for which it is incomplete. */
async function receive(turn, message, signal, onChange) {
  let begun = false;
  try {
    const body = { message, chat_session_id: session };
    const response = await send("/api/chat/send-chat-message", "POST", body, signal);
    begun = true;
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || !/event-stream|ndjson/.test(type)) {
      const retryAfter = response.headers.get("retry-after");
      return failureOf(response.status, retryAfter, type, await response.text());
    }
    for await (const line of linesOf(response.body)) {
      addLine(turn, line);
      onChange();
    }
  } catch {
    if (signal.aborted) return "You stopped this answer.";
    return begun
      ? "The connection was cut before the answer was complete."
      : "The connection ended without a response.";
  }
  if (turn.failure !== undefined) return turn.failure;
  if (!turn.isComplete) return "The stream ended before the answer was complete.";
  return turn.damaged > 0 ? `${turn.damaged} lines of the stream were damaged.` : undefined;
}

const sourceLink = ({ document_id, semantic_identifier, blurb }) =>
  documentLink(document_id, semantic_identifier || document_id, blurb);

function sourceRow(document, attributes = {}) {
  const { updated_at, blurb } = document;
  const time = updated_at && element("span", { class: "soft" }, " · updated ", timeOf(updated_at));
  const excerpt =
    blurb &&
    element("p", { class: "soft excerpt", dir: "auto" }, blurb.replace(/(?<=^.{199,})$/s, "…"));
  return element("li", attributes, sourceLink(document), time, excerpt);
}

function sourceNodes({ cited, others }) {
  const nodes = [];
  if (cited.length > 0) {
    const rows = cited.map(({ number, document }) => sourceRow(document, { value: number }));
    nodes.push(element("h4", {}, "Sources"), element("ol", { class: "sources" }, ...rows));
  }
  if (others.length > 0) {
    const title = `${others.length} ${cited.length > 0 ? "more found" : "found, none cited"}`;
    const list = element("ul", { class: "sources" }, ...others.map((each) => sourceRow(each)));
    nodes.push(element("details", {}, element("summary", {}, title), list));
  }
  return nodes;
}

function answerNodes(turn) {
  const documents = new Map(sourcesOf(turn).cited.map((each) => [each.number, each.document]));
  return markdown(turn.text, (number) => {
    if (!documents.has(number)) return `[${number}]`;
    const link = sourceLink(documents.get(number));
    link.setAttribute("aria-label", `Source ${number}: ${link.textContent}`);
    link.className = "cite";
    link.textContent = String(number);
    return link;
  });
}

const announce = (text) => (byId("announcement").textContent = text.slice(0, 3000));

function showBusy(isBusy) {
  byId("stop").hidden = !isBusy;
  byId("restart").hidden = isBusy || turns.childElementCount === 0;
  byId("send").setAttribute("aria-disabled", String(isBusy));
}

/** The elements of a question, above those of earlier ones. */
function createView(text) {
  const id = `turn-${(count += 1)}`;
  const steps = element("p", { class: "soft note", dir: "auto" }, "Waiting for the response…");
  const answer = element("div", { class: "answer" });
  const title = element("h3", { id, dir: "auto" }, text);
  const article = element("article", { "aria-labelledby": id }, title, steps, answer);
  turns.prepend(article);
  const show = (turn) => {
    const { queries, reasoning } = turn;
    steps.textContent = visible(
      queries.length > 0 ? `Searched for: ${queries.join(", ")}` : reasoning,
    );
    replaceChildren(answer, answerNodes(turn));
  };
  return { article, answer, show };
}

async function ask(text) {
  if (running) return;
  running = new AbortController();
  const { article, answer, show } = createView(text);
  const turn = newTurn();
  showBusy(true);
  announce("Waiting for the answer.");
  let frame = 0;
  const problem = await receive(turn, text, running.signal, () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      show(turn);
    });
  });
  cancelAnimationFrame(frame);
  show(turn);
  session = turn.session ?? session;
  const sources = sourcesOf(turn);
  article.append(...sourceNodes(sources));
  if (problem === undefined) {
    announce(`Answer: ${answer.textContent} ${plural(sources.cited.length, "source")}.`);
  } else {
    const again = element("button", { type: "button", class: "plain" }, "Ask again");
    again.addEventListener("click", () => void ask(text));
    article.append(element("p", { class: "problem", dir: "auto" }, problem, " ", again));
    announce(`${answer.textContent} ${problem}`);
  }
  running = undefined;
  showBusy(false);
}

function submit(event) {
  event.preventDefault();
  const text = question.value.trim();
  if (running || text === "") return question.focus();
  question.value = "";
  void ask(text);
}

/** Connects the form. Enter asks, Escape stops the answer. */
export function startAsking() {
  byId("ask").addEventListener("submit", submit);
  question.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing) submit(event);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && !document.querySelector("dialog[open]")) running?.abort();
  });
  byId("stop").addEventListener("click", () => {
    running?.abort();
    question.focus();
  });
  byId("restart").addEventListener("click", () => {
    session = undefined;
    turns.replaceChildren();
    showBusy(false);
    announce("New conversation.");
    question.focus();
  });
}
