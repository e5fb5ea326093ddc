import { neutralise } from "../terminal/neutralise.ts";
import { placeOf, type Item, type Report, type Tally } from "./report.ts";

// XML 1.0 allows no control characters, surrogates, U+FFFE, U+FFFF: https://www.w3.org/TR/xml/#charsets
function xmlText(text: string): string {
  return neutralise(text)
    .toWellFormed()
    .replace(/[\ufffe\uffff]/g, "\ufffd")
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;");
}

type Values = Readonly<Record<string, string | number | null | undefined>>;

// XML parsers turn a raw newline or tab in an attribute into a space.
function attributes(values: Values): string {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined && value !== null)
    .map(([name, value]) => {
      const text = xmlText(String(value))
        .replaceAll('"', "&quot;")
        .replaceAll("\n", "&#10;")
        .replaceAll("\t", "&#9;");
      return ` ${name}="${text}"`;
    })
    .join("");
}

function testCase(values: Values, inner = ""): string {
  const opening = `    <testcase${attributes(values)}`;
  return inner === "" ? `${opening}/>\n` : `${opening}>${inner}</testcase>\n`;
}

/** The message with its place. */
function saidOf(item: Item): string {
  const { name, word, message } = item;
  const place = name === undefined ? placeOf(item) : "";
  return place === "" ? message : `${place}: ${word}: ${message}`;
}

/** Subject, place, message and evidence of an item, and what its rule advises. */
function textOf(item: Item, advice: string): string {
  const { subject, details = [], tags = [] } = item;
  const evidence = details.flatMap(({ name, lines }) =>
    lines.map(({ text, note }) => `${name}: ${text}${note === undefined ? "" : ` (${note})`}`),
  );
  return [subject ?? "", saidOf(item), ...evidence, ...tags, advice].filter(Boolean).join("\n");
}

function resultOf(item: Item, advice: string): string {
  const { test, message, word } = item;
  if (test === "passed") return "";
  if (test === "skipped") return `<skipped${attributes({ message: saidOf(item) })}/>`;
  const element = test === "error" ? "error" : "failure";
  return `<${element}${attributes({ message, type: word })}>${xmlText(textOf(item, advice))}</${element}>`;
}

function nameOf({ name, path, id }: Item): string {
  if (name !== undefined) return name;
  if (path === null) return id ?? "";
  return id === undefined || id === path ? path : `${path} (${id})`;
}

/**
 * The cases of items. Two of one class and name would be one test for GitLab: further ones are
 * counted. Equal names stand in one file, and the items of a file beside each other.
 */
function* casesOf({ command, items, rules }: Report): Generator<string> {
  const [base = ""] = command.split(" ");
  const advices = new Map(rules.map(({ name, advice }) => [name, advice]));
  const seen = new Map<string, number>();
  let last: string | null = null;
  for (const item of items) {
    if (item.path !== last) seen.clear();
    last = item.path;
    const classname = item.suite === undefined ? base : `${base}.${item.suite}`;
    const name = nameOf(item);
    const count = (seen.get(`${classname}\n${name}`) ?? 0) + 1;
    seen.set(`${classname}\n${name}`, count);
    const values = {
      classname,
      name: count === 1 ? name : `${name} (${count})`,
      file: item.path,
      line: item.line,
      time: (item.seconds ?? 0).toFixed(3),
    };
    yield testCase(values, resultOf(item, advices.get(item.group) ?? ""));
  }
}

function tallyCase(base: string, { name, suite, skipped }: Tally): string {
  const classname = suite === undefined ? base : `${base}.${suite}`;
  const inner = skipped === undefined ? "" : `<skipped${attributes({ message: skipped })}/>`;
  return testCase({ classname, name, time: "0.000" }, inner);
}

function totalsOf({ items, tallies, stopped, seconds = 0 }: Report): Values {
  const counts = { passed: 0, failed: 0, error: 0, skipped: 0 };
  for (const { test } of items) counts[test]++;
  const skipped = counts.skipped + tallies.filter((each) => each.skipped !== undefined).length;
  const errors = counts.error + (stopped === undefined ? 0 : 1);
  const all = counts.passed + counts.failed + counts.skipped + tallies.length + errors;
  return { tests: all, failures: counts.failed, errors, skipped, time: seconds.toFixed(3) };
}

function propertiesOf({ properties }: Report): string {
  const lines = Object.entries(properties)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => `      <property${attributes({ name, value })}/>\n`);
  return lines.length === 0 ? "" : `    <properties>\n${lines.join("")}    </properties>\n`;
}

/**
 * The run as JUnit XML in pieces: a test for each item, and one for all that need no item each: a
 * million passed tests would hide the failed ones. A run that ended early has a test with an error.
 */
export function* junitReport(report: Report): Generator<string> {
  const { command, tallies, stopped, startedAt } = report;
  const [base = ""] = command.split(" ");
  const name = `knowctl ${command}`;
  const totals = attributes({ name, ...totalsOf(report) });
  // Without fractions and zone, as JUnit has it.
  const timestamp = startedAt?.replace(/(?:\.\d+)?Z$/, "");
  yield `<?xml version="1.0" encoding="UTF-8"?>\n<testsuites${totals}>\n`;
  yield `  <testsuite${totals}${attributes({ timestamp })}>\n${propertiesOf(report)}`;
  for (const tally of tallies) yield tallyCase(base, tally);
  if (stopped !== undefined) {
    const error = `<error${attributes({ message: stopped, type: "stopped" })}>${xmlText(stopped)}</error>`;
    yield testCase({ classname: base, name: "the run finished", time: "0.000" }, error);
  }
  yield* casesOf(report);
  yield "  </testsuite>\n</testsuites>\n";
}
