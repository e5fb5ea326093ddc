import { expect, it } from "vitest";
import { lastAccepted } from "../../commands/ingest/support.ts";
import { startTestService } from "../../service.ts";
import { runCli } from "../../support.ts";

const png = Buffer.from("\x89PNG\r\n\x1a\none", "latin1");

// The broken Word file brings the worker threads in: what is uploaded has to come out of them.
const files = {
  "docs/a.md": "# A\n\n![one](one.png)\n",
  "docs/b.md": "# B\n\n![one](one.png)\n",
  "docs/broken.docx": "no archive",
  "docs/one.png": png,
};

it.each(["standard", "onyx"] as const)("uploads images once (%s)", async (dialect) => {
  const service = await startTestService({ files, dialect });
  const args = ["ingest", "docs", "--cc-pair-id", "2", "--images", "upload"];
  const result = await runCli(args, { cwd: service.folder, env: service.env });
  expect(result).toMatchObject({ code: 10, stdout: "" });
  expect(result.stderr).toContain("2 created");
  const [first, second] = ["docs/a.md", "docs/b.md"].map(
    (id) => lastAccepted(service, id)?.sections[1]?.image_file_id,
  );
  expect(first).toMatch(/^[0-9a-f-]{36}$/);
  expect(second).toBe(first);
  const uploads = service.sandbox.ledger.requests.filter(({ path }) => path.endsWith("/upload"));
  expect(uploads).toHaveLength(1);
});
