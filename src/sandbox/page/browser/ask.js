// Asks a question and reads the stream of its answer.
import { createView } from "./answer.js";
import { byId, element } from "./dom.js";
import { send } from "./service.js";
import { addLine, failureOf, linesOf, newTurn, sourcesOf } from "./turn.js";

const question = /** @type {HTMLTextAreaElement} */ (byId("question"));
const turns = byId("turns");
const stopButton = byId("stop");
const restartButton = byId("restart");

/** @type {string | undefined} */
let session;
/** @type {AbortController | undefined} */
let running;

/**
 * Reads the answer into `turn`. Returns the reason for which it is incomplete.
 * @param {import("./turn.js").Turn} turn
 * @param {string} text
 * @param {AbortSignal} signal
 * @param {() => void} onChange
 * @returns {Promise<string | undefined>}
 */
async function receive(turn, text, signal, onChange) {
  let begun = false;
  try {
    const body = { message: text, ...(session === undefined ? {} : { chat_session_id: session }) };
    const response = await send("/api/chat/send-chat-message", { method: "POST", body, signal });
    begun = true;
    const type = response.headers.get("content-type") ?? "";
    if (!response.ok || !response.body || !/event-stream|ndjson/.test(type)) {
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

/** Shows the seconds while nothing arrives. @param {HTMLElement} note */
function countSeconds(note) {
  let seconds = 0;
  note.textContent = "Waiting for the response…";
  const timer = setInterval(() => {
    note.textContent = `Waiting for the response… ${(seconds += 1)} s`;
  }, 1000);
  return () => {
    clearInterval(timer);
    note.textContent = "";
  };
}

/**
 * @param {ReturnType<typeof createView>} view
 * @param {string} text
 * @param {string} problem
 */
function showProblem({ article }, text, problem) {
  const again = element("button", { type: "button", class: "plain" }, "Ask again");
  again.addEventListener("click", () => void ask(text));
  article.append(element("p", { class: "problem", dir: "auto" }, problem, " ", again));
}

/** @param {boolean} isBusy */
function showBusy(isBusy) {
  stopButton.hidden = !isBusy;
  restartButton.hidden = isBusy || turns.childElementCount === 0;
  byId("send").setAttribute("aria-disabled", String(isBusy));
}

/** @param {string} text */
function announce(text) {
  byId("announcement").textContent = text.slice(0, 3000);
}

/** @param {string} text */
async function ask(text) {
  if (running) return;
  running = new AbortController();
  const view = createView(text);
  turns.prepend(view.article);
  const turn = newTurn();
  showBusy(true);
  announce("Waiting for the answer.");
  const stopCounting = countSeconds(view.note);
  let frame = 0;
  try {
    const problem = await receive(turn, text, running.signal, () => {
      stopCounting();
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        view.show(turn);
      });
    });
    cancelAnimationFrame(frame);
    view.show(turn);
    view.showSources(turn);
    session = turn.session ?? session;
    if (problem !== undefined) showProblem(view, text, problem);
    const { length } = sourcesOf(turn).cited;
    const sources = length === 1 ? "1 source." : `${length} sources.`;
    announce(
      problem === undefined ? `Answer: ${view.text()} ${sources}` : `${view.text()} ${problem}`,
    );
  } finally {
    stopCounting();
    running = undefined;
    showBusy(false);
  }
}

function submit() {
  const text = question.value.trim();
  if (running || text === "") return question.focus();
  question.value = "";
  void ask(text);
}

function restart() {
  session = undefined;
  turns.replaceChildren();
  showBusy(false);
  announce("New conversation.");
  question.focus();
}

/** Connects the form. Enter asks, Escape stops the answer. */
export function startAsking() {
  byId("ask").addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  question.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    submit();
  });
  document.addEventListener("keydown", (event) => {
    const isInDialog = document.querySelector("dialog[open]") !== null;
    if (event.key === "Escape" && !isInDialog) running?.abort();
  });
  stopButton.addEventListener("click", () => {
    running?.abort();
    question.focus();
  });
  restartButton.addEventListener("click", restart);
}
