// The faults, one choice each. A change acts from the next request on.
import { byId, element, plural } from "./dom.js";
import { control } from "./service.js";

/** Name as in --fault, label, what a client sees. */
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
const shares = Object.entries({
  1: "every request",
  0.5: "1 of 2",
  0.1: "1 of 10",
  0.02: "1 of 50",
});
const delays = Object.entries({ 200: "0.2 s", 1000: "1 s", 5000: "5 s" });

const selects = new Map();
let pending = 0;

/** Shows the faults of the sandbox; one that came from --fault adds its choice, or its row. */
function show({ latency_ms: latency, statuses, ...others }, onError) {
  const amounts = Object.entries({ latency, ...statuses, ...others });
  for (const [name, amount] of amounts) {
    if (!selects.has(name)) addRow(name, `Status ${name}`, `status ${name}`, onError);
    const select = selects.get(name);
    if (![...select.options].some(({ value }) => Number(value) === amount)) {
      const label = name === "latency" ? `${amount / 1000} s` : `${amount * 100} %`;
      select.append(element("option", { value: amount }, label));
    }
  }
  for (const [name, select] of selects) {
    select.value = String(amounts.find(([each]) => each === name)?.[1] ?? 0);
  }
  const on = amounts.filter(([, amount]) => amount > 0);
  const text = on.map(([name, amount]) => `${name}=${amount}${name === "latency" ? "ms" : ""}`);
  byId("fault-text").textContent = `--fault ${text.join(",")}`;
  byId("fault-flag").hidden = byId("fault-badge").hidden = on.length === 0;
  byId("fault-badge").textContent = `${plural(on.length, "fault")} on`;
}

async function save(onError) {
  const chosen = Object.fromEntries([...selects].map(([name, { value }]) => [name, Number(value)]));
  const { latency, cut, reset, html, hang, ...statuses } = chosen;
  const body = { latency_ms: latency, statuses, cut, reset, html, hang };
  pending += 1;
  try {
    const faults = await control("faults", "PUT", body);
    if (pending === 1) show(faults, onError);
  } catch (error) {
    onError(error);
  }
  pending -= 1;
}

function addRow(name, label, effect, onError) {
  const id = `fault-${name}`;
  const options = [["0", "off"], ...(name === "latency" ? delays : shares)].map(([value, text]) =>
    element("option", { value }, text),
  );
  const select = element("select", { id, "aria-describedby": `${id}-effect` }, ...options);
  select.addEventListener("change", () => void save(onError));
  const text = element("label", { for: id }, label);
  const note = element("span", { id: `${id}-effect`, class: "soft" }, effect);
  byId("faults").append(element("li", {}, element("div", {}, text, note), select));
  selects.set(name, select);
}

/** Shows the faults of the sandbox, unless a change is on its way. */
export const showFaults = (faults, onError) => pending === 0 && show(faults, onError);

export function startFaults(onError) {
  for (const [name, label, effect] of kinds) addRow(name, label, effect, onError);
  byId("faults-off").addEventListener("click", () => {
    for (const select of selects.values()) select.value = "0";
    byId("faults-heading").focus();
    void save(onError);
  });
}
