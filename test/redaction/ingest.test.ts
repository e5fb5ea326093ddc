import { rmSync } from "node:fs";
import { join } from "node:path";
import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { serve } from "../commands/doctor/support.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { everythingIn } from "./files.ts";
import { anySpelling, key, leakIn, writtenAs, type Spelling } from "./key.ts";

interface World {
  /** Files of the project by path. */
  files: Record<string, string>;
  /** What the service answers to a document. */
  status: number;
  body: string;
}

const plain = { "docs/a.md": "# A\n\nText.\n" };
const fine = { status: 200, body: '{"document_id":"x","already_existed":false}' };
const jsonOf = (value: unknown, written: string): string =>
  JSON.stringify(value).replaceAll("@", written);

/** A backslash is no character of a name on every system; a slash makes a folder. */
const inName = (written: string): string =>
  written.includes("\\") ? encodeURIComponent(key) : written;

type Make = (before: string, written: string) => World;

/** Where a service or a folder may hold the key, and after how many characters the text is cut there. */
const places: readonly [name: string, cut: number, make: Make][] = [
  [
    "refusal of a document",
    500,
    (before, written) => ({
      files: plain,
      status: 422,
      body: jsonOf({ detail: `${before}@ y` }, written),
    }),
  ],
  [
    "failure of the service",
    500,
    (before, written) => ({
      files: plain,
      status: 400,
      body: jsonOf({ message: `${before}@` }, written),
    }),
  ],
  [
    "id of a document",
    20,
    (before, written) => ({
      files: plain,
      status: 200,
      body: jsonOf({ document_id: `${before}@`, already_existed: true }, written),
    }),
  ],
  [
    "wrong answer",
    150,
    (before, written) => ({
      files: plain,
      status: 200,
      body: jsonOf({ [`${before}@`]: 1, document_id: { [`${before}@`]: 1 } }, written),
    }),
  ],
  [
    "name of a broken file",
    10,
    (before, written) => ({
      ...fine,
      files: { [`docs/${before}${inName(written)}.md`]: "---\na: [\n---\n" },
    }),
  ],
  [
    "name of an empty file",
    10,
    (before, written) => ({
      ...fine,
      files: { ...plain, [`docs/${before}${inName(written)}.md`]: "" },
    }),
  ],
  [
    "front matter",
    60,
    (before, written) => ({
      ...fine,
      files: { "docs/a.md": `---\nupdated: "${before}${written}"\n---\nText.\n` },
    }),
  ],
  [
    "broken front matter",
    60,
    (before, written) => ({
      ...fine,
      files: { "docs/a.md": `---\n${before}${written}: ]${written}\n---\nText.\n` },
    }),
  ],
  [
    "image",
    115,
    (before, written) => ({
      status: 422,
      body: "{}",
      files: { "docs/a.md": `# A\n\n![x](${before}${written}.png)\n` },
    }),
  ],
  [
    "link",
    60,
    (before, written) => ({
      status: 422,
      body: "{}",
      files: { "docs/a.md": `---\nlink: "javascript:${before}${written}"\n---\nText.\n` },
    }),
  ],
  [
    "pattern",
    60,
    (before, written) => ({
      ...fine,
      files: { ...plain, ".knowctlignore": `${before}${written}{a,b}{a,b}+(+(a))\n` },
    }),
  ],
  [
    "columns",
    60,
    (before, written) => ({
      ...fine,
      files: { "docs/a.csv": `${before}${written},b\n1,2\n` },
    }),
  ],
  [
    "broken row",
    10,
    (before, written) => ({
      ...fine,
      files: { "docs/a.ndjson": `{"id": "${before}${written}", ${written}}\n` },
    }),
  ],
];

const runsOf: readonly (readonly string[])[] = [
  ["--output", "ndjson"],
  ["--output", "json"],
  [],
  ["--verbose", "--images", "upload"],
  ["--dry-run"],
  ["--dry-run", "--output", "json"],
];

const afterwards: readonly (readonly string[])[] = [
  ["state", "list", "--status", "failed", "-o", "table"],
  ["state", "list"],
  ["state", "list", "--json"],
  ["state", "export", "-"],
  ["explain", "docs/a.md"],
];

interface Case {
  spelling: Spelling;
  place: (typeof places)[number];
  offset: number;
  flags: readonly string[];
  after: readonly string[];
  isTTY: boolean;
  columns: number;
}

const anyCase = fc.record<Case>({
  spelling: anySpelling,
  place: fc.constantFrom(...places),
  offset: fc.integer({ min: -34, max: 2 }),
  flags: fc.constantFrom(...runsOf),
  after: fc.constantFrom(...afterwards),
  isTTY: fc.boolean(),
  columns: fc.constantFrom(20, 60, 200),
});

const reports = ["--report", "r/run.json", "--report", "r/run.xml", "--report", "r/run.html"];

describe("an upload", () => {
  it("never shows the key, in what it prints, reports or keeps", async () => {
    let world: World = { ...fine, files: plain };
    const { url } = await serve((request, response) => {
      const isDocument = request.method === "POST";
      response.writeHead(isDocument ? world.status : 404, { "content-type": "application/json" });
      response.end(isDocument ? world.body : "{}");
    });
    let hidden = 0;
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ spelling, place, offset, ...given }) => {
        const home = temporaryFolder();
        const cwd = join(home, "work");
        const [, cut, make] = place;
        world = make("x".repeat(Math.max(0, cut + offset)), writtenAs(spelling));
        writeFiles(cwd, { ".git/HEAD": "", ...world.files });
        const env = cleanEnvironment(home, {
          KNOWCTL_BASE_URL: url,
          KNOWCTL_API_KEY: key,
          GITHUB_ACTIONS: "true",
          GITHUB_STEP_SUMMARY: join(home, "summary.md"),
        });
        let shown = "";
        const run = async (args: readonly string[]): Promise<void> => {
          const { isTTY, columns } = given;
          const context = createTestContext({ cwd, env, isTTY, columns });
          await main(args, context);
          shown += context.stdoutText() + context.stderrText();
        };
        const paths = Object.keys(world.files).filter((path) => !path.endsWith(".md"));
        const named = paths.filter((path) => path.startsWith("docs/"));
        const isDry = given.flags.includes("--dry-run");
        await run([
          "ingest",
          ...(named.length > 0 ? named : ["docs"]),
          "--cc-pair-id",
          "2",
          ...given.flags,
          ...(isDry ? [] : [...reports, "--gitlab-report", "r/quality.json"]),
        ]);
        const target =
          given.after[0] === "state" && given.after[1] === "list" ? ["--cc-pair-id", "2"] : [];
        await run([...given.after, ...target]);
        for (const path of Object.keys(world.files)) rmSync(join(cwd, path), { force: true });
        // Names of files that are gone may still stand in a folder's list, which is no file.
        const kept = everythingIn(home);
        if ((shown + kept).includes("***")) hidden++;
        expect(leakIn(shown), shown).toBeUndefined();
        expect(leakIn(kept), kept).toBeUndefined();
      }),
      fc.few(15),
    );
    expect(hidden).toBeGreaterThan(0);
  });
});
