import { describe, expect, it } from "vitest";
import { createDocumentMatch } from "../../../src/checks/eval/documents.ts";
import { checkExpectation, type WordInput } from "../../../src/checks/eval/words.ts";
import { retrieved } from "./document.ts";

const matches = createDocumentMatch({ idsOfPath: (path) => [path], storedIds: (id) => [id] });
const place = { file: "s.yaml", line: 1, column: 1 };
const doc = (id: string) => retrieved({ id });

function input(part: Partial<WordInput>): WordInput {
  return { answer: "", cited: [], retrieved: [], elapsedMs: 0, matches, ...part };
}

/** True or false, or the text of the error. */
function outcome(word: string, value: unknown, part: Partial<WordInput>): boolean | string {
  const isNot = word.startsWith("not-");
  const expectation = { word: isNot ? word.slice(4) : word, isNot, value, place };
  const result = checkExpectation(expectation, input(part));
  return "error" in result ? result.error : result.check.passed;
}

function detail(word: string, value: unknown, part: Partial<WordInput>): string | undefined {
  const isNot = word.startsWith("not-");
  const expectation = { word: isNot ? word.slice(4) : word, isNot, value, place };
  const result = checkExpectation(expectation, input(part));
  return "error" in result ? undefined : result.check.detail;
}

describe("words about the text", () => {
  const part = { answer: "You have 28 days of Leave at the café.", elapsedMs: 120 };
  it.each([
    ["contains", "28 days", true],
    ["contains", "leave", false],
    ["contains", "cafe\u0301", true],
    ["not-contains", "leave", true],
    ["icontains", "leave", true],
    ["not-icontains", "LEAVE", false],
    ["contains-any", ["30 days", "28 days"], true],
    ["contains-any", ["30 days"], false],
    ["not-contains-any", ["30 days", "28 days"], false],
    ["not-contains-any", ["30 days", "29 days"], true],
    ["contains-all", ["28", "Leave"], true],
    ["contains-all", ["28", "leave"], false],
    ["not-contains-all", ["28", "leave"], true],
    ["regex", String.raw`\b\d{2} days`, true],
    ["regex", "^days", false],
    ["not-regex", "^days", true],
    ["latency", 120, true],
    ["latency", 119, false],
    ["not-latency", 119, true],
  ])("%s %j: %s", (word, value, expected) => {
    expect(outcome(word, value, part)).toBe(expected);
  });

  it("shows what is missing", () => {
    expect(detail("contains-all", ["28", "x", "z"], part)).toBe('missing "x", "z"');
    expect(detail("not-contains-any", ["28"], part)).toBe('found "28"');
  });

  it("ends an expression that would backtrack for ever: no verdict, also for its negation", () => {
    const slow = { answer: `${"a".repeat(60)}!` };
    expect(outcome("regex", "(a+)+$", slow)).toMatch(/takes too long/);
    expect(outcome("not-regex", "(a+)+$", slow)).toMatch(/takes too long/);
  });
});

it("is-json: an answer that is no JSON passes its negation", () => {
  for (const [answer, expected] of [
    ["{}", true],
    ["28 days", false],
  ] as const) {
    expect(outcome("is-json", true, { answer })).toBe(expected);
    expect(outcome("not-is-json", true, { answer })).toBe(!expected);
  }
});

describe("words about documents", () => {
  const part = { cited: [doc("a"), { ...doc("a"), rank: 2 }], retrieved: [doc("a"), doc("b")] };
  it.each([
    ["cites", [{ id: "a" }], true],
    ["cites", [{ id: "a" }, { path: "b" }], false],
    ["not-cites", [{ id: "b" }], true],
    ["not-cites", [{ id: "b" }, { id: "a" }], false],
    ["retrieves", [{ path: "a" }, { path: "b" }], true],
    ["retrieves", [{ id: "c" }], false],
    ["not-retrieves", [{ id: "c" }, { id: "b" }], false],
    ["not-retrieves", [{ id: "c" }, { id: "d" }], true],
    ["min-sources", 1, true],
    ["min-sources", 2, false],
    ["not-min-sources", 2, true],
  ])("%s %j: %s", (word, value, expected) => {
    expect(outcome(word, value, part)).toBe(expected);
  });

  it("names the documents", () => {
    expect(detail("cites", [{ id: "a" }, { path: "b" }], part)).toBe("not cited: b");
    expect(detail("not-retrieves", [{ id: "b" }], part)).toBe("retrieved: id b");
  });
});

describe("answered and declined", () => {
  const cited = [doc("a")];
  it.each([
    ["You have 28 days.", cited, "answered"],
    ["I couldn’t find anything about that.", [], "declined"],
    ["Das kann ich nicht beantworten.", [], "declined"],
    ["Je n’ai pas trouvé cette information.", [], "declined"],
    ["No encontré nada sobre eso.", [], "declined"],
    ["Não encontrei nada.", [], "declined"],
  ])("%s is decided", (answer, documents, state) => {
    const part = { answer, cited: documents };
    expect(outcome("answered", true, part)).toBe(state === "answered");
    expect(outcome("declined", true, part)).toBe(state === "declined");
    expect(outcome("not-answered", true, part)).toBe(state === "declined");
    expect(outcome("not-declined", true, part)).toBe(state === "answered");
  });

  it.each([
    ["You have 28 days.", []],
    ["I could not find the new number; the old one is 28.", cited],
    ["", []],
    ["Wie ich konnte keinem entgehen.", []],
  ])("%s cannot be decided: an error for each of the words", (answer, documents) => {
    for (const word of ["answered", "declined", "not-answered", "not-declined"]) {
      expect(outcome(word, true, { answer, cited: documents }), word).toMatch(/cannot tell/);
    }
  });
});
