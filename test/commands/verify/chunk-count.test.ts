import { expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { runIn } from "../state/support.ts";

it.each([-1, 1e9])("reads no chunks of a document with %d chunks", async (count) => {
  const path = "/api/document/document-size-info";
  const body = { num_chunks: count, num_tokens: 0 };
  const service = await startTestService({
    files: { "docs/a.md": "# A\n\nalpha beta gamma\n" },
    dialect: "onyx",
    faults: { rules: [{ when: { path }, do: { body } }] },
  });
  await runIn(service, "ingest docs --cc-pair-id 2");
  await service.sandbox.idle();
  const ran = await runIn(service, "verify");
  expect([ran.code, ran.stderr]).toEqual([8, expect.stringContaining("num_chunks")]);
  const paths = service.sandbox.ledger.requests.map((each) => each.path);
  expect(paths.filter((each) => each.includes("chunk-info"))).toEqual([]);
});

it("reads no chunks where the index counts more of them than the text has characters", async () => {
  const chunk = { content: "alpha beta gamma", num_tokens: 3 };
  const service = await startTestService({
    files: { "docs/a.md": "# A\n\nalpha beta gamma\n" },
    dialect: "onyx",
    faults: {
      rules: [
        {
          when: { path: "/api/document/document-size-info" },
          do: { body: { num_chunks: 10_000, num_tokens: 0 } },
        },
        { when: { path: "/api/document/chunk-info" }, do: { body: chunk } },
      ],
    },
  });
  await runIn(service, "ingest docs --cc-pair-id 2");
  await service.sandbox.idle();
  const ran = await runIn(service, "verify");
  expect(ran.stdout).toMatch(/^unknown +docs\/a\.md: the index counts more chunks than/);
  expect(ran.code).toBe(10);
  const asked = service.sandbox.ledger.requests.filter(({ path }) => path.includes("chunk-info"));
  expect(asked).toEqual([]);
});
