import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { runIngest, startGitService } from "../support.ts";
import { ingestUntilTrusted, recordedFiles } from "./recorded-files.ts";

const png = (text: string): Buffer =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(text)]);

const files = {
  "docs/a.md": "# A\n\n![one](one.png)\n",
  "docs/b.md": "# B\n\n![two](two.png) ![gone](gone.png)\n",
  "docs/c.md": "# C\n\nNo image.\n",
  "docs/one.png": png("one"),
  "docs/two.png": png("two"),
};
const upload = { images: "upload" } as const;

async function next(service: TestService): Promise<[read: string[], done: string]> {
  const { stale } = await recordedFiles(service);
  const { stderr } = await runIngest(service, ["docs"], upload);
  return [stale, /(?:done: |nothing to send, )?([\d a-z,]*unchanged)/.exec(stderr)?.[1] ?? stderr];
}

it("documents with unchanged images are not read, also with missing ones", async () => {
  const service = await startTestService({ files });
  expect(await ingestUntilTrusted(service, upload)).toEqual([]);
  expect((await runIngest(service, ["docs"], upload)).stderr).toContain("3 unchanged");
});

it("a changed, a new and a vanished image concern exactly their documents", async () => {
  const service = await startTestService({ files });
  await ingestUntilTrusted(service, upload);
  writeFiles(service.folder, { "docs/one.png": png("other") });
  expect(await next(service)).toEqual([["docs/a.md"], "1 updated, 2 unchanged"]);
  await ingestUntilTrusted(service, upload);
  writeFiles(service.folder, { "docs/gone.png": png("here") });
  expect(await next(service)).toEqual([["docs/b.md"], "1 updated, 2 unchanged"]);
  await ingestUntilTrusted(service, upload);
  rmSync(join(service.folder, "docs/two.png"));
  expect(await next(service)).toEqual([["docs/b.md"], "1 updated, 2 unchanged"]);
});

it("an image with new times and the same content is read, and nothing is sent", async () => {
  const service = await startTestService({ files });
  await ingestUntilTrusted(service, upload);
  writeFiles(service.folder, { "docs/one.png": png("one") });
  expect(await next(service)).toEqual([["docs/a.md"], "3 unchanged"]);
});

it("a content comparison reads documents with images again", async () => {
  const service = await startTestService({ files });
  await ingestUntilTrusted(service, upload);
  writeFiles(service.folder, { "docs/one.png": png("other") });
  const { stderr } = await runIngest(service, ["docs"], { ...upload, checksum: true });
  expect(stderr).toContain("1 updated, 2 unchanged");
});

it("--since takes the documents of a changed, a new and a deleted image", async () => {
  const service = await startGitService({ files });
  await runIngest(service, ["docs"], upload);
  const since = { ...upload, since: "HEAD" };
  writeFiles(service.folder, { "docs/one.png": png("other") });
  expect((await runIngest(service, ["docs"], since)).stderr).toContain("done: 1 updated");
  service.commit();
  writeFiles(service.folder, { "docs/gone.png": png("here") });
  expect((await runIngest(service, ["docs"], since)).stderr).toContain("done: 1 updated");
  service.commit();
  rmSync(join(service.folder, "docs/two.png"));
  expect((await runIngest(service, ["docs"], since)).stderr).toContain("done: 1 updated");
});
