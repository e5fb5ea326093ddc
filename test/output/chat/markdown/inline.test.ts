import { describe, expect, it } from "vitest";
import { draw, rowsOf } from "./draw.ts";

const wide = { columns: 200 };

async function lookOf(source: string, options = {}): Promise<string | undefined> {
  return (await (await draw(source, { ...wide, ...options })).looks())[0]?.trimEnd();
}

describe("inline text", () => {
  // Each character is followed by its look: b old, i talic, u nderlined, s truck, 6 cyan.
  const looks: [string, string, string][] = [
    ["bold", "**a** b", "ab b"],
    ["italic", "*a* _b_", "ai bi"],
    ["both", "***a***", "abi"],
    ["struck out", "~~a~~ ~b~", "as ~b~"],
    ["code, where marks are text", "`*a*` ``b`c``", "*6a6*6 b6`6c6"],
    ["nested", "**a *b* c**", "abb bbi bbcb".replace("abb bbi bbcb", "ab bbbi bcb")],
    ["text, without a partner", "**a *b `c", "**a *b `c"],
    ["text, with spaces around", "2 * 3 * 4 ** 5", "2 * 3 * 4 ** 5"],
    ["text inside a word", "a_b_c", "a_b_c"],
    ["text, escaped", "\\*a\\* \\`b\\`", "*a* `b`"],
    ["text, as a pattern", "*.md and **/x", "*.md and **/x"],
  ];
  it.each(looks)("is %s", async (_name, source, expected) => {
    expect(await lookOf(source)).toBe(expected);
  });

  const texts: [string, string, string][] = [
    ["decodes references", "&lt;b&gt; &amp; &copy; &#65; &x; &", "<b> & © A &x; &"],
    ["keeps HTML", "a <b>*x*</b> <!-- c -->", "a <b>x</b> <!-- c -->"],
    ["shows an image as a link", "![cat](https://x.y/c.png)", "image: cat"],
    ["keeps brackets that are no link", "[a] [b] (c) a[0] [x](", "[a] [b] (c) a[0] [x]("],
    ["reads titles and angles", '[a](<https://x.y/b c> "t") [d](https://x.y/(e) "f")', "a d"],
    ["shortens markers", "x [[1]](https://x.y/z)[[2]]()", "x [1][2]"],
  ];
  it.each(texts)("%s", async (_name, source, expected) => {
    expect((await rowsOf(source, wide))[0]).toBe(expected);
  });

  it("leaves marks of two rows hidden, and takes back those without a partner in the last one", async () => {
    expect(await rowsOf("**aaaa bbbb cccc** d", { columns: 10 })).toEqual(["aaaa bbbb", "cccc d"]);
    expect(await rowsOf("aaaa bbbb **cccc d", { columns: 10 })).toEqual(["aaaa bbbb", "**cccc d"]);
  });

  it("keeps the marks without colour", async () => {
    const source = "# A\n**b** *c* `d` [e](https://x.y) ~~f~~";
    expect(await rowsOf(source, { ...wide, color: false })).toEqual([
      "# A",
      "**b** *c* `d` e (https://x.y) ~~f~~",
    ]);
  });
});

describe("links", () => {
  const addresses: [string, string, string | undefined][] = [
    ["https", "[a](https://x.y/z)", "https://x.y/z"],
    ["http", "[a](http://x.y)", "http://x.y/"],
    ["mail", "<a@x.y>", "mailto:a@x.y"],
    ["bare", "see https://x.y/z.", "https://x.y/z"],
    ["a look-alike host", "[a](https://ехample.com/)", "https://xn--"],
    ["javascript", "[a](javascript:alert)", undefined],
    ["file", "[a](file:///etc/passwd)", undefined],
    ["an end of the sequence", "[a](https://x.y/\u001b\\z)", undefined],
    ["a space", "[a](<https://x.y/ z>)", "https://x.y/%20z"],
  ];
  it.each(addresses)("of %s", async (_name, source, url) => {
    const terminal = await draw([source], wide);
    const found = /\u001b\]8;;([^\u001b]+)\u001b\\/.exec(terminal.written())?.[1];
    if (url === undefined) {
      // Node 24 encodes the character that stands for the control.
      expect(found === undefined || /^https:\/\/x\.y\/(?:\^|%5E)/.test(found)).toBe(true);
    } else expect(found).toMatch(new RegExp(`^${url.replaceAll(/[.?]/g, "\\$&")}`));
  });

  it("have their address beside them where the terminal has no links", async () => {
    const options = { ...wide, env: { TERM: "xterm" } };
    expect(await rowsOf("[a](https://x.y) https://z.y", options)).toEqual([
      "a (https://x.y) https://z.y",
    ]);
  });

  it("have their address beside them where it is none to click on, or the text names another", async () => {
    expect(await rowsOf("[a](docs/x.md) [b.com](https://evil.y)", wide)).toEqual([
      "a (docs/x.md) b.com (https://evil.y)",
    ]);
  });
});
