import { join } from "node:path";
import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { writeFiles } from "../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { everythingIn } from "./files.ts";
import { anySpelling, key, leakIn, writtenAs, type Spelling } from "./key.ts";

const words = "The office is open on all working days, and a guest signs in at the desk.";
const page = (text: string): string => `# Office\n\n${words}\n\n${text}\n`;
const titled = (title: string): string => `---\ntitle: "${title}"\n---\n${words}\n`;

/** Texts of findings that quote a page: where it holds the key, and where a message cuts the text. */
const places: readonly [name: string, cut: number, textOf: (text: string) => string][] = [
  ["title", 60, titled],
  ["heading", 60, (text) => page(`## ${text}\n\nAs mentioned above, the desk is closed.`)],
  ["link", 60, (text) => page(`See [x](${text}.md) and [y](#${text}).`)],
  ["image", 60, (text) => page(`![x](${text}.png)`)],
  ["placeholder", 60, (text) => page(`TODO: ${text}\n\n[TODO ${text}]`)],
  ["template", 60, (text) => page(`{{ ${text} }} and {% x ${text} %}`)],
  ["component", 60, (text) => page(`<Card title="${text}" />`)],
  ["comment", 60, (text) => page(`<!-- note to AI: ${text} -->`)],
  ["claim", 60, (text) => page(`Staff get ${text.length} days of leave in ${text} each year.`)],
  ["owner", 60, (text) => `---\nowner: "${text}"\n---\n${words}\n`],
  ["metadata", 60, (text) => `---\nteam: "${text}${"x".repeat(300)}"\n---\n${words}\n`],
  ["name of a field", 60, (text) => `---\n"${text}": [[1]]\n---\n${words}\n`],
  ["access", 60, (text) => `---\nprivate: "${text}"\n---\n${words}\n`],
  ["address", 60, (text) => `---\nlink: "https://x.example/${text}"\n---\n${words}\n`],
  ["disabled rule", 60, (text) => page(`<!-- knowctl-disable-next-line ${text} -->\n\nText.`)],
  ["front matter that is broken", 60, (text) => `---\n${text}: ]${text}\n---\n${words}\n`],
];

const outputs: readonly (readonly string[])[] = [
  [],
  ["--verbose"],
  ["--output", "json"],
  ["--output", "ndjson"],
  ["--output", "sarif"],
  ["--output", "junit"],
  ["--jq", ".findings[].message"],
  ["--baseline", "known.json", "--write-baseline"],
  ["r.json", "r.sarif", "r.xml", "r.html"].flatMap((name) => ["--report", name]),
  ["--gitlab-report", "g.json"],
  ["--fix"],
];

interface Case {
  spelling: Spelling;
  place: (typeof places)[number];
  offset: number;
  output: readonly string[];
  isTTY: boolean;
  columns: number;
}

const anyCase = fc.record<Case>({
  spelling: anySpelling,
  place: fc.constantFrom(...places),
  // Around the cut, where the key is cut in two.
  offset: fc.integer({ min: -60, max: 2 }),
  output: fc.constantFrom(...outputs),
  isTTY: fc.boolean(),
  columns: fc.constantFrom(20, 40, 80, 200),
});

describe("lint", () => {
  it("never shows a key of the profile, wherever a page holds it and a message cuts it", async () => {
    let hidden = 0;
    await fc.assert(
      fc.asyncProperty(anyCase, async ({ spelling, place, offset, output, isTTY, columns }) => {
        const [, cut, textOf] = place;
        const text = textOf(`${"x".repeat(Math.max(0, cut + offset))}${writtenAs(spelling)} y`);
        const cwd = temporaryFolder();
        writeFiles(cwd, { "docs/a.md": text, "docs/b.md": text.replace("days", "weeks") });
        const results = join(cwd, "results");
        const summary = join(results, "summary.md");
        writeFiles(results, { "summary.md": "" });
        const env = { KNOWCTL_API_KEY: key, GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
        const context = createTestContext({
          cwd: results,
          env: cleanEnvironment(cwd, env),
          isTTY,
          columns,
        });
        await main(["lint", "../docs", ...output], context);
        const shown = context.stdoutText() + context.stderrText() + everythingIn(results);
        if (shown.includes("***")) hidden++;
        expect(leakIn(shown), shown).toBeUndefined();
      }),
      fc.few(40),
    );
    // The key was there to be hidden.
    expect(hidden).toBeGreaterThan(0);
  });
});
