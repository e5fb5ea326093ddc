import { expect, it } from "vitest";
import { startTestService, type TestServiceOptions } from "../../service.ts";
import { runIn } from "../state/support.ts";

const files = {
  "docs/a.md": "# A\n\nAlpha beta gamma delta.\n",
  "docs/b.md": `# B\n\n${"Long text of the second page, cut into chunks. ".repeat(120)}\n`,
};

type Rules = NonNullable<NonNullable<TestServiceOptions["faults"]>["rules"]>;
const size = "/api/document/document-size-info";
const chunk = "/api/document/chunk-info";
const answers = (path: string, body: unknown): Rules[number] => ({ when: { path }, do: { body } });

const lies: [what: string, rules: Rules][] = [
  [
    "the same chunk for every number",
    [
      answers(size, { num_chunks: 3, num_tokens: 9 }),
      answers(chunk, { content: "Alpha beta gamma delta.", num_tokens: 4 }),
    ],
  ],
  [
    "the text once more in each chunk",
    [
      answers(size, { num_chunks: 2, num_tokens: 9 }),
      answers(chunk, { content: "# A\n\nAlpha beta gamma delta.", num_tokens: 4 }),
    ],
  ],
  ["fewer chunks than there are", [answers(size, { num_chunks: 1, num_tokens: 9 })]],
  ["more chunks than there are", [answers(size, { num_chunks: 900, num_tokens: 9 })]],
  ["a negative count", [answers(size, { num_chunks: -1, num_tokens: 0 })]],
  ["an infinite count", [answers(size, '{"num_chunks": 1e999, "num_tokens": 0}')]],
  ["no count", [answers(size, { num_tokens: 0 })]],
  ["a count as text", [answers(size, { num_chunks: "1", num_tokens: 0 })]],
  ["a list", [answers(size, [])]],
  ["chunks without text", [answers(chunk, { num_tokens: 0 })]],
  ["chunks of a number", [answers(chunk, { content: 7, num_tokens: 0 })]],
  ["empty chunks", [answers(chunk, { content: "", num_tokens: 0 })]],
  [
    "half of the chunks",
    [{ when: { path: chunk, after: 2 }, do: { status: 404, body: { detail: "Chunk not found" } } }],
  ],
];

it.each(lies)("is never called current by a service that answers %s", async (what, rules) => {
  const service = await startTestService({ dialect: "onyx", files, faults: { rules } });
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
  await service.sandbox.idle();
  const { code, stdout } = await runIn(service, "verify docs/b.md --json");
  expect([8, 10, 13]).toContain(code);
  if (code !== 8)
    expect(JSON.parse(stdout)).toMatchObject({ summary: { current: 0, documents: 1 } });
  if (what.startsWith("the same") || what.startsWith("the text")) {
    const first = await runIn(service, "verify docs/a.md");
    expect(first.stdout).not.toMatch(/^current/m);
    expect(first.code).not.toBe(0);
  }
});

it("calls a document stale that another project overwrote", async () => {
  const service = await startTestService({ dialect: "onyx", files });
  expect((await runIn(service, "ingest docs --cc-pair-id 2")).code).toBe(0);
  const other = { "docs/a.md": "# A\n\nAlpha beta gamma epsilon.\n" };
  const theirs = await startTestService({ dialect: "onyx", files: other });
  const env = { ...theirs.env, KNOWCTL_BASE_URL: service.sandbox.url };
  const overwrite = "ingest docs --cc-pair-id 3 --overwrite --allow-pruned";
  expect((await runIn({ ...theirs, env }, overwrite)).code).toBe(0);
  await service.sandbox.idle();
  const { code, stdout } = await runIn(service, "verify");
  expect(stdout).toMatch(/^stale +docs\/a\.md/);
  expect(code).toBe(13);
});
