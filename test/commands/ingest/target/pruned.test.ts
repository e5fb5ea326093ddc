import { expect, it } from "vitest";
import { startTestService } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

const files = { "docs/a.md": "# A\n" };
const line = { stdin: '{"id":"a","title":"A","sections":[{"text":"x"}]}' };

it.each([
  ["ingest docs --cc-pair-id 3", {}],
  ["ingest docs --cc-pair-id 3 --dry-run", {}],
  ["ingest - --cc-pair-id 3", line],
])("a pair whose connector prunes is refused before anything is sent: %s", async (text, given) => {
  const service = await startTestService({ files });
  const ran = await runIn(service, text, given);
  expect(ran.stderr).toContain(
    "error: pair 3 (Public website) belongs to a web connector that prunes: it deletes documents that it did not crawl; nothing was sent",
  );
  expect(ran.stderr).toContain("--allow-pruned");
  expect(ran.code).toBe(2);
  expect(service.sandbox.ledger.documents.size).toBe(0);
  expect((await runIn(service, `${text} --allow-pruned`, given)).code).toBe(0);
});

it("a crawled pair without pruning is taken", async () => {
  const service = await startTestService({ files });
  expect((await runIn(service, "ingest docs --cc-pair-id 4")).code).toBe(0);
});
