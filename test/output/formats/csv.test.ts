import { describe, expect, it } from "vitest";
import { csvLine, tsvLine } from "../../../src/output/formats/writers.ts";
import { cellText } from "../../../src/output/formats/select.ts";

describe("cells", () => {
  it.each<[unknown, string]>([
    [null, ""],
    [undefined, ""],
    [0, "0"],
    [false, "false"],
    [[1, "a", null], "1,a,"],
    [[], ""],
    [{ a: 1 }, '{"a":1}'],
    [[{ a: 1 }], '[{"a":1}]'],
  ])("%j is %j", (value, text) => {
    expect(cellText(value)).toBe(text);
  });

  it.each<[unknown[], string]>([
    [["a", "b"], "a,b\n"],
    [["a,b"], '"a,b"\n'],
    [['"'], '""""\n'],
    [["a\r\nb"], '"a\r\nb"\n'],
    [[" a"], '" a"\n'],
    [[""], '""\n'],
    [[null, null], ",\n"],
    [["=1+1", "+A1", "-A1", "@SUM(A1)"], "'=1+1,'+A1,'-A1,'@SUM(A1)\n"],
    [["\t=1", "\r=1", '=HYPERLINK("x,y")'], `'\t=1,"'\r=1","'=HYPERLINK(""x,y"")"\n`],
    [[-5, "-5", "+49.5", "-1,5", "—", "a=b"], '-5,-5,+49.5,"-1,5",—,a=b\n'],
    [["-1\n=2"], '"\'-1\n=2"\n'],
  ])("csv line of %j", (values, line) => {
    expect(csvLine(values)).toBe(line);
  });

  it("a tsv line has as many tabs as columns", () => {
    expect(tsvLine(["a\tb", "c\r\nd", null, 1])).toBe("a b\tc d\t\t1\n");
  });
});
