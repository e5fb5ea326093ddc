import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runHere } from "../main.ts";
import { startTestService, writeFiles } from "../service.ts";

const suite = `version: 1
cases:
  - id: leave
    question: zebra dodo
    must_retrieve: [docs/my leave.md]
    expect:
      - cites: [docs/my leave.md]
  - id: by-id
    question: zebra dodo
    must_retrieve: [{ id: docs/my leave.md }]
`;

const files = {
  "docs/my leave.md": "# Leave\n\nThe dodo answers zebra questions.\n",
  "s.yaml": suite,
};

async function uploaded(dialect: "onyx" | "standard", state = "") {
  const { folder: cwd, env, sandbox } = await startTestService({ dialect, files });
  const run = (line: string) => runHere(line.split(" "), { cwd, env });
  expect((await run(`ingest docs --cc-pair-id 2${state}`)).code).toBe(0);
  await sandbox.idle();
  return { cwd, run, env, sandbox };
}

const retrieval = "eval retrieval s.yaml --allow-tokens 9";
const answers = "eval answers s.yaml --allow-tokens 9";

it.each(["onyx", "standard"] as const)(
  "%s: ids are compared as they are stored",
  async (dialect) => {
    const { cwd, run } = await uploaded(dialect);
    expect((await run(retrieval)).code).toBe(0);
    expect((await run(answers)).code).toBe(0);
    // A fresh runner has no record.
    rmSync(join(cwd, ".knowctl"), { recursive: true });
    expect((await run(retrieval)).code).toBe(0);
    expect((await run(answers)).code).toBe(0);
    writeFiles(cwd, { "c.json": '{"ingest":{"sections":"whole"}}' });
    const checked = await run(
      "verify docs --cc-pair-id 2 --via chat --depth exists --allow-tokens 9 --config c.json",
    );
    expect(checked.stderr).toContain("1 present");
  },
);

it.each([
  ["search", "search dodo --json"],
  ["chat", "chat dodo --output json"],
  ["eval retrieval", "eval retrieval other.yaml --json"],
  ["eval answers", "eval answers other.yaml --allow-tokens 1 --json"],
  ["eval init", "eval init --from-sessions"],
  ["sessions show", "sessions show last --output json"],
  ["sessions recover", "sessions recover last --output json"],
])("%s: --state names the record", async (_, line) => {
  const other =
    "version: 1\ncases: [{ id: a, question: dodo, must_retrieve: [other.md], expect: [{ contains: dodo }] }]\n";
  const service = await startTestService({
    dialect: "onyx",
    files: { ...files, "other.yaml": other, "other.md": "# Other\n\nNothing.\n" },
  });
  const { folder: cwd, env, sandbox } = service;
  const run = (text: string) => runHere(text.split(" "), { cwd, env });
  expect((await run("ingest docs --cc-pair-id 2 --state kept")).code).toBe(0);
  await sandbox.idle();
  expect((await run("chat dodo")).code).toBe(0);
  const without = await run(line);
  expect(without.stdout).not.toContain("docs/my leave.md");
  const found = await run(`${line} --state kept`);
  expect(found.stdout).toContain("docs/my leave.md");
  expect(found.code).toBe(without.code);
});
