import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import { CliError } from "../../../src/errors.ts";
import {
  checkNames,
  matchesGlob,
  parseFields,
  parseFilter,
  passes,
  pick,
  readMember,
  type Column,
} from "../../../src/output/formats/select.ts";

interface Row {
  id: number;
  name: string | null;
  inner: { source: string; config: Record<string, unknown> };
  groups: number[];
}

const row: Row = {
  id: 7,
  name: "Docs a=b",
  inner: { source: "web", config: { "a b": 1 } },
  groups: [3, 12],
};

const columns: Column<Row>[] = [
  { name: "id", value: (each) => each.id },
  { name: "source", value: (each) => each.inner.source },
];

describe("matchesGlob", () => {
  it.each([
    ["Docs", "docs", true],
    ["Docs", "doc", false],
    ["Docs", "d*s", true],
    ["Docs", "*", true],
    ["", "*", true],
    ["", "", true],
    ["Docs", "", false],
    ["Docs", "????", true],
    ["Docs", "???", false],
    ["a/b", "a*b", true],
    ["a/b", "a?b", true],
    ["abcab", "*ab", true],
    ["aXbXc", "a*x*c", true],
    ["[x]", "[x]", true],
    ["x", "[x]", false],
    ["😀!", "?!", true],
    ["line\nbreak", "line*", true],
  ])("%j by %j: %s", (text, pattern, matches) => {
    expect(matchesGlob(text, pattern)).toBe(matches);
  });

  it("agrees with a regular expression", () => {
    const unit = fc.constantFrom("a", "b", "*", "?");
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom("a", "b") }),
        fc.string({ unit }),
        (text, pattern) => {
          const expression = pattern.replaceAll("*", ".*").replaceAll("?", ".");
          expect(matchesGlob(text, pattern)).toBe(new RegExp(`^${expression}$`).test(text));
        },
      ),
    );
  });

  it("takes no exponential time", () => {
    expectLinear(5000, (count) => {
      expect(matchesGlob("a".repeat(count), `${"a*".repeat(50)}b`)).toBe(false);
    });
  });
});

describe("--fields", () => {
  it("splits and trims", () => {
    expect(parseFields("a, b.c ,d")).toEqual(["a", "b.c", "d"]);
  });

  it.each(["", "a,,b", ",", "a.", ".a", "a..b", "a,b,a"])("refuses %j", (list) => {
    expect(() => parseFields(list)).toThrow(CliError);
  });
});

describe("--filter", () => {
  it.each([
    ["id=7", true],
    ["id=8", false],
    [" id =7", true],
    ["source=web", true],
    ["inner.source=web", true],
    ["source=WEB", false],
    ["source~W?B", true],
    ["name=Docs a=b", true],
    ["name~docs*", true],
    ["name=", false],
    ["groups=12", true],
    ["groups=1", false],
    ["groups~1*", true],
    ["inner.config.a b=1", true],
    ['inner.config={"a b":1}', true],
  ])("%j: %s", (expression, expected) => {
    expect(passes(row, [parseFilter(expression)], columns)).toBe(expected);
  });

  it.each<[string, boolean]>([
    ["id!=7", false],
    ["id!=8", true],
    ["source!~w*", false],
    ["source!~slack*", true],
    ["name!=", true],
    ["name!=Docs a=b", false],
    ["source != wiki", true],
    // Of a list no element may be so.
    ["groups!=3", false],
    ["groups!=4", true],
    ["groups!~1?", false],
  ])("%s is %s", (expression, expected) => {
    expect(passes(row, [parseFilter(expression)], columns)).toBe(expected);
  });

  it("takes null and an empty list for empty text", () => {
    const empty = { ...row, name: null, groups: [] };
    expect(passes(empty, [parseFilter("name="), parseFilter("groups=")], columns)).toBe(true);
  });

  it("wants all conditions", () => {
    const filters = ["id=7", "source=wiki"].map(parseFilter);
    expect(passes(row, filters, columns)).toBe(false);
  });

  it.each(["", "id", "=7", "~x", "a..b=1"])("refuses %j", (expression) => {
    expect(() => parseFilter(expression)).toThrow(/--filter/);
  });
});

describe("members", () => {
  it.each<[string, boolean, unknown]>([
    ["id", true, 7],
    ["inner.source", true, "web"],
    ["groups.1", true, 12],
    ["groups.2", false, undefined],
    ["groups.length", false, undefined],
    ["name.length", false, undefined],
    ["constructor", false, undefined],
    ["__proto__", false, undefined],
    ["inner.toString", false, undefined],
    ["zzz.y", false, undefined],
  ])("%s", (path, exists, value) => {
    expect(readMember(row, path.split("."))).toEqual({ exists, value });
  });

  it("are picked in order and in place", () => {
    const picked = pick(row, ["source", "inner.config", "inner.source", "id"], columns);
    expect(JSON.stringify(picked)).toBe(
      '{"source":"web","inner":{"config":{"a b":1},"source":"web"},"id":7}',
    );
  });

  it("are picked without changing the record", () => {
    const before = structuredClone(row);
    pick(row, ["inner", "inner.source", "inner.config.new"], columns);
    expect(row).toEqual(before);
  });

  it("named __proto__ change no prototype", () => {
    const hostile = JSON.parse('{"__proto__":{"polluted":1},"a":1}') as object;
    const picked = pick(hostile, ["__proto__.polluted", "__proto__", "a"], []);
    expect(JSON.stringify(picked)).toBe('{"__proto__":{"polluted":1},"a":1}');
    expect(({} as Record<string, unknown>)["polluted"]).toBeUndefined();
  });

  it("missing in a row are null", () => {
    expect(JSON.stringify(pick({ a: 1 }, ["a", "b.c"], []))).toBe('{"a":1,"b":{"c":null}}');
  });
});

describe("checkNames", () => {
  it("knows columns and members of any row", () => {
    expect(() =>
      checkNames(["id", "source", "inner.source", "b"], columns, [row, { ...row, b: 1 }]),
    ).not.toThrow();
    expect(() => checkNames(["whatever"], columns, [])).not.toThrow();
  });

  it("names the known ones", () => {
    const act = (): void => checkNames(["sorce"], columns, [row]);
    expect(act).toThrow("unknown field sorce");
    try {
      act();
    } catch (error) {
      expect((error as CliError).exit).toBe("usage");
      expect((error as CliError).hints[0]).toBe("known fields: id, source, name, inner, groups");
    }
  });
});
