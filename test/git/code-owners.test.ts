import { mkdirSync, realpathSync, symlinkSync, truncateSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  findCodeOwners,
  ownersOf,
  parseCodeOwners,
  type CodeOwnersPlace,
} from "../../src/git/code-owners.ts";
import { temporaryFolder } from "../support.ts";
import { refusal } from "./support.ts";

/** Owners as written in the file. */
function owners(text: string, path: string, place?: CodeOwnersPlace): string {
  const found = ownersOf(parseCodeOwners(text, place), path);
  return found.map((owner) => owner.email ?? owner.display_name).join(" ");
}

describe("a pattern", () => {
  // GitHub's own examples (docs.github.com, "About code owners") and gitignore(5).
  it.each([
    ["*", "a.md deep/a.md", ""],
    ["*.js", "a.js deep/a.js", "a.jsx js"],
    ["/build/logs/", "build/logs/a build/logs/x/a", "x/build/logs/a build/logs"],
    ["docs/*", "docs/getting-started.md", "docs/build/a.md x/docs/a.md"],
    ["apps/", "apps/a x/apps/a x/apps/y/a", "apps"],
    ["/docs/", "docs/a docs/x/a", "x/docs/a"],
    ["/scripts/", "scripts/a", "x/scripts/a"],
    ["**/logs", "build/logs/a scripts/logs/a deeply/nested/logs/x/a logs", "logsx/a"],
    ["/apps/github", "apps/github apps/github/a", "apps/githubx x/apps/github"],
    ["docs", "docs/a docs x/docs/a", "docsx"],
    ["/*", "a", "x/a"],
    ["/**", "a x/a", ""],
    ["a/**/b", "a/b a/x/b a/x/y/b a/x/b/c", "a/x xa/b"],
    ["a/**", "a/x a/x/y", "a b/a/x"],
    ["**/a/**", "a/x y/a/x", "a y/a"],
    ["**/**/a", "a x/y/a", "b"],
    ["/a/*/c", "a/b/c", "a/c a/b/b/c"],
    ["a?.md", "ab.md x/ab.md", "a.md a/.md"],
    ["a*b*c", "abc axxbxxc abbc", "ab acb"],
    [String.raw`with\ space.md`, "", "with space.mdx"],
    [String.raw`\*.md`, "*.md", "a.md"],
    ["[ab].md", "[ab].md", "a.md"],
    [".*", ".github .github/x", "a"],
    ["//docs//a", "docs/a", "a"],
    ["cafe\u0301/", "caf\u00e9/a", "cafe/a"],
    ["/Docs/", "", "docs/a"],
  ])("%s takes %s, not %s", (pattern, taken, refused) => {
    const text = `${pattern} @o`;
    for (const path of taken.split(" ").filter(Boolean))
      expect(owners(text, path), path).toBe("@o");
    for (const path of refused.split(" ").filter(Boolean))
      expect(owners(text, path), path).toBe("");
  });

  it("may hold escaped blanks", () => {
    expect(owners(String.raw`a\ b/ @o # why`, "a b/c")).toBe("@o");
  });

  it("in GitLab's file counts at any depth without a leading slash", () => {
    const place = { file: ".gitlab/CODEOWNERS" };
    expect(owners("internal/README.md @o", "x/internal/README.md", place)).toBe("@o");
    expect(owners("/internal/README.md @o", "x/internal/README.md", place)).toBe("");
  });

  it("takes linear time however hostile", () => {
    const path = `${"a/".repeat(400)}${"a".repeat(3000)}`;
    for (const pattern of [
      "*a".repeat(400),
      "**/a/".repeat(190),
      `${"a*".repeat(400)}b`,
      "**/".repeat(300),
    ]) {
      expect(owners(`${pattern}x @o`, path)).toBe("");
    }
  });
});

describe("a CODEOWNERS file", () => {
  it.each([
    ["the last line wins", "* @a\n*.md @b\n", "x.md", "@b"],
    [
      "whichever kind of pattern it has",
      "docs/ @a\n* @b\n/docs/x.md @c\n*.txt @d\n",
      "docs/x.md",
      "@c",
    ],
    [
      "a later wide line wins over an earlier narrow one",
      "/docs/x.md @a\n* @b\n",
      "docs/x.md",
      "@b",
    ],
    ["a line without owners takes them away", "* @a\n/docs/\n", "docs/x.md", ""],
    ["several owners", "* @a @org/team mail@example.com", "x", "@a @org/team mail@example.com"],
    ["an owner named twice", "* @a @a", "x", "@a"],
    ["comments", "# * @x\n* @a # @b\n  # c", "x", "@a"],
    ["CRLF, tabs and a byte order mark", "\uFEFF*\t@a\r\n*.md\t\t@b\r\n", "x.md", "@b"],
    ["GitHub skips a line with an owner that is none", "* @a\n*.md @b oops\n", "x.md", "@a"],
    ["GitHub has no exclusions", "* @a\n!x.md @b\n", "x.md", "@a"],
    ["names of JavaScript's own", "* @a\n/__proto__/ @b", "__proto__/x", "@b"],
    ["no line that matches", "/docs/ @a", "x", ""],
  ])("%s", (_name, text, path, expected) => expect(owners(text, path)).toBe(expected));

  const gitlab = [
    "* @all",
    "[Docs][2] @writers @editors",
    "docs/",
    "docs/api/ @api",
    "^[Optional] @opt",
    "*.md",
    "!docs/secret.md",
    "[DOCS]",
    "/late/ @late nonsense",
  ].join("\n");

  it.each([
    ["x.txt", "@all"],
    ["x.md", "@all @opt"],
    ["docs/x.md", "@all @writers @editors @opt"],
    ["docs/api/x.txt", "@all @api"],
    ["docs/secret.md", "@all @writers @editors"],
    ["late/x", "@all @late"],
  ])("gives %s the owners of all of GitLab's sections: %s", (path, expected) => {
    expect(owners(gitlab, path)).toBe(expected);
  });

  it("gives handles as names, addresses as mail", () => {
    expect(ownersOf(parseCodeOwners("* @org/team a@b.c"), "x")).toEqual([
      { display_name: "@org/team" },
      { email: "a@b.c" },
    ]);
  });

  it("tells what was left out", () => {
    const text = `* oops\n/ @a\n!x @a\n${"y".repeat(1001)} @a\nz${" @a".repeat(101)}\n`;
    const { problems } = parseCodeOwners(text);
    expect(problems.map(({ line }) => line)).toEqual([1, 2, 3, 4, 5]);
    expect(problems[0]?.reason).toBe("oops is neither a @handle nor an address");
    expect(parseCodeOwners("* oops\n".repeat(100)).problems).toHaveLength(20);
  });

  it("keeps to so many lines", () => {
    const parsed = parseCodeOwners("a @a\n".repeat(50_002));
    expect(parsed.sections[0]?.rules).toHaveLength(50_000);
    expect(parsed.problems).toEqual([
      { line: 50_001, reason: "too many lines: the remaining lines are ignored" },
    ]);
  });

  it("can go to another thread, and takes paths relative to the project root", () => {
    const parsed = structuredClone(parseCodeOwners("/docs/a/ @o", { prefix: "docs/" }));
    expect(ownersOf(parsed, "a/x.md")).toEqual([{ display_name: "@o" }]);
    expect(ownersOf(parsed, "docs/a/x.md")).toEqual([]);
  });
});

describe("findCodeOwners", () => {
  const find = async (files: Record<string, string>): Promise<string | undefined> => {
    const top = realpathSync(temporaryFolder());
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(top, path)), { recursive: true });
      writeFileSync(join(top, path), text);
    }
    return (await findCodeOwners({ top, prefix: "" }))?.file;
  };

  it("looks where GitHub and GitLab look, and takes the first", async () => {
    const places = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS", ".gitlab/CODEOWNERS"];
    for (const [index, place] of places.entries()) {
      const files = Object.fromEntries(places.slice(index).map((each) => [each, "* @a"]));
      expect(await find(files)).toBe(place);
    }
    expect(await find({ docs: "a file" })).toBeUndefined();
  });

  it("refuses what is no file, too large, or leaves the repository", async () => {
    const top = realpathSync(temporaryFolder());
    const message = async (): Promise<string> =>
      (await refusal(() => findCodeOwners({ top, prefix: "" }))).message;
    mkdirSync(join(top, ".gitlab/CODEOWNERS"), { recursive: true });
    expect(await message()).toBe(".gitlab/CODEOWNERS: is not a file");
    writeFileSync(join(top, "CODEOWNERS"), "");
    truncateSync(join(top, "CODEOWNERS"), 3 * 1024 * 1024 + 1);
    expect(await message()).toBe("CODEOWNERS: is larger than 3 MiB");
    mkdirSync(join(top, ".github"));
    symlinkSync("/etc/passwd", join(top, ".github/CODEOWNERS"));
    expect(await message()).toBe(".github/CODEOWNERS: a link that leaves the repository");
  });
});
