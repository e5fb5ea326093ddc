import { describe, expect, it } from "vitest";
import { placeOf } from "../../../../src/documents/map/images/image-sections.ts";
import { findReferences } from "../../../../src/documents/map/images/image-references.ts";
import { expectLinear } from "../../../cost.ts";

const sources = (text: string): string[] => findReferences(text).map(({ source }) => source);

describe("findReferences", () => {
  it.each([
    ["![a](b.png)", ["b.png"]],
    ['![a](b.png "a title")', ["b.png"]],
    ["![a](b.png 'a title')", ["b.png"]],
    ["![a]( b.png\n  (a title))", ["b.png"]],
    ['![a](b.png "with \\"quotes\\" (and brackets)")', ["b.png"]],
    ["![a](<b c.png>)", ["b c.png"]],
    ['![a](<b c.png> "t")', ["b c.png"]],
    ["![a](my image.png)", ["my image.png"]],
    ["![a](b_(1).png)", ["b_(1).png"]],
    ["![a](b\\).png)", ["b).png"]],
    ["<!-- ![a](b.png) --> ![c](d.png)", ["d.png"]],
    ["![a](b&amp;c.png?x=1&y)", ["b&c.png?x=1&y"]],
    ["![a [b] c](d.png)", ["d.png"]],
    ["![a ![b](c.png)](d.png)", ["d.png", "c.png"]],
    ["[![a](b.png)](https://x.example)", ["b.png"]],
    ["[1, 2) ![a](b.png)", ["b.png"]],
    ["![](b.png)![](c.png)", ["b.png", "c.png"]],
    ["![a][x]\n\n[x]: b.png", ["b.png"]],
    ["![a][ X  y ]\n\n[x Y]: <b c.png> 'title'\n[x y]: later.png", ["b c.png"]],
    ["![x][]\n\n> [x]: b.png", ["b.png"]],
    ["![x]\n\n[x]:\n  b.png", ["b.png"]],
    ["![x][y]\n\n```\n[y]: b.png\n```", []],
    ["![x][y] ![z]", []],
    ["[x](b.png) \\![x](c.png) !\\[x](d.png)", ["c.png"].slice(1)],
    ["`![a](b.png)` ``![a](c.png)``\n\n```\n![a](d.png)\n```\n![a](e.png)", ["e.png"]],
    ["<!-- ![a](b.png) -->".replace(" -->", "\n-->"), []],
    ["![a\n\nb](c.png)", []],
    ['<img src="b.png">', ["b.png"]],
    ["<IMG alt='>' SRC='b c.png' />", ["b c.png"]],
    ["<img alt=x src=b.png>", ["b.png"]],
    ['<img\n  alt="a"\n  src = "b&#x2F;c.png"/>', ["b/c.png"]],
    ['<img alt="src=no.png">', []],
    ["<img src={logo} />", []],
    ["<image src='b.png'>", []],
    ['<pre>\n<img src="b.png">\n</pre>', []],
    ["![[wiki.png]]", []],
    ["![a](", []],
    ["![a](b.png", []],
    ["<img src='b.png", []],
  ])("of %j", (text, expected) => {
    expect(sources(text)).toEqual(expected);
  });

  it("says where each begins, in order", () => {
    expect(findReferences("a\n![x](b.png) <img src=c.png>")).toEqual([
      { source: "b.png", offset: 2 },
      { source: "c.png", offset: 14 },
    ]);
  });

  it.each<[name: string, text: (many: (part: string) => string) => string]>([
    ["openings", (many) => many("![](")],
    ["openings with a blank", (many) => many("![](a ")],
    ["openings with a blank and a far end", (many) => `${many("![](a ")}\n)`],
    ["angles", (many) => many("![](<")],
    ["one long angle", (many) => `![](<${many("a")}`],
    ["titles", (many) => many('![](a "')],
    ["nested brackets", (many) => many("![") + many("]")],
    ["labels", (many) => many("![a][b")],
    ["definitions", (many) => `![a]\n${many("[a\n")}`],
    ["definition without an end", (many) => `![a]\n${many("[a\\")}`],
    ["blanks", (many) => `![](${many(" ")}`],
    ["blank lines", (many) => `![a](b)${many("\n   ")}`],
    ["tags", (many) => many("<img ")],
    ["tags with open quotes", (many) => many("<img a='")],
    ["tags with both quotes", (many) => many(`<img a='<img b="`)],
    ["attributes", (many) => `<img ${many("a ")}`],
    ["blanks in a tag", (many) => `<img a${many(" ")}`],
    ["data", (many) => many(`![](data:image/png;base64,${"A".repeat(200)}) `)],
    ["shortcuts", (many) => `${many("![a]")}\n\n[a]: b`],
  ])("passes over hostile text once: %s", (_name, textOf) => {
    expectLinear(500_000, (length) => {
      findReferences(textOf((part) => part.repeat(Math.ceil(length / part.length))));
    });
  });
});

describe("placeOf", () => {
  const file = (path: string): object => ({ kind: "file", path, isFromRoot: path.startsWith("/") });
  const elsewhere = { kind: "elsewhere" };
  it.each([
    ["b.png", file("b.png")],
    ["./a%20b.png?raw=true#x", file("./a b.png")],
    ["/img/b.png", file("/img/b.png")],
    ["img\\b.png", file("img/b.png")],
    ["..%2f..%2Fetc%5Cpasswd", file("../../etc/passwd")],
    ["100%.png", file("100%.png")],
    ["%2f%2fserver/share", file("//server/share")],
    ["http://x.example/b.png", elsewhere],
    ["HTTPS://x.example/b.png", elsewhere],
    ["//x.example/b.png", elsewhere],
    ["data:image/png;base64,AAAA", elsewhere],
    ["cid:part", elsewhere],
    ["#a", elsewhere],
    ["", elsewhere],
  ])("of %j", (source, place) => {
    expect(placeOf(source)).toEqual(place);
  });

  it.each([
    ["file:///etc/passwd", "a file: address is not read"],
    ["FILE:x.png", "a file: address is not read"],
    ["C:\\x.png", "a path with a drive letter is not read"],
    ["c:/x.png", "a path with a drive letter is not read"],
    ["\\\\server\\share\\x.png", "a network path is not read"],
    ["/\\server/x.png", "a network path is not read"],
    ["a%00.png", "the path contains control characters"],
    ["a\0.png", "the path contains control characters"],
    ["a%0Ab.png", "the path contains control characters"],
  ])("refuses %j", (source, reason) => {
    expect(placeOf(source)).toEqual({ kind: "refused", reason });
  });
});
