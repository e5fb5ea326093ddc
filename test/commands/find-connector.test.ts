import { describe, expect, it } from "vitest";
import type { PairRecord } from "../../src/api/schemas.ts";
import { findConnector } from "../../src/commands/connectors/find-connector.ts";
import { CliError } from "../../src/errors.ts";
import { startTestService } from "../service.ts";
import { pair, pairs, run } from "./pairs.ts";

describe("connectors find", () => {
  it.each([
    [["Docs"], "243\n"],
    [["docs"], "7\n"],
    [["DOCS", "--source", "confluence"], "7\n"],
    [["docs ARCHIVE"], "11\n"],
    [["42"], "12\n"],
  ])("%j prints only the id", async (args, expected) => {
    const service = await startTestService({ pairs });
    expect(await run(service, ["connectors", "find", ...args], { isTTY: true })).toEqual({
      code: 0,
      out: expected,
      err: "",
    });
  });

  it.each([
    [
      ["DOCS"],
      /2 connectors are named "DOCS"\n {2}243 {2}"Docs" {2}web\n {2}7 {2}"docs" {2}confluence\n.*--source/,
    ],
    [["Doc"], /no connector is named "Doc"\n {2}did you mean:\n {2}243 .*\n {2}7 .*\n {2}11 /],
    [["Docs archiv"], /did you mean:\n {2}11 /],
    [["Dosc archive"], /did you mean:\n {2}11 /],
    [["Docs", "--source", "file"], /with source file\n/],
    [["zzzzzzz"], /connectors list/],
    [[""], /no connector is named ""/],
    [["red"], /"日本語 \^?.*red/],
  ])("%j is exit 9 with candidates", async (args, words) => {
    const service = await startTestService({ pairs });
    const { code, out, err } = await run(service, ["connectors", "find", ...args]);
    expect({ code, out }).toEqual({ code: 9, out: "" });
    expect(err).toMatch(words);
    // eslint-disable-next-line no-control-regex
    expect(err).not.toMatch(/[\u001b\u202e]/);
  });
});

describe("findConnector", () => {
  const act = (records: PairRecord[], name: string, source?: string): number | string => {
    try {
      return findConnector(records, name, source).cc_pair_id;
    } catch (error) {
      return error instanceof CliError ? error.exit : "bug";
    }
  };
  const a = pair({ id: 1, name: "A" });
  const lower = pair({ id: 2, name: "a" });
  const again = pair({ id: 3, name: "A", source: "file" });
  it.each<[string, PairRecord[], string, string | undefined, number | string]>([
    ["one exact", [a], "A", undefined, 1],
    ["exact before ignoring case", [a, lower], "a", undefined, 2],
    ["several exact", [a, again], "A", undefined, "not-found"],
    ["several exact, narrowed", [a, again], "A", "file", 3],
    ["one ignoring case", [a], "a", undefined, 1],
    ["several ignoring case", [a, again], "a", undefined, "not-found"],
    ["none", [], "A", undefined, "not-found"],
    ["part of a name", [pair({ id: 1, name: "AB" })], "A", undefined, "not-found"],
    ["null is no name", [pair({ id: 1, name: null })], "", undefined, "not-found"],
    ["composed and decomposed", [pair({ id: 1, name: "Caf\u00e9" })], "Cafe\u0301", undefined, 1],
    ["space at the end", [pair({ id: 1, name: "A " })], "A", undefined, "not-found"],
  ])("%s", (_name, records, name, source, expected) => {
    expect(act(records, name, source)).toBe(expected);
  });

  it("lists at most ten candidates", () => {
    const many = Array.from({ length: 30 }, (_, id) => pair({ id, name: "same" }));
    try {
      findConnector(many, "same");
      expect.unreachable();
    } catch (error) {
      expect((error as CliError).details).toHaveLength(11);
      expect((error as CliError).details.at(-1)).toBe("and 20 more");
    }
  });
});
