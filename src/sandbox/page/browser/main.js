// Starts the page: the key, then the state of the sandbox every two seconds while the page is visible.
import { startAsking } from "./ask.js";
import { followAddress, loadDocuments, showChoices, startDocuments } from "./documents.js";
import { byId, element, plural, replaceChildren, timeOf } from "./dom.js";
import { showFaults, startFaults } from "./faults.js";
import { control, Denied, hasKey, useKey } from "./service.js";

const pollMs = 2_000;
const [status, main, unlock, key] = ["status", "main", "unlock", "key"].map(byId);

let shownChanges = -1;

function showStatus(text) {
  if (status.textContent !== text) status.textContent = text;
  status.className = text === "" ? "" : "problem";
}

function showUnlock(text) {
  useKey("");
  showStatus(text);
  main.hidden = true;
  if (!unlock.hidden) return;
  unlock.hidden = false;
  key.focus();
}

function showError(error) {
  if (error instanceof Denied) return showUnlock(hasKey() ? "The sandbox refused this key." : "");
  showStatus(
    "No connection to the sandbox. Start it again with `knowctl sandbox`; this page reconnects by itself.",
  );
}

function showSummary({ documents: { total, waiting }, dialect, answers }) {
  const indexing = waiting === 0 ? "" : `, ${waiting.toLocaleString("en")} not indexed yet`;
  const summary = `${plural(total, "document")}${indexing} · ${answers} · dialect ${dialect}`;
  byId("summary").textContent = summary;
  byId("document-count").textContent = total.toLocaleString("en");
}

function connectorTag({ documents, waiting }) {
  if (documents === 0) return element("span", { class: "tag" }, "empty");
  if (waiting === 0) return element("span", { class: "tag good" }, "indexed");
  return element("span", { class: "tag busy" }, `indexing ${waiting.toLocaleString("en")}`);
}

function connectorRow(connector) {
  const { cc_pair_id, name, source, access_type, documents, received_at } = connector;
  const id = element("span", { class: "soft", title: "cc_pair_id" }, String(cc_pair_id));
  const title = [id, element("strong", { dir: "auto" }, name), connectorTag(connector)];
  const facts = `${source} · ${access_type} · ${plural(documents, "document")}`;
  const last = received_at === null ? [] : [" · last upload ", timeOf(received_at)];
  return element(
    "li",
    {},
    element("div", { class: "title" }, ...title),
    element("p", { class: "soft" }, facts, ...last),
  );
}

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

async function refresh() {
  const state = await control("state");
  const isFirst = main.hidden;
  main.hidden = false;
  unlock.hidden = true;
  showStatus("");
  showSummary(state);
  replaceChildren(byId("connectors"), state.connectors.map(connectorRow));
  showChoices(state.connectors);
  showFaults(state.faults, showError);
  if (state.changes !== shownChanges) await loadDocuments();
  shownChanges = state.changes;
  showFirstStep(state);
  if (!isFirst) return;
  byId("question").focus();
  followAddress();
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
startDocuments(showError);
startFaults(showError);
if (!hasKey()) showUnlock("");
void poll();
