import { describe, expect, it } from "vitest";
import { explainDocument, type Explanation } from "../../../src/documents/inspect/explain.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { createFolder, fileIn, find, type Options } from "../folder.ts";

const noChecks = undefined;

async function explain(
  files: Record<string, string>,
  path: string,
  options: Options = {},
): Promise<Explanation> {
  const root = createFolder(files);
  return await explainDocument(fileIn(root, path), compileSettings({ root, ...options }), noChecks);
}

const page = `---
title: T
updated: 2024-05-01
owner: Ann
team: hr
tags: [a]
---
# H
text
`;

describe("explain", () => {
  it("gives each field with its origin and the exact payload", async () => {
    const explanation = await explain({ "docs/a.md": page }, "docs/a.md", {
      source: "web",
      metadata: { site: "intranet", tags: ["c"] },
      rules: [{ match: "docs/**", link: "https://x/{path}", metadata: { area: "docs" } }],
      flags: { sections: "headings", tags: ["f"] },
    });
    const fields = Object.fromEntries(
      explanation.fields.map(({ name, value, origin }) => [name, [value, origin]]),
    );
    expect(fields).toEqual({
      id: ["docs/a.md", "path"],
      semantic_identifier: ["T", "front matter line 2 (title)"],
      title: ["T", "front matter line 2 (title)"],
      sections: ["1, 7 characters", "flag --sections"],
      link: ["https://x/docs/a.md#h", "rule 1 (docs/**)"],
      source: ["web", "configuration ingest.source"],
      doc_updated_at: ["2024-05-01T00:00:00Z", "front matter line 3 (updated)"],
      primary_owners: ['[{"display_name":"Ann"}]', "front matter line 4 (owner)"],
      "metadata.site": ["intranet", "configuration ingest.metadata"],
      "metadata.area": ["docs", "rule 1 (docs/**)"],
      "metadata.team": ["hr", "front matter line 5 (team)"],
      "metadata.tags": [
        '["c","a","f"]',
        "configuration ingest.metadata, front matter line 6 (tags), flag --tag",
      ],
    });
    expect(explanation).toMatchObject({
      isIncluded: true,
      reason: "found in the project root",
      rules: ["rule 1 (docs/**)"],
    });
    expect(explanation.documentBytes).toBe(Buffer.byteLength(JSON.stringify(explanation.document)));
  });

  it("names the key of each name", async () => {
    const text = "---\ntitle: T\nsemantic_identifier: S\nmetadata: {team: x}\n---\nx\n";
    const { fields } = await explain({ "a.md": text }, "a.md");
    const origins = Object.fromEntries(fields.map(({ name, origin }) => [name, origin]));
    expect(origins).toMatchObject({
      semantic_identifier: "front matter line 3 (semantic_identifier)",
      title: "front matter line 2 (title)",
      "metadata.team": "front matter line 4 (metadata)",
    });
  });

  it("names defaults, headings and file names", async () => {
    const fields = async (text: string): Promise<string[]> =>
      (await explain({ "a.md": text }, "a.md", { idPrefix: "x/" })).fields.map(
        ({ name, origin }) => `${name}: ${origin}`,
      );
    expect(await fields("---\nx: 1\n---\n\n# Title\n")).toEqual([
      "semantic_identifier: heading line 5",
      "id: idPrefix and path",
      "title: heading line 5",
      "source: default",
      "sections: default",
      "metadata.x: front matter line 2 (x)",
    ]);
    expect((await fields("x"))[0]).toBe("semantic_identifier: file name");
  });

  it.each<[string, Options, string]>([
    [".hidden.md", {}, "hidden"],
    ["node_modules/a.md", {}, "in node_modules"],
    ["build/a.md", {}, "ignored by an ignore file"],
    ["a.md", { exclude: ["*.md"] }, "matches exclude *.md"],
    ["a.md", { flags: { include: ["b.md"] } }, "does not match --include b.md"],
    ["a.md", { include: ["docs/**"] }, "not in include docs/**"],
    ["draft.md", {}, "draft: true"],
    ["empty.md", {}, "empty"],
  ])("says why %s with %j is left out, as the walk does", async (path, options, reason) => {
    const files = {
      ".gitignore": "build/",
      ".hidden.md": "x",
      "node_modules/a.md": "x",
      "build/a.md": "x",
      "a.md": "x",
      "draft.md": "---\ndraft: true\n---\nx",
      "empty.md": "",
    };
    const explanation = await explain(files, path, options);
    expect(explanation.isIncluded).toBe(false);
    expect(explanation.reason).toContain(reason);
  });

  it("agrees with the walk on every file", async () => {
    const files: Record<string, string> = {
      ".gitignore": "b*\n!bc.md\n",
      "d/.gitignore": "x.md\n!b.md",
    };
    for (const name of ["a", "b", "bc", "x", ".h"]) {
      for (const folder of ["", "d/", "d/e/", ".d/", "bd/"]) files[`${folder}${name}.md`] = "x";
    }
    const root = createFolder(files);
    const settings = compileSettings({ root });
    const found = new Set(find(root).map((each) => (each.kind === "file" ? each.file.path : "")));
    for (const path of Object.keys(files).filter((each) => each.endsWith(".md"))) {
      const { isIncluded } = await explainDocument(fileIn(root, path), settings, noChecks);
      expect(isIncluded, path).toBe(found.has(path));
    }
  });

  it("fails as reading does", async () => {
    await expect(explain({ "a.md": "---\na: [\n---\n" }, "a.md")).rejects.toThrow("a.md:3:1");
  });
});
