import { expect, it } from "vitest";
import { someOf } from "../../property.ts";
import { startTestService } from "../../service.ts";
import { readPages } from "../../checks/verify/pages.ts";
import { runIn } from "../state/support.ts";
import { runIndexed } from "./support.ts";

const numbered = (write: (number: number) => string): string =>
  Array.from({ length: 150 }, (_, number) => write(number)).join("");

/** Texts as people write them: dashes, curly quotes, arrows, emoji. */
const typeset = `# L’été — « sauf » exception…

“Don’t ask – go,” says the lead. Mail → portal → done 😀. It’s 10–20 days — ❌ never more.

${numbered((number) => `Rule ${number} — see “Holidays” — gives ${number % 28} days… Ask first. ✅ Day ${number} is fine 👩‍💻. `)}

| day | may |
| --- | --- |
| Monday | ✅ |
| Sunday | ❌ |
`;

const japanese = `# 休暇\n\n${numbered((number) => `病気休暇${number}は年間十日です。前日の${number * 7}時までに連絡してください。${number % 9 === 0 ? "\n\n" : ""}`)}\n`;

it.each<[string, Record<string, string>]>([
  ["a page with dashes, quotes and emoji", { "docs/a.md": typeset }],
  ["a long page in Japanese", { "docs/a.md": japanese }],
  ["a tiny page", { "docs/a.md": "Ask first.\n" }],
  ["a page of one emoji", { "docs/a.md": "# Yes\n\n✅\n" }],
  ["two tiny pages", { "docs/a.md": "# A\n\nAsk first.\n", "docs/b.txt": "Then go – now.\n" }],
  ["a page of its title", { "docs/a.md": "# Leave\n\nLeave\n" }],
  [
    "real pages",
    Object.fromEntries(
      readPages().map((each, index) => [`docs/${index}.md`, each.sections.join("\n")]),
    ),
  ],
])("%s: current at once and later, with no other document", async (_, files) => {
  const service = await startTestService({ dialect: "onyx", files });
  const sent = await runIndexed(service, "ingest docs --cc-pair-id 2 --verify --wait 5s");
  expect(sent.stderr + sent.stdout).not.toMatch(/^unknown/m);
  expect(sent.code).toBe(0);
  const { code, stdout } = await runIndexed(service, "verify");
  expect(stdout).not.toMatch(/^(?:unknown|stale)/m);
  expect(code).toBe(0);
});

it("a page that is checked alone is current", async () => {
  // Alone, a page whose only cut is within a line is unknown: the space there may be new.
  const all = readPages().filter(({ title }) => title !== "Steps");
  const pages = all.map((each, index) => [`docs/${index}.md`, each.sections.join("\n")]);
  const service = await startTestService({ dialect: "onyx", files: Object.fromEntries(pages) });
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
  await service.sandbox.idle();
  for (const [path] of someOf(pages, 12)) {
    const { code, stdout } = await runIn(service, `verify ${path}`);
    expect([path, code, stdout]).toEqual([path, 0, ""]);
  }
});
