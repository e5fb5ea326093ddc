import { pathsInParts } from "../../../../src/documents/parts/parts.ts";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, renameSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { describe, expect, it } from "vitest";
import {
  type LocalImage,
  imageKindOf,
  readImage,
  readImageBytes,
  uploadNameOf,
} from "../../../../src/documents/map/images/images.ts";
import { imagePlaceholder, placeOf } from "../../../../src/documents/map/images/image-sections.ts";
import { type Reading, readDocumentSync } from "../../../../src/documents/inspect/read.ts";
import { compileSettings } from "../../../../src/documents/map/settings.ts";
import { type Options, createFolder, failure, fileIn } from "../../folder.ts";
import { findReferences } from "../../../../src/documents/map/images/image-references.ts";
import { expectLinear } from "../../../cost.ts";

describe("images", () => {
  const hash = (bytes: Uint8Array): string => createHash("sha256").update(bytes).digest("hex");
  const pngOf = (text: string): Buffer =>
    Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(text)]);
  const png = pngOf("one");
  const other = pngOf("two");
  /** What must never be read: an image, so that only its place keeps it out. */
  const canary = pngOf("CANARY");

  type Document = Reading & { kind: "document" };

  function readIn(root: string, path = "docs/page.md", options: Options = {}): Document {
    const settings = compileSettings({ root, images: "upload", ...options });
    const reading = readDocumentSync(fileIn(root, path), settings);
    if (reading.kind !== "document") throw new Error(reading.reason);
    return reading;
  }

  const page = (text: string, more: Record<string, string | Uint8Array> = {}): string =>
    createFolder({ "docs/page.md": text, ...more });

  const idsIn = ({ document }: Document): string[] =>
    document.sections.flatMap(({ image_file_id }) => image_file_id ?? []);

  const placeholder = (bytes: Uint8Array): string => imagePlaceholder(hash(bytes));

  /** Real paths, so that the tests hold where the folder for temporary files is a link. */
  function sandwiched(text: string): { root: string; outside: string } {
    const outside = createFolder({ "secret.png": canary, "folder/secret.png": canary });
    return { root: page(text), outside };
  }

  describe("images in documents", () => {
    it("become sections of their own behind the text, each content once", () => {
      const text =
        "![a](a.png) ![b](/img/b.png)\n\n![same as a](../copy.png) ![w](https://x.example/)";
      const reading = readIn(
        page(text, { "docs/a.png": png, "img/b.png": other, "copy.png": png }),
        "docs/page.md",
        { link: "https://d.example/{path}" },
      );
      const link = "https://d.example/docs/page.md";
      expect(reading.document.sections).toEqual([
        { text, link },
        { image_file_id: placeholder(png), link },
        { image_file_id: placeholder(other), link },
      ]);
      expect(reading).toMatchObject({ images: 1, warnings: [] });
      expect(reading.uploads).toMatchObject([
        { path: "docs/a.png", sha256: hash(png), mime: "image/png", sizeBytes: png.length },
        { path: "img/b.png", sha256: hash(other), name: "b.png" },
      ]);
    });

    it("follow the section in which they stand", () => {
      const text =
        "![a](a.png)\n\n# One\n\n![b](b.png) ![a](a.png)\n\n## Two\n\ntext\n\n# ![c](c.png)\n\n# End";
      const files = { "docs/a.png": png, "docs/b.png": other, "docs/c.png": pngOf("three") };
      const { document } = readIn(page(text, files), "docs/page.md", {
        sections: "headings",
        link: "https://d.example/",
      });
      expect(document.sections.map((each) => [each.image_file_id ?? "text", each.link])).toEqual([
        ["text", "https://d.example/"],
        [placeholder(png), "https://d.example/"],
        ["text", "https://d.example/#one"],
        [placeholder(other), "https://d.example/#one"],
        ["text", "https://d.example/#two"],
        [placeholder(pngOf("three")), "https://d.example/#two"],
      ]);
      for (const section of document.sections) {
        expect("text" in section && "image_file_id" in section).toBe(false);
      }
    });

    it("are only counted without images: upload", () => {
      const reading = readIn(page("![a](a.png)", { "docs/a.png": png }), "docs/page.md", {
        images: "skip",
      });
      expect(reading).toMatchObject({ images: 1, warnings: [] });
      expect(reading.uploads).toBeUndefined();
      expect(idsIn(reading)).toEqual([]);
      expect(reading.stamp).not.toBe("");
    });

    it("are recorded as parts of their document, also when they are missing", () => {
      const partsIn = (...given: Parameters<typeof page>): string[] =>
        pathsInParts(readIn(page(...given)).parts ?? "");
      expect(partsIn("![a](a.png)", { "docs/a.png": png })).toEqual(["docs/a.png"]);
      expect(partsIn("![a](a.png)")).toEqual(["docs/a.png"]);
      expect(partsIn("![a](https://x.example/a.png) ![b](../../b.png)")).toEqual([]);
    });

    it("that cannot be sent are told with their line, each once", () => {
      const open = "<!-- knowctl:ignore -->";
      const close = "<!-- /knowctl:ignore -->";
      const text = `---\na: b\n---\n${open}\nx\n${close}\n![a](no.png) ![b](x.svg)\n\n![a](no.png)`;
      const reading = readIn(page(text, { "docs/x.svg": "<svg/>" }));
      expect(reading.warnings).toEqual([
        "docs/page.md:7: image no.png skipped: no such file",
        "docs/page.md:7: image x.svg skipped: not a PNG, JPEG, GIF or WebP image",
      ]);
      expect(reading.images).toBe(3);
    });

    it("are told of up to a number of lines", () => {
      const text = Array.from({ length: 70 }, (_each, index) => `![](${index}.png)`).join("\n");
      const { warnings } = readIn(page(text));
      expect(warnings).toHaveLength(50);
      expect(warnings[9]).toBe("docs/page.md:10: image 9.png skipped: no such file");
      expect(warnings.at(-1)).toContain("(and 20 more images)");
    });

    it("are found whichever way their names are composed", () => {
      const reading = readIn(
        page("![a](b%C3%BC.png) ![b](o\u0308.png)", {
          ["docs/bu\u0308.png"]: png,
          "docs/\u00f6.png": other,
        }),
      );
      expect(idsIn(reading)).toEqual([placeholder(png), placeholder(other)]);
    });
  });

  describe("what is not an image of the project", () => {
    it.each([
      ["up", (outside: string) => `![](../..${outside}/secret.png)`],
      [
        "up from far",
        (outside: string) => `![](${"../".repeat(40)}${outside.slice(1)}/secret.png)`,
      ],
      ["encoded", (outside: string) => `![](..%2f..%2f..%2f..%2f..${outside}/secret.png)`],
      ["encoded twice", (outside: string) => `![](..%252f..%252f..${outside}/secret.png)`],
      ["absolute", (outside: string) => `![](${outside}/secret.png)`],
      ["file:", (outside: string) => `![](file://${outside}/secret.png)`],
      ["a drive", () => "![](C:\\secret.png)"],
      ["a share", () => "<img src='\\\\server\\share\\secret.png'>"],
      ["a null byte", (outside: string) => `![](${outside}/secret.png%00.png)`],
      ["in a tag", (outside: string) => `<img src="..&#x2f;..&#x2f;..${outside}/secret.png">`],
      ["by definition", (outside: string) => `![x]\n\n[x]: <../../../${outside}/secret.png>`],
      ["passwd", () => "![](../../../../../../../../etc/passwd)"],
    ])("stays unread: %s", (_name, textOf) => {
      const { root, outside } = sandwiched("");
      writeFileSync(join(root, "docs/page.md"), textOf(outside));
      const reading = readIn(root);
      expect(idsIn(reading)).toEqual([]);
      expect(reading.uploads).toBeUndefined();
      expect(reading.warnings).toHaveLength(1);
      expect(reading.warnings[0]).toMatch(/^docs\/page\.md:1: image .* skipped: /);
    });

    it.each([
      ["a link to a file", "it lies outside the project root"],
      ["a link to a folder", "it lies outside the project root"],
      ["a dangling link", "no such file"],
      ["a loop", "a symbolic link in a loop"],
      ["a folder", "not a regular file"],
      ["a FIFO", "not a regular file"],
      ["a link to a FIFO outside", "it lies outside the project root"],
      ["a file of git", "it lies in a .git or .knowctl folder"],
      ["a file of the state", "it lies in a .git or .knowctl folder"],
      ["text", "not a PNG, JPEG, GIF or WebP image"],
      ["nothing", "not a PNG, JPEG, GIF or WebP image"],
      ["too much", "more than 20 MiB"],
    ])("is told: %s", (name, problem) => {
      const { root, outside } = sandwiched("![](x.png)");
      const at = join(root, "docs/x.png");
      const makers: Record<string, () => void> = {
        "a link to a file": () => symlinkSync(join(outside, "secret.png"), at),
        "a link to a folder": () => {
          symlinkSync(join(outside, "folder"), join(root, "docs/linked"));
          writeFileSync(join(root, "docs/page.md"), "![](linked/secret.png)");
        },
        "a dangling link": () => symlinkSync(join(outside, "none"), at),
        "a loop": () => symlinkSync("x.png", at),
        "a folder": () => mkdirSync(at),
        "a FIFO": () => execFileSync("mkfifo", [at]),
        "a link to a FIFO outside": () => {
          execFileSync("mkfifo", [join(outside, "pipe")]);
          symlinkSync(join(outside, "pipe"), at);
        },
        "a file of git": () => {
          mkdirSync(join(root, ".git"));
          writeFileSync(join(root, ".git/x.png"), png);
          symlinkSync("../.git/x.png", at);
        },
        "a file of the state": () => {
          mkdirSync(join(root, ".knowctl"));
          writeFileSync(join(root, ".knowctl/x.png"), png);
          writeFileSync(join(root, "docs/page.md"), "![](../.knowctl/x.png)");
        },
        text: () => writeFileSync(at, "root:x:0:0"),
        nothing: () => writeFileSync(at, ""),
        "too much": () => writeFileSync(at, Buffer.concat([png, Buffer.alloc(20 * 1024 * 1024)])),
      };
      makers[name]?.();
      const reading = readIn(root);
      expect(reading.warnings).toEqual([expect.stringContaining(`skipped: ${problem}`)]);
      expect(idsIn(reading)).toEqual([]);
    });

    it("does not keep a link within the project from being taken", () => {
      const root = page("![](x.png)", { "img/a.png": png });
      symlinkSync("../img/a.png", join(root, "docs/x.png"));
      expect(readIn(root).uploads).toMatchObject([{ path: "img/a.png", name: "a.png" }]);
    });

    it("stays unread when it takes the place of an image in the same moment", async () => {
      const { root, outside } = sandwiched("");
      mkdirSync(join(root, "img"));
      writeFileSync(join(root, "img/secret.png"), png);
      symlinkSync(join(outside, "folder"), join(root, "link"));
      const stop = new SharedArrayBuffer(4);
      const worker = new Worker(
        `const { workerData: { root, stop } } = require("node:worker_threads");
       const { renameSync } = require("node:fs");
       while (Atomics.load(new Int32Array(stop), 0) === 0) {
         renameSync(root + "/img", root + "/kept");
         renameSync(root + "/link", root + "/img");
         renameSync(root + "/img", root + "/link");
         renameSync(root + "/kept", root + "/img");
       }`,
        { eval: true, workerData: { root, stop } },
      );
      const ended = new Promise((resolve) => worker.once("exit", resolve));
      await new Promise((resolve) => worker.once("online", resolve));
      const taken = new Set<string>();
      for (let count = 0; count < 2000; count++) {
        const read = readImage(root, join(root, "page.md"), {
          path: "img/secret.png",
          isFromRoot: false,
        });
        if ("image" in read) taken.add(read.image.sha256);
      }
      Atomics.store(new Int32Array(stop), 0, 1);
      await ended;
      expect(taken).not.toContain(hash(canary));
    });
  });

  describe("readImageBytes", () => {
    function mapped(): { root: string; image: LocalImage; path: string } {
      const root = page("![](a.png)", { "docs/a.png": png });
      const image = readIn(root).uploads?.[0];
      if (!image) throw new Error("no image");
      return { root, image, path: join(root, "docs/a.png") };
    }

    it("gives what was mapped", () => {
      const { root, image } = mapped();
      expect(Buffer.from(readImageBytes(root, image))).toEqual(png);
    });

    it.each([
      [
        "other bytes",
        (path: string) => writeFileSync(path, other),
        "the image changed during the run",
      ],
      ["nothing", (path: string) => rmSync(path), "no such file"],
      [
        "a link out",
        (path: string) => {
          const outside = createFolder({ "secret.png": png });
          rmSync(path);
          symlinkSync(join(outside, "secret.png"), path);
        },
        "it lies outside the project root",
      ],
      [
        "a link within the project to other bytes",
        (path: string) => {
          renameSync(path, `${path}.old.png`);
          writeFileSync(`${path}.new.png`, other);
          symlinkSync(`${path}.new.png`, path);
        },
        "the image changed during the run",
      ],
    ])("fails when there is %s in its place", (_name, change, reason) => {
      const { root, image, path } = mapped();
      change(path);
      const message = failure(() => readImageBytes(root, image));
      expect(message).toContain("docs/a.png: ");
      expect(message).toContain(reason);
    });
  });

  it("a file that changed is hashed anew", () => {
    const root = page("![](a.png)", { "docs/a.png": png });
    const path = join(root, "docs/a.png");
    // Long ago, so that its hash is remembered.
    utimesSync(path, 1, 1);
    expect(idsIn(readIn(root))).toEqual([placeholder(png)]);
    writeFileSync(path, other);
    utimesSync(path, 1, 1);
    expect(idsIn(readIn(root))).toEqual([placeholder(other)]);
  });

  describe("imageKindOf", () => {
    it.each([
      ["\x89PNG\r\n\x1a\n....", "image/png"],
      ["\xff\xd8\xff\xe0", "image/jpeg"],
      ["GIF87a", "image/gif"],
      ["GIF89a", "image/gif"],
      ["RIFF....WEBPVP8 ", "image/webp"],
      ["RIFF....WAVE", undefined],
      ["BM......", undefined],
      ["<svg>", undefined],
      ["%PDF-1.7", undefined],
      ["", undefined],
    ])("of %j", (start, mime) => {
      expect(imageKindOf(Buffer.from(start, "latin1"))).toBe(mime);
    });
  });

  it.each([
    ["img/a.png", "image/png", "a.png"],
    ["img/A.JPEG", "image/jpeg", "A.JPEG"],
    ["a.zip", "image/png", "a.zip.png"],
    ["noextension", "image/gif", "noextension.gif"],
    ['a"b\nc\\d.webp', "image/webp", "a_b_c_d.webp"],
  ] as const)("%s as %s is uploaded as %s", (path, mime, name) => {
    expect(uploadNameOf(path, mime)).toBe(name);
  });
});

describe("image references", () => {
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
      ["So on![^1]\n\n[^1]: If so.", []],
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
    const file = (path: string): object => ({
      kind: "file",
      path,
      isFromRoot: path.startsWith("/"),
    });
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
});
