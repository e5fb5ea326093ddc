// The switches of the faults. A change acts from the next request on.
import { byId, element } from "./dom.js";
import { control } from "./service.js";

/** @type {[string, string, string][]} name as in --fault, label, what a client sees */
const kinds = [
  ["latency", "Slow responses", "each response waits"],
  ["429", "Too many requests", "status 429, Retry-After: 1"],
  ["500", "Server error", "status 500"],
  ["503", "Unavailable", "status 503, Retry-After: 1"],
  ["cut", "Cut connection", "the response ends early"],
  ["reset", "Reset connection", "no response at all"],
  ["html", "Web page", "HTML with status 200, as of a proxy"],
  ["hang", "No answer", "the request waits until you stop it"],
];
const rates = new Map([
  [1, "every request"],
  [0.5, "1 of 2 requests"],
  [0.1, "1 of 10 requests"],
  [0.02, "1 of 50 requests"],
]);
const delays = new Map([
  [200, "0.2 s"],
  [1000, "1 s"],
  [5000, "5 s"],
]);
const named = ["cut", "reset", "html", "hang"];

/** @typedef {{ toggle: HTMLInputElement, amount: HTMLSelectElement }} Controls */
/** @type {Map<string, Controls>} */
const rows = new Map();
let pending = 0;

/** The amount of each fault by its name: milliseconds of `latency`, else a share of the requests.
 * @param {any} faults
 * @returns {Map<string, number>}
 */
function amountsOf({ latency_ms, statuses, ...others }) {
  /** @type {[string, any][]} */
  const entries = [["latency", latency_ms], ...Object.entries(statuses)];
  for (const name of named) entries.push([name, others[name]]);
  return new Map(entries.filter(([, amount]) => amount > 0));
}

/** @param {string} name @param {number} amount */
const labelOf = (name, amount) =>
  name === "latency" ? `${amount / 1000} s` : `${Math.round(amount * 1000) / 10} % of requests`;

/** Adds a choice for an amount that came from --fault. @param {string} name @param {HTMLSelectElement} select @param {number} amount */
function choose(name, select, amount) {
  if (![...select.options].some(({ value }) => Number(value) === amount)) {
    select.append(element("option", { value: amount }, labelOf(name, amount)));
  }
  select.value = String(amount);
}

function chosen() {
  /** @type {any} */
  const faults = { statuses: {} };
  for (const [name, { toggle, amount }] of rows) {
    if (!toggle.checked) continue;
    const value = Number(amount.value);
    if (name === "latency") faults.latency_ms = value;
    else if (named.includes(name)) faults[name] = value;
    else faults.statuses[name] = value;
  }
  return faults;
}

/** @param {(error: unknown) => void} onError */
async function save(onError) {
  pending += 1;
  try {
    const faults = await control("faults", { method: "PUT", body: chosen() });
    if (pending === 1) show(faults);
  } catch (error) {
    onError(error);
  } finally {
    pending -= 1;
  }
}

/** @param {string} name @param {string} label @param {string} effect @param {() => void} onChange */
function addRow(name, label, effect, onChange) {
  const id = `fault-${name}`;
  const attributes = { type: "checkbox", role: "switch", id, "aria-describedby": `${id}-effect` };
  const toggle = /** @type {HTMLInputElement} */ (element("input", attributes));
  const options = [...(name === "latency" ? delays : rates)].map(([value, text]) =>
    element("option", { value }, text),
  );
  const amount = /** @type {HTMLSelectElement} */ (
    element(
      "select",
      { "aria-label": `${label}: how ${name === "latency" ? "long" : "often"}` },
      ...options,
    )
  );
  toggle.addEventListener("change", onChange);
  amount.addEventListener("change", () => toggle.checked && onChange());
  const text = element("label", { for: id }, label);
  const note = element("span", { id: `${id}-effect`, class: "soft" }, effect);
  byId("faults").append(element("li", {}, toggle, element("div", {}, text, note), amount));
  rows.set(name, { toggle, amount });
}

/** @param {any} faults */
function show(faults) {
  const amounts = amountsOf(faults);
  for (const [name, { toggle, amount }] of rows) {
    const value = amounts.get(name);
    toggle.checked = value !== undefined;
    if (value !== undefined) choose(name, amount, value);
  }
  const parts = [...amounts].map(
    ([name, amount]) => `${name}=${amount}${name === "latency" ? "ms" : ""}`,
  );
  byId("fault-text").textContent = `--fault ${parts.join(",")}`;
  byId("fault-flag").hidden = parts.length === 0;
  const badge = byId("fault-badge");
  badge.hidden = parts.length === 0;
  badge.textContent = parts.length === 1 ? "1 fault on" : `${parts.length} faults on`;
}

/** Shows the faults of the sandbox, unless a change is on its way. @param {any} faults @param {(error: unknown) => void} onError */
export function showFaults(faults, onError) {
  for (const name of amountsOf(faults).keys()) {
    if (!rows.has(name)) addRow(name, `Status ${name}`, `status ${name}`, () => void save(onError));
  }
  if (pending === 0) show(faults);
}

/** @param {(error: unknown) => void} onError */
export function startFaults(onError) {
  for (const kind of kinds) addRow(...kind, () => void save(onError));
  byId("faults-off").addEventListener("click", () => {
    for (const { toggle } of rows.values()) toggle.checked = false;
    byId("faults-heading").focus();
    void save(onError);
  });
}
