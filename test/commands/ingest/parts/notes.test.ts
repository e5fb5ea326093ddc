import { renameSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { lastAccepted, runIngest, startGitService } from "../support.ts";

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
  expect(await next()).toEqual(["3 unchanged", "# One\n\nThird.\n"]);
  // Nearer to the top than the one that was found.
  writeFiles(service.folder, { "b/Two.md": "Fourth.\n" });
  expect(await next()).toEqual(["1 created, 1 updated, 2 unchanged", "# One\n\nFourth.\n"]);
});

it("--since takes the pages that embed a note by name, where a note of that name appears", async () => {
  const service = await startGitService({
    files: {
      ".gitignore": ".knowctl\n",
      "docs/a/One.md": "# One\n\n![[Cafe\u{301}]] ![[new/Two]]\n",
      "docs/a/Other.md": "# Other\n\n![[three]]\n",
      "docs/b/c/Caf\u{e9}.md": "First.\n",
    },
  });
  const next = async (files: Record<string, string>): Promise<string | undefined> => {
    writeFiles(service.folder, files);
    service.commit();
    const { stderr } = await runIngest(service, ["docs"], { since: "HEAD~1" });
    return /done: (.*?) in /.exec(stderr)?.[1];
  };
  await runIngest(service, ["docs"], {});
  expect(await next({ "docs/b/CAFE\u{301}.md": "Second.\n" })).toBe("1 created, 1 updated");
  expect(lastAccepted(service, "docs/a/One.md")?.sections[0]?.text).toContain("Second. ![[new/");
  expect(await next({ "docs/x/new/Two.md": "Two.\n" })).toBe("1 created, 1 updated");
  expect(lastAccepted(service, "docs/a/One.md")?.sections[0]?.text).toContain("Second. Two.");
  expect(await next({ "docs/x/y.md": "Nothing else.\n" })).toBe("1 created");
});
