import { join } from "node:path";
import { rmSync } from "node:fs";
import { expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

// The members stand in another order than the sorted ones of the state.
const config = {
  ingest: {
    link: "https://docs.example.com/{path}",
    metadata: { team: "people", area: "office" },
    rules: [{ tags: ["people"], match: "docs/**" }],
    frontMatter: { title: ["label"], id: ["uid"] },
  },
};

it("names no option as the reason where only a linked file changed", async () => {
  const started = await startTestService({
    files: {
      ".cliconfig.json": JSON.stringify(config),
      "docs/a.md": "# A\n\nSee [the other page](b.md).\n",
      "docs/b.md": "# B\n\nText.\n",
    },
  });
  const service = { ...started, env: { ...started.env, KNOWCTL_TRUST_PROJECT: "1" } };
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  rmSync(join(service.folder, "docs/b.md"));
  const linked = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(linked.stderr).toContain("1 updated");
  expect(linked.stderr).not.toContain("changed:");
  const { metadata: _, ...rest } = config.ingest;
  const other = { ingest: { ...rest, metadata: { team: "all" } } };
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify(other) });
  const changed = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(changed.stderr).toContain("1 changed: metadata changed");
});
