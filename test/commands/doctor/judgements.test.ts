import { describe, expect, it } from "vitest";
import { judgeArrivals, type Arrival } from "../../../src/commands/doctor/checks/streaming.ts";
import {
  judgeDialect,
  presenceOf,
  lackingIn,
} from "../../../src/commands/doctor/checks/dialect.ts";
import { judgeAnswer } from "../../../src/commands/doctor/checks/page.ts";
import { wrapWords } from "../../../src/output/terminal/width.ts";
import { rawHeaders } from "../../api/support.ts";

const every = (count: number, gap: number, from: number, messages = 1): Arrival[] =>
  Array.from({ length: count }, (_, index) => ({ ms: from + index * gap, messages }));

describe("arrivals:", () => {
  it.each<[name: string, arrivals: Arrival[], verdict: string]>([
    ["a word at a time", every(40, 50, 800), "streamed"],
    ["words close together, over a while", every(60, 10, 300), "streamed"],
    ["all at once after a long wait", [{ ms: 4000, messages: 60 }], "buffered"],
    ["in pieces, but at once after a long wait", every(6, 1, 4000, 10), "buffered"],
    [
      "the greeting at once, the rest in one heap",
      [
        { ms: 50, messages: 2 },
        { ms: 5000, messages: 60 },
      ],
      "buffered",
    ],
    [
      "two heaps after a long wait",
      [
        { ms: 3000, messages: 20 },
        { ms: 5000, messages: 40 },
      ],
      "buffered",
    ],
    ["all at once and at once", [{ ms: 90, messages: 60 }], "unknown"],
    ["hardly anything", every(3, 500, 100), "unknown"],
    ["nothing", [], "unknown"],
  ])("%s", (_name, arrivals, verdict) => {
    expect(judgeArrivals(arrivals).verdict).toBe(verdict);
  });

  it("are told with their numbers", () => {
    expect(judgeArrivals(every(40, 50, 800)).words).toBe(
      "40 messages in 40 chunks (40 apart by more than 30 ms), the first after 800 ms, over 1.9 s, gaps 50 ms (median) to 50 ms",
    );
  });
});

describe("who answers:", () => {
  it("JSON of somebody else is told as that, not by its status alone", () => {
    const headers = rawHeaders({ "content-type": "application/json" });
    const answer = { status: 200, headers, body: Buffer.from('{"up":true}') };
    expect(judgeAnswer(answer, "http://host/api/x")).toMatchObject({
      who: "elsewhere",
      words: "200, JSON that is not a response of the service",
    });
  });
});

describe("the dialect:", () => {
  it.each([
    [undefined, "there", "absent", "standard"],
    ["v4.6.1", "absent", "there", "onyx"],
    [undefined, "absent", "there", "onyx"],
    ["v4.6.1", "there", "absent", "mixed"],
    ["v4.6.1", "unknown", "unknown", "onyx"],
    ["v4.6.1", "there", "there", "onyx"],
    [undefined, "there", "there", "standard"],
    [undefined, "absent", "absent", undefined],
    [undefined, "unknown", "absent", undefined],
  ] as const)("version %s, svc-api %s, onyx-api %s: %s", (version, standard, onyx, dialect) => {
    const found = version === undefined ? undefined : { text: version };
    expect(judgeDialect(found, { standard, onyx }).dialect).toBe(dialect);
  });

  it.each([
    ["refused", "refused", "refused", undefined],
    ["refused", "refused", "absent", undefined],
    ["refused", "unknown", "refused", undefined],
    ["refused", "there", "refused", undefined],
    ["refused", "there", "absent", "standard"],
    ["refused", "absent", "there", "onyx"],
    [undefined, "refused", "refused", "standard"],
    [undefined, "refused", "absent", "standard"],
    [undefined, "refused", "unknown", undefined],
  ] as const)("refused: %s, svc-api %s, onyx-api %s: %s", (version, standard, onyx, dialect) => {
    expect(judgeDialect(version, { standard, onyx }).dialect).toBe(dialect);
  });

  it.each([
    [422, "application/json", "there"],
    [403, "application/json", "refused"],
    [401, "text/html", "refused"],
    [404, "application/json", "absent"],
    [405, "application/json", "absent"],
    [403, "text/html", "refused"],
    [200, "text/html", "unknown"],
    [500, "application/json", "unknown"],
  ])("%s in %s", (status, type, presence) => {
    const answer = { status, headers: rawHeaders({ "content-type": type }), body: Buffer.alloc(0) };
    expect(presenceOf({ answer })).toBe(presence);
  });
});

describe("versions:", () => {
  it.each([
    ["v4.6.1", 0],
    ["4.5.0", 0],
    ["4.4.9", 1],
    ["v4.2.0-cloud.3", 3],
    ["v2.0.0", 10],
    ["Development", undefined],
    ["", undefined],
  ])("%s lacks %s", (version, count) => {
    expect(lackingIn(version)?.length).toBe(count);
  });

  it("chat needs 2.8", () => {
    const lacksChat = (version: string): boolean =>
      lackingIn(version)?.some((each) => each.startsWith("chat does not work")) === true;
    expect(["v2.7.9", "v2.8.0", "v10.0", "Development"].map(lacksChat)).toEqual([
      true,
      false,
      false,
      false,
    ]);
  });
});

it.each([
  ["one two three", 8, ["one two", "three"]],
  ["https://a.example.com/very/long b", 8, ["https://a.example.com/very/long", "b"]],
  ["日本 日本 日本", 9, ["日本 日本", "日本"]],
  ["", 8, [""]],
])("%s in %s columns", (text, width, lines) => {
  expect(wrapWords(text, width)).toEqual(lines);
});
