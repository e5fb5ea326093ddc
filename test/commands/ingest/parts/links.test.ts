import { renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { lastAccepted, runIngest, startGitService } from "../support.ts";
import { ingestUntilTrusted, recordedFiles } from "./recorded-files.ts";

const files = {
  "docs/from.md": "# From\n\n[a](target.md) [b](later.md) [c](sub/page)\n",
  "docs/other.md": "# Other\n\n[a](sub/page.md)\n",
  "docs/plain.md": "# Plain\n\nNo link.\n",
  "docs/target.md": "# Target\n\nText.\n",
  "docs/sub/page.md": "# Page\n\nText.\n",
};
const options = { link: "https://x.example/{slug}" };

async function next(service: TestService): Promise<[read: string[], counts: string]> {
  const { stale } = await recordedFiles(service);
  const { stderr } = await runIngest(service, ["docs"], options);
  return [stale, /(?:\d+ \w+, )*\d+ unchanged/.exec(stderr)?.[0] ?? stderr];
}

function textOf(service: TestService, id: string): string {
  return lastAccepted(service, id)?.sections[0]?.text ?? "";
}

async function start(): Promise<TestService> {
  const service = await startTestService({ files });
  expect(await ingestUntilTrusted(service, options)).toEqual([]);
  return service;
}

it("a target with another text is read, its dependents too, and it alone is sent", async () => {
  const service = await start();
  writeFiles(service.folder, { "docs/target.md": "# Target\n\nOther text.\n" });
  expect(await next(service)).toEqual([
    ["docs/from.md", "docs/target.md"],
    "1 updated, 4 unchanged",
  ]);
});

it("a target with another link in its front matter changes its dependents", async () => {
  const service = await start();
  writeFiles(service.folder, {
    "docs/sub/page.md": "---\nlink: https://y.example/p\n---\n# Page\n",
  });
  expect(await next(service)).toEqual([
    ["docs/from.md", "docs/other.md", "docs/sub/page.md"],
    "3 updated, 2 unchanged",
  ]);
  expect(textOf(service, "docs/other.md")).toContain("[a](https://y.example/p)");
});

it("a renamed, a new and a vanished target change exactly their dependents", async () => {
  const service = await start();
  renameSync(join(service.folder, "docs/target.md"), join(service.folder, "docs/later.md"));
  const [read, counts] = await next(service);
  expect([read, counts]).toEqual([
    ["docs/from.md", "docs/target.md"],
    "1 created, 1 updated, 3 unchanged",
  ]);
  expect(textOf(service, "docs/from.md")).toContain(
    "[a](target.md) [b](https://x.example/docs/later) [c](https://x.example/docs/sub/page)",
  );
  await ingestUntilTrusted(service, options);
  rmSync(join(service.folder, "docs/later.md"));
  // The state still knows the documents of the files that are gone.
  const gone = ["docs/later.md", "docs/target.md"];
  expect((await next(service))[0]).toEqual(["docs/from.md", ...gone]);
  expect(textOf(service, "docs/from.md")).toContain("[b](later.md)");
});

it("an unchanged folder of 1,000 linked pages is not read", async () => {
  const pages = Object.fromEntries(
    Array.from({ length: 1000 }, (_, index) => [
      `docs/${index}.md`,
      `[n](${(index + 1) % 1000}.md) [p](./${(index + 999) % 1000}) [gone](x${index}.md)\n`,
    ]),
  );
  const service = await startTestService({ files: pages });
  expect(await ingestUntilTrusted(service, options)).toEqual([]);
  const { stderr } = await runIngest(service, ["docs"], options);
  expect(stderr).toContain("1,000 unchanged");
  // A finding is reported when the file is read.
  expect(stderr).not.toContain("no file");
});

it("dead links are counted in one line", async () => {
  const service = await startTestService({ files });
  const { stderr } = await runIngest(service, ["docs"], options);
  expect(stderr).toContain(
    "warning: 1 link leads to no file and stays as written (first: docs/from.md:3: later.md)",
  );
});

it("--since takes the dependents of a changed, a renamed and a new file", async () => {
  const service = await startGitService({ files });
  await runIngest(service, ["docs"], options);
  const since = { ...options, since: "HEAD" };
  writeFiles(service.folder, { "docs/target.md": "---\nlink: https://y.example/t\n---\nText.\n" });
  expect((await runIngest(service, ["docs"], since)).stderr).toContain("2 updated");
  expect(textOf(service, "docs/from.md")).toContain("[a](https://y.example/t)");
  service.commit();
  service.git("mv", "docs/sub/page.md", "docs/later.md");
  expect((await runIngest(service, ["docs"], since)).stderr).toContain("1 created, 2 updated");
  expect(textOf(service, "docs/other.md")).toContain("[a](sub/page.md)");
});
