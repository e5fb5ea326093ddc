// Starts the page: the key, then the state of the sandbox every two seconds while the page is visible.
import { startAsking } from "./ask.js";
import { showConnectors } from "./connectors.js";
import { followAddress, startDocuments } from "./document.js";
import { loadDocuments, showChoices, startList } from "./documents.js";
import { byId, element } from "./dom.js";
import { showFaults, startFaults } from "./faults.js";
import { control, Denied, forgetKey, hasKey, useKey } from "./service.js";
import { refreshTimes } from "./times.js";

const pollMs = 2_000;
const status = byId("status");
const main = byId("main");
const unlock = byId("unlock");
const key = /** @type {HTMLInputElement} */ (byId("key"));

let shownChanges = -1;

/** @param {string} text */
function showStatus(text) {
  if (status.textContent !== text) status.textContent = text;
  status.className = text === "" ? "" : "problem";
}

/** @param {any} state */
function showSummary({ documents: { total, waiting }, dialect, answers }) {
  const count = total === 1 ? "1 document" : `${total.toLocaleString("en")} documents`;
  const indexing = waiting === 0 ? "" : `, ${waiting.toLocaleString("en")} not indexed yet`;
  byId("summary").textContent = `${count}${indexing} · ${answers} · dialect ${dialect}`;
  byId("document-count").textContent = total.toLocaleString("en");
}

/** @param {any} state */
function showFirstStep({ documents, connectors, dialect }) {
  const list = byId("documents");
  if (documents.total > 0) return list.querySelector(".first")?.remove();
  const first = connectors[0]?.cc_pair_id ?? 1;
  const flags = dialect === "standard" ? "" : ` --dialect ${dialect}`;
  const command = `knowctl ingest FOLDER --cc-pair-id ${first} --base-url ${location.origin}${flags}`;
  const text =
    "No documents yet. Upload a folder in a terminal, with the sandbox's key in KNOWCTL_API_KEY:";
  list.replaceChildren(
    element("li", { class: "first" }, element("p", {}, text), element("code", {}, command)),
  );
}

/** @param {unknown} error */
function showError(error) {
  if (error instanceof Denied) return showUnlock(hasKey() ? "The sandbox refused this key." : "");
  showStatus(
    "No connection to the sandbox. Start it again with `knowctl sandbox`; this page reconnects by itself.",
  );
}

/** @param {string} text */
function showUnlock(text) {
  forgetKey();
  showStatus(text);
  main.hidden = true;
  if (unlock.hidden) {
    unlock.hidden = false;
    key.focus();
  }
}

async function refresh() {
  const state = await control("state");
  const isFirst = main.hidden;
  main.hidden = false;
  unlock.hidden = true;
  showStatus("");
  showSummary(state);
  showConnectors(state.connectors);
  showChoices(state.connectors);
  showFaults(state.faults, showError);
  if (state.changes !== shownChanges) await loadDocuments();
  shownChanges = state.changes;
  refreshTimes();
  showFirstStep(state);
  if (isFirst) {
    byId("question").focus();
    followAddress();
  }
}

async function poll() {
  if (!document.hidden && hasKey()) await refresh().catch(showError);
  setTimeout(() => void poll(), pollMs);
}

unlock.addEventListener("submit", (event) => {
  event.preventDefault();
  useKey(key.value);
  key.value = "";
  refresh().catch(showError);
});
document.addEventListener("visibilitychange", () => {
  if (!document.hidden && hasKey()) refresh().catch(showError);
});
startAsking();
startDocuments();
startList(showError);
startFaults(showError);
if (!hasKey()) showUnlock("");
void poll();
