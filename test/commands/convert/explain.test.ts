import { stripVTControlCharacters } from "node:util";
import stringWidth from "string-width";
import { expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { expectRun, runIn } from "../state/support.ts";

const files = {
  "docs/ok.md": "# Ok\n\nText.\n",
  "docs/drafts/z.md": "# Z\n\nText.\n",
  ".cliconfig.json": JSON.stringify({
    ingest: { include: ["docs/**/*.md"], exclude: ["**/drafts/**"] },
  }),
};

it.each([
  ["docs/drafts/z.md", "matches exclude **/drafts/**"],
  ["docs/ok.md --exclude ok.md", "matches exclude"],
  ["docs/ok.md --include x/**", "does not match --include x/**"],
])("explains what a pattern leaves out: %s", async (args, reason) => {
  const service = await startTestService({ files });
  const { code, stdout } = await runIn(service, `explain ${args} -o json`);
  expect(code).toBe(0);
  const told = JSON.parse(stdout) as { isIncluded: boolean; reason: string };
  expect(told.isIncluded).toBe(false);
  expect(told.reason).toContain(reason);
});

it.each([
  ["docs", "docs is a folder"],
  ["docs/none.md", "no such file or folder: docs/none.md"],
])("explains one file, not %s", async (path, message) => {
  const service = await startTestService({ files });
  await expectRun(service, `explain ${path}`, 2, message);
});

it("ends on a terminal with the explanation, below the payload", async () => {
  const service = await startTestService({ files });
  const { stdout } = await runIn(service, "explain docs/ok.md", { answer: "" });
  const lines = stdout.split("\n");
  const verdict = lines.findIndex((line) => line.includes("is included: "));
  expect(lines.findIndex((line) => line.includes("payload"))).toBe(0);
  expect(lines.findLastIndex((line) => line.startsWith("}"))).toBeLessThan(verdict);
});

it("fits into a terminal", async () => {
  const title = "\u{20000}長い題".repeat(40);
  const page = `---\ntitle: ${title}\n---\nText.\n`;
  const service = await startTestService({ files: { "docs/manual/page.md": page } });
  await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix handbook/");
  const { stdout } = await runIn(service, "explain docs/manual/page.md", { answer: "" });
  const lines = stripVTControlCharacters(stdout).split("\n");
  const facts = lines.slice(lines.indexOf("}") + 1);
  expect(facts.join(" ").replaceAll(/ +/g, " ")).toContain(
    'recorded as "handbook/docs/manual/page.md",',
  );
  expect(facts.filter((line) => stringWidth(line) > 80)).toEqual([]);
  expect(facts.join("").isWellFormed()).toBe(true);
});

it("names the place of a link that a run only counts", async () => {
  const page = "---\nurl: pages/one\n---\nText.\n";
  const many = Object.fromEntries([1, 2, 3].map((number) => [`docs/${number}.md`, page]));
  const service = await startTestService({ files: many });
  const run = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(run.stderr.match(/^warning: .*no link.*$/gm)).toEqual([
    "warning: 3 documents have no link (first: docs/1.md): the link is relative and linkBase is not set",
  ]);
  const { stdout } = await runIn(service, "explain docs/1.md -o json");
  expect((JSON.parse(stdout) as { warnings: string[] }).warnings).toEqual([
    expect.stringMatching(/^docs\/1\.md: no link \(.*line 2 \(url\)\): the link is relative/),
  ]);
});

it("says under which id the record has the file, where the flags give it another one", async () => {
  const service = await startTestService({ files });
  await runIn(service, "ingest --cc-pair-id 2 --id-prefix new/");
  const { stdout } = await runIn(service, "explain docs/ok.md -o json");
  expect((JSON.parse(stdout) as { state: string }).state).toMatch(
    /; not sent under this id; recorded as "new\/docs\/ok\.md", accepted by /,
  );
});

it("names the only recorded target, which an upload takes", async () => {
  const service = await startTestService({ files });
  const targetOf = async (): Promise<unknown> => {
    const { stdout } = await runIn(service, "explain docs/ok.md -o json");
    return (JSON.parse(stdout) as { target?: unknown }).target;
  };
  expect(await targetOf()).toBeUndefined();
  await runIn(service, "ingest --cc-pair-id 2");
  expect(await targetOf()).toBe(2);
  await runIn(service, "ingest --cc-pair-id 7");
  expect(await targetOf()).toBeUndefined();
});
