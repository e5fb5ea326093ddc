import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { lastAccepted, runIngest } from "../support.ts";

it("a note of a vault that appears, changes or moves changes the pages that embed it", async () => {
  const files = { ".obsidian/app.json": "{}", "a/One.md": "# One\n\n![[Two]]\n" };
  const service = await startTestService({ files });
  const next = async (): Promise<[counts: string | undefined, text: string | undefined]> => {
    const { stderr } = await runIngest(service, ["."], {});
    const counts = /done: (.*?) in /.exec(stderr)?.[1];
    return [counts, lastAccepted(service, "a/One.md")?.sections[0]?.text];
  };
  expect(await next()).toEqual(["1 created", "# One\n\n![[Two]]\n"]);
  writeFiles(service.folder, { "b/new/Two.md": "First.\n", "c/x.md": "# X\n\nText.\n" });
  expect(await next()).toEqual(["2 created, 1 updated", "# One\n\nFirst.\n"]);
  writeFiles(service.folder, { "b/new/Two.md": "Second.\n" });
  expect(await next()).toEqual(["2 updated, 1 unchanged", "# One\n\nSecond.\n"]);
  renameSync(join(service.folder, "b/new/Two.md"), join(service.folder, "c/Two.md"));
  writeFiles(service.folder, { "c/Two.md": "Third.\n" });
  expect(await next()).toEqual(["1 created, 1 updated, 1 unchanged", "# One\n\nThird.\n"]);
});
