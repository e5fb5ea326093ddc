import { expect, it } from "vitest";
import { startTestService } from "../../../service.ts";
import { runIn } from "../../state/support.ts";
import { acceptedIds } from "../support.ts";

it.each([
  [["--jq", ".counts"]],
  [["--filter", "action=new"]],
  [["--fields", "path"]],
  [["--dry-run", "--jq", ".counts"]],
])("an upload and its plan refuse %j instead of writing all", async (flags) => {
  const service = await startTestService({ files: { "docs/a.md": "A\n" } });
  const ran = await runIn(service, ["ingest", "docs", "--cc-pair-id", "2", "-o", "json", ...flags]);
  expect(ran).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("| jq") });
  expect(acceptedIds(service)).toEqual([]);
});

it("what the environment asks of every list is no mistake here", async () => {
  const service = await startTestService({ files: { "docs/a.md": "A\n" } });
  const env = { ...service.env, KNOWCTL_FIELDS: "name" };
  const ran = await runIn({ folder: service.folder, env }, "ingest docs --cc-pair-id 2");
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("1 created") });
});
