import { describe, expect, it } from "vitest";
import { knownMembers } from "../../src/checks/eval/suite/suite-schema.ts";
import { words } from "../../src/checks/eval/words.ts";
import { commandNames } from "../../src/commands/chat/conversation/commands.ts";
import { checks } from "../../src/commands/doctor/doctor.ts";
import { formats } from "../../src/documents/formats/formats.ts";
import { listFormats } from "../../src/cli/formats.ts";
import { orphanClasses } from "../../src/sync/orphans/orphan-classes.ts";
import { namesIn, proseOf, rowsOf } from "./pages.ts";
import { chmodSync, existsSync, readFileSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { main } from "../main.ts";
import { writeFiles } from "../service.ts";
import { createTestContext, projectFolder, temporaryFolder } from "../support.ts";

describe("tables", () => {
  // Tables that people write about names that the program knows: each name has its row, and no row a
  // name that is gone.

  const extensions = Object.values(formats).flatMap((format) =>
    format.extensions.map((extension) => `.${extension}`),
  );

  it.each([
    ["docs/chat.md", "command", commandNames.map((name) => `/${name}`)],
    ["docs/doctor.md", "check", checks.map(({ name }) => name)],
    ["docs/eval-suites.md", "member", knownMembers["cases"] ?? []],
    ["docs/eval-suites.md", "word", [...Object.keys(words), "judge"]],
    // `.gz` may follow any of them.
    ["docs/formats.md", "format", [...extensions, ".gz"]],
    ["docs/prune.md", "class", [...orphanClasses, "shared"]],
  ])("%s: the table by %s has every name", (page, column, names) => {
    const first = rowsOf(page, column).map(([cell = ""]) => cell);
    // `/open N` is the command `/open`.
    const found = first.flatMap(namesIn).map((name) => name.split(" ")[0]!);
    expect(found.toSorted()).toEqual(names.toSorted());
  });

  it("docs/api.md has every format of a list", () => {
    const [, meaning = ""] = rowsOf("docs/api.md", "flag").find(([flag]) => flag === "`--output`")!;
    expect(namesIn(meaning).toSorted()).toEqual(listFormats.toSorted());
  });
});

describe("keys", () => {
  const examples = JSON.parse(
    readFileSync(join(projectFolder, "scripts", "config-examples.json"), "utf8"),
  ) as Record<string, unknown>;

  /** The examples of the table as one file: `profiles.NAME.x` in a profile, `rules[].x` in a rule. */
  function fileOf(values: Record<string, unknown>): Record<string, unknown> {
    const content: Record<string, unknown> = {};
    for (const [key, value] of Object.entries(values)) {
      const path = key.replace("[]", ".0").split(".");
      let target: Record<string, unknown> = content;
      for (const [index, name] of path.slice(0, -1).entries()) {
        target[name] ??= path[index + 1] === "0" ? [] : {};
        target = target[name] as Record<string, unknown>;
      }
      target[path.at(-1)!] = value;
    }
    return content;
  }

  async function validate(content: unknown): Promise<{ code: number; said: string }> {
    const cwd = temporaryFolder();
    // The user file: some keys may stand in no other.
    const path = "config/knowctl/config.json";
    writeFiles(cwd, { [path]: JSON.stringify(content) });
    chmodSync(join(cwd, path), 0o600);
    const context = createTestContext({ cwd });
    const code = await main(["config", "validate"], context);
    return { code, said: context.stderrText() };
  }

  it("the example of every configuration key is a valid one", async () => {
    // The profile that defaultProfile names is the one of the examples.
    const content = fileOf({ ...examples, defaultProfile: "NAME" });
    expect(Object.keys(content["profiles"] as object)).toEqual(["NAME"]);
    expect(await validate(content)).toMatchObject({
      code: 0,
      said: expect.not.stringContaining("error"),
    });
  });

  it("an example that is none would be noticed", async () => {
    const content = fileOf({ ...examples, defaultProfile: "NAME", "ingest.anchors": "wiki" });
    expect(await validate(content)).toMatchObject({ code: 3 });
  });
});

describe("contributing", () => {
  // The page for contributors names files and folders: each has to be there.

  const inProject = (path: string): boolean => existsSync(join(projectFolder, path));

  /** Every file and folder below these, as `src/…`. */
  const known = ["docs", "schema", "scripts", "src", "test"].flatMap((top) =>
    readdirSync(join(projectFolder, top), { recursive: true, encoding: "utf8" }).map(
      (name) => `${top}/${name.replaceAll("\\", "/")}`,
    ),
  );

  /** Whether a path is there; `<noun>` stands for any name, `*` for any part of one. */
  function isThere(path: string): boolean {
    if (!/[<*]/.test(path)) return inProject(path);
    const pattern = path
      .split(/<\w+>|\*/)
      .map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"))
      .join("[^/]+");
    return known.some((each) => new RegExp(`^${pattern}$`).test(each.replace(/\/?$/, "")));
  }

  const isPath = (name: string): boolean =>
    /^[\w.<*-][\w.<>*-]*(?:\/[\w.<>*-]+)*\/?$/.test(name) &&
    /\/|\.(?:ts|js|json|md|yml|yaml)$/.test(name);

  /** Paths of a text that are not there: each below src/, in the project, or near the one before. */
  function missingIn(text: string): string[] {
    const missing: string[] = [];
    let folder = "src";
    for (const name of namesIn(text).filter(isPath)) {
      const path = name.replace(/\/$/, "");
      const near = [folder, dirname(folder)].map((each) => `${each}/${path}`);
      const found = [`src/${path}`, path, ...near].find(isThere);
      if (found === undefined) missing.push(name);
      else folder = name.endsWith("/") ? found : dirname(found);
    }
    return missing;
  }

  const rows = rowsOf("CONTRIBUTING.md", "new");

  describe("I want to add …", () => {
    it.each(rows)("%s: every path exists", (_what, write = "", asked = "") => {
      expect(missingIn(write)).toEqual([]);
      expect(missingIn(asked)).toEqual([]);
    });

    it("would notice a path that has moved", () => {
      expect(missingIn("`errors.ts`, `documents/readers/<format>.ts`, `old.ts`")).toEqual([
        "documents/readers/<format>.ts",
        "old.ts",
      ]);
    });
  });

  it("CONTRIBUTING.md names paths that exist", () => {
    const lines = proseOf("CONTRIBUTING.md")
      .split("\n")
      .filter((line) => !line.startsWith("| "));
    expect(missingIn(lines.join("\n"))).toEqual([]);
  });

  it("who may import whom: every room has its row, and each row is a room", () => {
    const first = rowsOf("CONTRIBUTING.md", "from").map(([cell = ""]) => cell);
    const listed = first
      .flatMap((cell) => cell.split(", "))
      .filter((name) => !name.startsWith("`"));
    const rooms = readdirSync(join(projectFolder, "src")).map((name) => name.replace(/\.ts$/, ""));
    expect(listed.toSorted()).toEqual([...rooms, "bin"].toSorted());
  });
});
