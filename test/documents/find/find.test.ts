import { execFileSync } from "node:child_process";
import {
  chmodSync,
  mkdirSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { findFiles } from "../../../src/documents/find/find.ts";
import { inputsWithout, scopeOf } from "../../../src/documents/find/scope.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { readDocumentSync } from "../../../src/documents/inspect/read.ts";
import { CliError } from "../../../src/errors.ts";
import { expectCheap } from "../../cost.ts";
import { createFolder, failure, fileIn, find, list } from "../folder.ts";

function asUser(root: string, run: () => void): void {
  if (process.getuid?.() !== 0) return run();
  chmodSync(root, 0o755);
  process.seteuid?.(65534);
  try {
    run();
  } finally {
    process.seteuid?.(0);
  }
}

const hidden = "hidden (a run includes it with --no-ignore, or if you name it)";

describe("partials of a site", () => {
  it.each([
    [
      "Antora",
      "docs/antora.yml",
      ["docs/modules/ROOT/pages/a.adoc", "docs/modules/b/pages/nav.adoc"],
      [
        "docs/modules/ROOT/partials/c.adoc",
        "docs/modules/b/nav.adoc",
        "docs/modules/b/nav-d.adoc",
        "docs/modules/ROOT/pages/_e.adoc",
      ],
    ],
    [
      "Docusaurus",
      "docusaurus.config.ts",
      ["docs/a.md", "docs/b_c.mdx"],
      ["docs/_d.mdx", "docs/_e/f.md"],
    ],
    ["Quarto", "_quarto.yml", ["a.md"], ["_b.md", "c/_d/e.md"]],
    [
      "Hugo",
      "site/hugo.toml",
      ["site/content/_index.md", "layouts/a.html"],
      ["site/layouts/b.html", "site/archetypes/c.md", "site/content/_includes/d.md"],
    ],
    [
      "Sphinx",
      "docs/conf.py",
      ["docs/a.rst", "_templates/b.html"],
      ["docs/_templates/c.html", "docs/_build/d.html"],
    ],
    [
      "Jekyll",
      "_config.yml",
      ["_posts/a.md", "index.md"],
      ["_includes/b.html", "c/_layouts/d.html", "_index.md"],
    ],
    ["Eleventy", ".eleventy.js", ["a.md"], ["_includes/b.md", "src/_layouts/c.html"]],
    ["DocFX", "docs/docfx.json", ["docs/a.md", "includes/b.md"], ["docs/x/includes/c.md"]],
  ])("are no documents: %s", (name, config, pages, partials) => {
    const files = Object.fromEntries([config, ...pages, ...partials].map((path) => [path, "x"]));
    const root = createFolder(files);
    const reason = `a partial of ${name}, no page (a run includes it if you name it)`;
    const left = partials.map((path) => `skipped ${path}: ${reason}`);
    const found = list(root).filter((each) => !each.includes(config));
    expect(found.toSorted()).toEqual([...pages, ...left].toSorted());
    expect(list(root, partials)).toEqual(partials.toSorted());
    // Without the configuration file, nobody knows what they are.
    rmSync(join(root, config));
    expect(list(root)).toEqual([...pages, ...partials].toSorted());
  });
});

describe("folders", () => {
  it("come out in code-unit order of the whole path, whatever the inputs' order", () => {
    const root = createFolder({
      "a/b.md": "x",
      "a.md": "x",
      "a-b.md": "x",
      "a/Z.md": "x",
      "B.md": "x",
      "é.md": "x",
      "a/c/d.md": "x",
    });
    const sorted = ["B.md", "a-b.md", "a.md", "a/Z.md", "a/b.md", "a/c/d.md", "é.md"];
    expect(list(root)).toEqual([...sorted].sort());
    expect(list(root)).toEqual(sorted);
    expect(list(root, ["é.md", "a", "a/c", "B.md", "a/c/d.md"])).toEqual([
      "B.md",
      "a/Z.md",
      "a/b.md",
      "a/c/d.md",
      "é.md",
    ]);
  });

  it("take formats without regard to case and count the others", () => {
    const root = createFolder({
      "a.MD": "x",
      "b.Markdown": "x",
      "c.TXT": "x",
      "d.xyz": "x",
      "e.doc": "x",
      "~$f.docx": "x",
      LICENSE: "x",
    });
    expect(list(root)).toEqual([
      "skipped LICENSE: format not supported: no extension",
      "a.MD",
      "b.Markdown",
      "c.TXT",
      "skipped d.xyz: format not supported: .xyz",
      "skipped e.doc: format not supported: .doc",
      "skipped ~$f.docx: a lock file of an office program",
    ]);
    expect(list(root, ["d.xyz", "e.doc"])).toEqual([
      "skipped d.xyz: format not supported: .xyz",
      "failed e.doc: format not supported: .doc; save it as .docx in an office program",
    ]);
  });

  it("leave out what is hidden, in node_modules or .git, unless told not to", () => {
    const root = createFolder({
      "a.md": "x",
      ".hidden.md": "x",
      "..md": "x",
      ".hidden.csv": "x",
      ".gitignore": "ignored.md\n",
      ".github/b.md": "x",
      "node_modules/p/c.md": "x",
      ".git/d.md": "x",
      ".knowctl/e.md": "x",
    });
    expect(list(root)).toEqual([
      `skipped ..md: ${hidden}`,
      `skipped .hidden.md: ${hidden}`,
      "a.md",
    ]);
    const all = list(root, ["."], { useIgnoreFiles: false });
    expect(all.filter((line) => !line.startsWith("skipped"))).toEqual([
      "..md",
      ".git/d.md",
      ".github/b.md",
      ".hidden.md",
      "a.md",
      "node_modules/p/c.md",
    ]);
  });

  it("obey .gitignore and .knowctlignore, nested ones and negations too", () => {
    const root = createFolder({
      ".gitignore": "build/\n*.tmp.md\n/only-root.md\n",
      ".knowctlignore": "secret.md\n!kept.tmp.md\n",
      "a.md": "x",
      "b.tmp.md": "x",
      "kept.tmp.md": "x",
      "only-root.md": "x",
      "build/c.md": "x",
      "docs/only-root.md": "x",
      "docs/secret.md": "x",
      "docs/.gitignore": "!b.tmp.md\nlocal.md\n",
      "docs/b.tmp.md": "x",
      "docs/local.md": "x",
      "local.md": "x",
    });
    expect(list(root)).toEqual([
      "a.md",
      "docs/b.tmp.md",
      "docs/only-root.md",
      "kept.tmp.md",
      "local.md",
    ]);
    expect(
      list(root, ["."], { useIgnoreFiles: false }).filter((line) => line.endsWith(".md")),
    ).toHaveLength(10);
  });

  it("obey the .gitignore of the git root above the project root", () => {
    const root = createFolder({
      ".git/HEAD": "x",
      ".gitignore": "docs/private/\n",
      "docs/a.md": "x",
      "docs/private/b.md": "x",
    });
    const docs = join(root, "docs");
    expect(list(docs)).toEqual(["a.md"]);
  });

  it("give what is named although it is hidden or ignored", () => {
    const root = createFolder({
      ".gitignore": "build/\nnotes.md\n",
      "build/a.md": "x",
      "build/.b.md": "x",
      "notes.md": "x",
      ".wiki/c.md": "x",
    });
    expect(list(root, ["notes.md"])).toEqual(["notes.md"]);
    expect(list(root, ["build"])).toEqual([`skipped build/.b.md: ${hidden}`, "build/a.md"]);
    expect(list(root, [".", "build/.b.md", ".wiki"])).toEqual([".wiki/c.md", "build/.b.md"]);
  });

  it("forget nothing over many ignore tests", () => {
    const files: Record<string, string> = { ".gitignore": "*1.m?\n" };
    for (let index = 0; index < 1500; index++) files[`d${index % 7}/${index}.md`] = "x";
    expect(list(createFolder(files))).toHaveLength(1350);
  });

  it("agree with git on what is ignored", () => {
    const rules = [
      "*.log.md",
      "name",
      "/top",
      "deep/er",
      "d?",
      "[ab].md",
      "!keep.md",
      "\\!odd.md",
      "end*",
      "**/x/**",
      "only/",
    ];
    const names = [
      "name",
      "top",
      "deep",
      "er",
      "d1",
      "a.md",
      "keep.md",
      "!odd.md",
      "end.md",
      "x",
      "only",
      "b.log.md",
      "c.md",
    ];
    const files: Record<string, string> = { ".gitignore": rules.join("\n") };
    for (const first of names) {
      for (const second of names) {
        const isFile = first.endsWith(".md");
        files[isFile ? first : `${first}/${second.endsWith(".md") ? second : `${second}/c.md`}`] =
          "x";
      }
    }
    const root = createFolder(files);
    execFileSync("git", ["init", "-q"], { cwd: root });
    const git = execFileSync("git", ["ls-files", "-o", "--exclude-standard", "*.md"], {
      cwd: root,
      encoding: "utf8",
    });
    expect(list(root)).toEqual(git.trimEnd().split("\n").sort());
    expect(list(root).length).toBeGreaterThan(5);
  });

  it("filter by include and exclude, a bare name at any depth", () => {
    const root = createFolder({
      "docs/a.md": "x",
      "docs/old/b.md": "x",
      "c.md": "x",
      "docs/d.txt": "x",
    });
    expect(list(root, ["."], { flags: { include: ["docs/*.md"] } })).toEqual(["docs/a.md"]);
    expect(list(root, ["."], { flags: { include: ["docs"] } })).toHaveLength(3);
    expect(list(root, ["."], { flags: { include: ["*.txt"] } })).toEqual(["docs/d.txt"]);
    expect(list(root, ["."], { exclude: ["old"] })).toEqual(["c.md", "docs/a.md", "docs/d.txt"]);
    expect(list(root, ["."], { exclude: ["**/old/**"], flags: { exclude: ["*.txt"] } })).toEqual([
      "c.md",
      "docs/a.md",
    ]);
    expect(list(root, ["docs/old/b.md"], { exclude: ["old"] })).toEqual([]);
    expect(list(root, ["c.md"], { exclude: ["c.md"] })).toEqual([
      "skipped c.md: excluded by a pattern",
    ]);
  });

  it("fall back to the configured include", () => {
    const root = createFolder({ "docs/a.md": "x", "docs/x/b.md": "x", "c.md": "x" });
    expect(list(root, [], { include: ["docs/**/*.md"] })).toEqual(["docs/a.md", "docs/x/b.md"]);
    expect(list(root, [], { include: ["docs", "!docs/x"] })).toEqual(["docs/a.md"]);
    expect(list(root, [])).toHaveLength(3);
    expect(list(root, ["c.md"], { include: ["docs/**"] })).toEqual(["c.md"]);
  });
});

describe("globs", () => {
  it("are relative to the working directory, ids to the root", () => {
    const root = createFolder({
      "docs/a.md": "x",
      "docs/x/b.md": "x",
      "docs/x/c.txt": "x",
      "d.md": "x",
    });
    const settings = compileSettings({ root });
    const paths = (inputs: string[]): string[] =>
      [...findFiles(inputs, { cwd: join(root, "docs"), settings })].map((found) =>
        found.kind === "file" ? found.file.path : found.path,
      );
    expect(paths(["**/*.md"])).toEqual(["docs/a.md", "docs/x/b.md"]);
    expect(paths(["../*.md", "x/*.{md,txt}"])).toEqual(["d.md", "docs/x/b.md", "docs/x/c.txt"]);
    expect(paths(["{x,../docs}/b.md"])).toEqual(["docs/x/b.md"]);
    expect(paths(["nothing/*.md"])).toEqual([]);
  });

  it("keep hidden and ignored files out unless the glob names them", () => {
    const root = createFolder({
      ".gitignore": "b.md",
      "a.md": "x",
      "b.md": "x",
      ".wiki/c.md": "x",
    });
    expect(list(root, ["**/*.md"])).toEqual(["a.md"]);
    expect(list(root, [".wiki/*.md"])).toEqual([".wiki/c.md"]);
    expect(list(root, ["**/.wiki/*.md"])).toEqual([".wiki/c.md"]);
  });

  it("may look like a file name that exists", () => {
    const root = createFolder({ "[a].md": "x", "a.md": "x" });
    expect(list(root, ["[a].md"])).toEqual(["[a].md"]);
  });

  it.each([
    "**/*-*-*-*.md",
    "*/*/*/*/*/*/*.md",
    "{*-*.*,*_*.*,*+*.*}",
    "**/a/**/b/**/*.md",
    "[*]*[*]*[*].md",
  ])("with several stars are read: %s", (pattern) => {
    const root = createFolder({ "a/b/1-2-3-4.md": "x" });
    expect(() => list(root, ["."], { exclude: [pattern] })).not.toThrow();
  });

  it.each([
    ["{a,b}".repeat(18), "alternatives"],
    ["{1..1000000}/*.md", "alternatives"],
    [`*${"a".repeat(2000)}`, "longer"],
    ["+(+(a)).md", "nests"],
    ["*a*a*a*a*a*a*b", "stars"],
    ["{x,*a*a*a}*a*a*a*b", "stars"],
    ["*(a|b)*(a|b)*(a|b)*(a|b)*(a|b)*(a|b)c", "stars"],
    ["**/a/**/a/**/a/**/a/**/b", "stars"],
  ])("that expand too far are refused at once: %s", (pattern, why) => {
    const root = createFolder({ "a.md": "x" });
    // Uncapped, the first of these takes 13 s.
    expectCheap(() => {
      expect(failure(() => list(root, [pattern]))).toContain(why);
      expect(failure(() => list(root, ["."], { exclude: [pattern] }))).toContain(why);
    });
  });

  it.each(["../x/*.md", "/etc/*.md", "a/../../b", "C:/x"])(
    "of settings stay below the root: %s",
    (pattern) => {
      const root = createFolder();
      expect(failure(() => compileSettings({ root, exclude: [pattern] }))).toContain(
        "leaves the project root",
      );
      expect(failure(() => compileSettings({ root, rules: [{ match: pattern }] }))).toContain(
        "rule 1",
      );
    },
  );
});

describe("inputs that are wrong", () => {
  it("end with a message before anything is found", () => {
    const root = createFolder({ "in/a.md": "x", "out/b.md": "x", "inner/c.md": "x" });
    const inside = join(root, "in");
    expect(failure(() => list(inside, ["missing.md"]))).toContain(
      "no such file or folder: missing.md",
    );
    expect(failure(() => list(inside, [""]))).toContain("empty path");
    expect(failure(() => list(inside, ["a.md", "../out"]))).toContain("outside the project root");
    expect(failure(() => list(inside, ["../inner"]))).toContain("outside the project root");
    expect(failure(() => list(inside, ["../out/*.md"]))).toContain("outside the project root");
    expect(failure(() => list(inside, ["/etc/passwd"]))).toContain("outside the project root");
  });
});

/** Whether the input, which is z, in z, or a link to one of these, reaches the path. */
function isBehind(input: string, path: string): boolean {
  if (input.endsWith(".md")) return path === "z/b.md";
  return input !== "docs/link2" || path.startsWith("z/sub/");
}

describe("links and special files", () => {
  it("that loop are followed once at most", () => {
    const root = createFolder({ "a.md": "x", "d/b.md": "x" });
    symlinkSync(".", join(root, "loop"));
    symlinkSync("..", join(root, "d/up"));
    symlinkSync("ping", join(root, "pong"));
    symlinkSync("pong", join(root, "ping"));
    expect(find(root).filter(({ kind }) => kind === "file")).toHaveLength(2);
    expect(list(root)).toContain("skipped ping: symbolic link in a loop");
  });

  it("give each real file once, under its real path", () => {
    const root = createFolder({
      "docs/a.md": "x",
      "z/b.md": "x",
      "z/sub/c.md": "x",
      "z/sub/logo.png": "x",
      ".hide/d.md": "x",
    });
    symlinkSync("../docs/a.md", join(root, "docs/again.md"));
    symlinkSync("../z", join(root, "docs/link"));
    symlinkSync("../z/sub", join(root, "docs/link2"));
    symlinkSync("../z", join(root, "docs/link3"));
    symlinkSync("../.hide/d.md", join(root, "docs/shown.md"));
    symlinkSync("b.md", join(root, "z/b2.md"));
    const ofLogo = "skipped z/sub/logo.png: format not supported: .png";
    expect(list(root, ["docs"])).toEqual([
      "docs/a.md",
      "skipped docs/again.md: symbolic link to a file that is included directly",
      "skipped docs/link3: symbolic link to a folder that is already included",
      ".hide/d.md",
      "z/b.md",
      "z/sub/c.md",
      ofLogo,
    ]);
    expect(list(root)).toEqual([
      "docs/a.md",
      "skipped docs/again.md: symbolic link to a file that is included directly",
      "skipped docs/link: symbolic link to a folder that is included directly",
      "skipped docs/link2: symbolic link to a folder that is included directly",
      "skipped docs/link3: symbolic link to a folder that is included directly",
      "z/b.md",
      "skipped z/b2.md: symbolic link to a file that is included directly",
      "z/sub/c.md",
      ofLogo,
      ".hide/d.md",
    ]);
    for (const input of ["docs/link/b.md", "docs/link", "docs/link3", "docs/link2", "z"]) {
      const found = list(root, [input]).filter((line) => !line.startsWith("skipped"));
      expect(found).toEqual(["z/b.md", "z/sub/c.md"].filter((path) => isBehind(input, path)));
    }
    expect(list(root, ["docs/shown.md"])).toEqual([".hide/d.md"]);
    expect(list(root, ["docs/link/b.md", "z/b.md", "docs/link3/b2.md"])).toEqual(["z/b.md"]);
  });

  it("are ways to name a file for patterns, and lead on to other links", () => {
    const root = createFolder({
      "README.md": "x",
      "docs/a.md": "x",
      "z/b.md": "x",
      "z/private/p.md": "x",
      "y/c.md": "x",
      "data/rows.csv": "a",
      ".gitignore": "y\n",
    });
    symlinkSync("../README.md", join(root, "docs/README.md"));
    symlinkSync("../z", join(root, "docs/link"));
    symlinkSync("../../y", join(root, "z/private/on"));
    symlinkSync("../z", join(root, "y/back"));
    symlinkSync("../data/rows.csv", join(root, "docs/rows.csv"));
    const files = (inputs: string[], flags: { include?: string[]; exclude?: string[] } = {}) =>
      list(root, inputs, { flags }).filter((line) => !line.startsWith("skipped"));
    expect(files(["docs"])).toEqual([
      "docs/a.md",
      "README.md",
      "z/b.md",
      "z/private/p.md",
      "y/c.md",
    ]);
    expect(files(["."])).toEqual(["README.md", "docs/a.md", "z/b.md", "z/private/p.md", "y/c.md"]);
    // Both paths count, the real one and the one through the link.
    expect(files(["docs"], { exclude: ["README.md", "docs/link/private"] })).toEqual([
      "docs/a.md",
      "z/b.md",
      "y/c.md",
    ]);
    expect(files(["docs"], { exclude: ["z/private/**", "docs/README.md"] })).toEqual([
      "docs/a.md",
      "z/b.md",
    ]);
    expect(files(["docs"], { exclude: ["docs/link"] })).toEqual(["docs/a.md", "README.md"]);
    expect(files(["."], { include: ["docs/**"] })).toEqual([
      "docs/a.md",
      "README.md",
      "data/rows.csv",
      "z/b.md",
      "z/private/p.md",
    ]);
    expect(files(["docs"], { include: ["z/*.md"] })).toEqual(["z/b.md"]);
    expect(files(["docs/*/*.md"])).toEqual(["z/b.md"]);
    expect(files(["docs/*.csv"])).toEqual(["data/rows.csv"]);
    expect(files([".", "docs/*.csv"])).toContain("data/rows.csv");
    expect(list(root, ["docs"])).toContain(
      "skipped docs/rows.csv: .csv: row files are included only when named or matched by a glob",
    );
  });

  it("that lead to one folder may match different globs, and may form a loop", () => {
    const root = createFolder({ "z/a.md": "x", "z/b.md": "x" });
    symlinkSync(".", join(root, "z/loop"));
    for (const name of ["one", "two"]) {
      mkdirSync(join(root, "docs", name), { recursive: true });
      symlinkSync("../../z", join(root, "docs", name, "l"));
    }
    for (const inputs of [["docs/o*/*/a.md", "docs/t*/*/b.md"], ["docs/**/*.md"]]) {
      const found = list(root, inputs).filter((line) => !line.startsWith("skipped"));
      expect(found).toEqual(["z/a.md", "z/b.md"]);
    }
  });

  it("lead to no file of another project", () => {
    const root = createFolder({ "docs/a.md": "x", "other/deep/b.md": "x" });
    symlinkSync("../other/deep/b.md", join(root, "docs/b.md"));
    const refuseFolder = ({ path }: { path: string }) =>
      path === "other" ? new CliError("usage", "another project") : undefined;
    const settings = compileSettings({ root });
    const search = () => [...findFiles(["docs"], { cwd: root, settings, refuseFolder })];
    expect(failure(search)).toBe("another project");
  });

  it("that leave the root are reported and never read", () => {
    const outside = createFolder({ "secret.md": "secret", "dir/s.md": "secret" });
    const root = createFolder({ "a.md": "x" });
    symlinkSync(join(outside, "secret.md"), join(root, "x.md"));
    symlinkSync(join(outside, "dir"), join(root, "dir"));
    symlinkSync("/dev/zero", join(root, "zero.md"));
    symlinkSync("nowhere.md", join(root, "broken.md"));
    expect(list(root)).toEqual([
      "a.md",
      "skipped broken.md: broken symbolic link",
      "skipped dir: symbolic link that leaves the project root",
      "skipped x.md: symbolic link that leaves the project root",
      "skipped zero.md: symbolic link that leaves the project root",
    ]);
    expect(failure(() => list(root, ["x.md"]))).toContain("outside the project root");
  });

  it.skipIf(process.platform === "win32")("of other kinds are reported", () => {
    const root = createFolder({ "a.md": "x" });
    execFileSync("mkfifo", [join(root, "pipe.md")]);
    symlinkSync("pipe.md", join(root, "link.md"));
    expect(list(root)).toEqual([
      "a.md",
      "skipped link.md: symbolic link to something that is not a regular file",
      "skipped pipe.md: special file, not a regular file",
    ]);
  });
});

describe("trouble on the way", () => {
  it.skipIf(process.platform !== "linux")("reports names that are not UTF-8 and goes on", () => {
    const root = createFolder({ "a.md": "x", "\ufffd.md": "x" });
    for (const byte of [0xff, 0xfe]) {
      writeFileSync(
        Buffer.concat([Buffer.from(`${root}/b`), Buffer.from([byte]), Buffer.from(".md")]),
        "x",
      );
    }
    const found = list(root);
    for (const byte of ["fe", "ff"]) {
      // Under a path of its own: the state counts failures by their paths.
      expect(found).toContain(`failed b\\x${byte}.md: the name is not valid UTF-8: rename it`);
    }
    expect(found).toContain("a.md");
    expect(found).toContain("\ufffd.md");
    // What is left out anyway is nobody's trouble.
    for (const flags of [{ include: ["a*"] }, { exclude: ["b*.md"] }]) {
      expect(list(root, undefined, { flags }).filter((line) => line.includes("UTF-8"))).toEqual([]);
    }
  });

  it("reports an unreadable folder and goes on", () => {
    // As root nothing is unreadable: a folder that vanishes while the walk is on its way stands in.
    const root = createFolder({ "a.md": "x", "b/c.md": "x", "d.md": "x" });
    const settings = compileSettings({ root });
    const walk = findFiles(["."], { cwd: root, settings });
    expect(walk.next().value).toMatchObject({ kind: "file" });
    rmSync(join(root, "b"), { recursive: true });
    rmSync(join(root, "d.md"));
    expect([...walk]).toEqual([
      { kind: "failed", path: "b", reason: "the folder cannot be read: it is gone" },
      { kind: "failed", path: "d.md", reason: "it vanished during the search" },
    ]);
  });

  it.skipIf(process.platform === "win32")(
    "names an unreadable folder and file, and takes the rest",
    () => {
      const root = createFolder({ "a.md": "x", "b/c.md": "x", "d.md": "x", "e.md": "x" });
      chmodSync(join(root, "b"), 0o000);
      chmodSync(join(root, "d.md"), 0o000);
      // Permissions mean nothing to root.
      asUser(root, () => {
        expect(list(root)).toEqual([
          "a.md",
          "failed b: the folder cannot be read: permission denied",
          "d.md",
          "e.md",
        ]);
        const settings = compileSettings({ root });
        expect(failure(() => readDocumentSync(fileIn(root, "d.md"), settings))).toBe(
          "d.md: cannot be read: permission denied",
        );
      });
      chmodSync(join(root, "b"), 0o700);
    },
  );

  it("does not obey an ignore file that is a link out of the root", () => {
    const outside = createFolder({ rules: "*.md\n" });
    const root = createFolder({ "a.md": "x" });
    symlinkSync(join(outside, "rules"), join(root, ".gitignore"));
    expect(list(root)).toEqual([
      "failed .gitignore: cannot be read: a link that leaves the project root",
      "a.md",
    ]);
  });
});

it("NFC and NFD give one path", () => {
  const root = createFolder({ "u\u0308ber.md": "x" });
  expect(list(root)).toEqual(["\u00fcber.md"]);
});

it("a stamp changes when the content does, though size and mtime stay", () => {
  const root = createFolder({ "a.md": "one" });
  const path = join(root, "a.md");
  const changedNs = (): bigint => statSync(path, { bigint: true }).ctimeNs;
  utimesSync(path, 1e9, 1e9);
  const before = find(root)[0];
  const writtenNs = changedNs();
  // Times have the resolution of the kernel's tick: until it moves on, both are the same.
  do {
    writeFileSync(path, "two");
    utimesSync(path, 1e9, 1e9);
  } while (changedNs() === writtenNs);
  const after = find(root)[0];
  if (before?.kind !== "file" || after?.kind !== "file") throw new Error("no file");
  expect(after.file.sizeBytes).toBe(before.file.sizeBytes);
  expect(after.file.mtimeMs).toBe(before.file.mtimeMs);
  expect(after.file.stamp).not.toBe(before.file.stamp);
});

it("scopeOf tells the paths within the inputs, also of files that are gone", () => {
  const root = createFolder({ "docs/a.md": "x", "b.md": "x" });
  const settings = compileSettings({ root, exclude: ["drafts"] });
  const inScope = scopeOf(["docs"], { cwd: root, settings });
  expect(["docs/gone.md", "docs/drafts/x.md", "b.md", "docsx/a.md"].map(inScope)).toEqual([
    true,
    false,
    false,
    false,
  ]);
});

describe("inputsWithout", () => {
  const optionsOf = () => {
    const files = ["docs/a.md", "docs/sub/b.md", "c.md", "e/x.md"].map((name) => [name, "x"]);
    const root = createFolder(Object.fromEntries(files) as Record<string, string>);
    return { cwd: root, settings: compileSettings({ root }), mayBeRemoved: true };
  };
  const paths = ["docs/a.md", "docs/sub/deep/b.md", "gone/d.md"];

  it.each([
    [["docs", "docs/a.md", "docs/sub", "gone", "gone/d.md", "docs/*.md", "."], []],
    [
      ["c.md", "e", "go", "docs/b.md", "e/*.md"],
      ["c.md", "e", "go", "docs/b.md", "e/*.md"],
    ],
    [["docs/a.md", "c.md"], ["c.md"]],
  ])("of %j finds %j", (inputs, without) => {
    expect(inputsWithout(inputs, optionsOf(), paths)).toEqual(without);
  });

  it("reads the paths once, however many inputs there are", () => {
    let read = 0;
    const counted = {
      *[Symbol.iterator]() {
        for (const path of paths) {
          read++;
          yield path;
        }
      },
    };
    inputsWithout(
      Array.from({ length: 50 }, () => "docs/a.md"),
      optionsOf(),
      counted,
    );
    expect(read).toBe(paths.length);
  });
});
