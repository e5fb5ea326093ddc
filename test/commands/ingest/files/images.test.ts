import { realpathSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createGate } from "../../../../src/api/retry/gate.ts";
import { createImageUploads } from "../../../../src/commands/ingest/upload/sender.ts";
import { readImage } from "../../../../src/documents/map/images/images.ts";
import { openClient } from "../../../api/support.ts";
import { startTestService, testKey, writeFiles, type TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { runIngest, lastAccepted } from "../support.ts";

const png = (text: string): Buffer =>
  Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from(text)]);

const files = {
  "docs/a.md": "# A\n\n![one](one.png)\n",
  "docs/b.md": "# B\n\n![the same](copy.png) ![two](two.png)\n",
  "docs/c.md": "# C\n\nNo image.\n",
  "docs/one.png": png("one"),
  "docs/copy.png": png("one"),
  "docs/two.png": png("two"),
};
const imagePath = "/api/user/file/upload";

function uploadCount(service: TestService): number {
  return service.sandbox.ledger.requests.filter(({ path }) => path === imagePath).length;
}

function imageIds(service: TestService, id: string): string[] {
  const sections = lastAccepted(service, id)?.sections ?? [];
  return sections.flatMap(({ image_file_id }) => image_file_id ?? []);
}

const upload = { images: "upload" } as const;

describe("--images upload", () => {
  it("uploads each content once and names it in each document", async () => {
    const service = await startTestService({ files });
    const { stderr, error } = await runIngest(service, ["docs"], upload);
    expect(error).toBeUndefined();
    expect(stderr).toContain("3 created");
    expect(uploadCount(service)).toBe(2);
    const [one, two] = imageIds(service, "docs/b.md");
    expect(imageIds(service, "docs/a.md")).toEqual([one]);
    expect(two).toMatch(/^[0-9a-f-]{36}$/);
  });

  it("remembers the ids: a changed text brings no image again, --force does", async () => {
    const service = await startTestService({ files });
    await runIngest(service, ["docs"], upload);
    const before = imageIds(service, "docs/a.md");
    const second = await runIngest(service, ["docs"], upload);
    expect(second.stderr).toContain("3 unchanged");
    writeFiles(service.folder, { "docs/a.md": "# A\n\nMore. ![one](one.png)\n" });
    const third = await runIngest(service, ["docs"], upload);
    expect(third.stderr).toContain("1 updated, 2 unchanged");
    expect(imageIds(service, "docs/a.md")).toEqual(before);
    expect(uploadCount(service)).toBe(2);
    await runIngest(service, ["docs"], { ...upload, force: true });
    expect(uploadCount(service)).toBe(4);
    expect(imageIds(service, "docs/a.md")).not.toEqual(before);
    expect(imageIds(service, "docs/a.md")[0]).toBe(imageIds(service, "docs/b.md")[0]);
  });

  it("sends a document again when its image changed", async () => {
    const service = await startTestService({ files });
    await runIngest(service, ["docs"], upload);
    writeFiles(service.folder, { "docs/two.png": png("three") });
    const { stderr } = await runIngest(service, ["docs"], upload);
    expect(stderr).toContain("1 updated, 2 unchanged");
    expect(uploadCount(service)).toBe(3);
  });

  it("remembers for the run only without a state", async () => {
    const service = await startTestService({ files });
    await runIngest(service, ["docs"], { ...upload, state: false });
    expect(uploadCount(service)).toBe(2);
    await runIngest(service, ["docs"], { ...upload, state: false });
    expect(uploadCount(service)).toBe(4);
  });

  it.each([
    ["413", { status: 413, body: { detail: "too large" } }],
    ["rejected", { body: { user_files: [], rejected_files: [{ file_name: "x", reason: "no" }] } }],
    ["no id", { body: [] }],
  ])("a refused image (%s) is the failure of its documents alone", async (_name, answer) => {
    const faults = { rules: [{ when: { path: imagePath }, do: answer }] };
    const service = await startTestService({ files, faults });
    const { stderr, error } = await runIngest(service, ["docs"], upload);
    expect(error).toMatchObject({ exit: "partial" });
    expect(stderr).toContain("1 created, 3 skipped, 2 failed");
    expect(stderr).toContain("docs/a.md: upload one.png: ");
    expect(lastAccepted(service, "docs/a.md")).toBeUndefined();
  });

  it("says what to do where the service takes no images", async () => {
    const faults = { rules: [{ when: { path: imagePath }, do: { status: 404 } }] };
    const service = await startTestService({ files, faults });
    const { error } = await runIngest(service, ["docs"], upload);
    expect(error).toMatchObject({ exit: "not-found" });
    expect(error?.hints.join(" ")).toContain("--images skip");
  });

  it("tries again what failed for now, and tells uploads whose answer was lost", async () => {
    const lost = { when: { path: imagePath, nth: 1 }, do: "reset-after-store" as const };
    const service = await startTestService({ files, faults: { rules: [lost] } });
    const { stderr, error } = await runIngest(service, ["docs"], upload);
    expect(error).toBeUndefined();
    expect(stderr).toContain("3 created");
    expect(stderr).toContain("1 image upload got no response");
  });

  it("a dry run uploads nothing and tells what would be sent", async () => {
    const service = await startTestService({ files });
    const { stdout } = await runIngest(service, ["docs"], { ...upload, dryRun: true });
    expect(stdout.split("\n").filter(Boolean)).toHaveLength(3);
    // The listing of the connectors alone.
    expect(service.sandbox.ledger.requestCount).toBe(1);
    expect(service.sandbox.ledger.documents.size).toBe(0);
  });

  it("a missing image is a warning, and found once it is there", async () => {
    const service = await startTestService({ files });
    rmSync(join(service.folder, "docs/one.png"));
    const first = await runIngest(service, ["docs"], upload);
    expect(first.stderr).toContain("docs/a.md:3: image one.png skipped: no such file");
    writeFiles(service.folder, { "docs/one.png": png("one") });
    expect((await runIngest(service, ["docs"], upload)).stderr).toContain("1 updated, 2 unchanged");
  });
});

it("an image that changed since its document was mapped is refused", async () => {
  const service = await startTestService({ files });
  const root = realpathSync(service.folder);
  const client = openClient(service.sandbox.url, { accessToken: testKey, apiKey: testKey });
  const found = readImage(root, join(root, "docs/a.md"), { path: "one.png", isFromRoot: false });
  if (!("image" in found)) throw new Error(found.problem);
  writeFiles(root, { "docs/one.png": png("two") });
  const signal = new AbortController().signal;
  const clock = createTestContext({ cwd: root });
  const uploads = createImageUploads(client, root, createGate({ ceiling: 4, clock, signal }));
  await expect(uploads.upload(found.image)).rejects.toMatchObject({
    exit: "usage",
    message: "docs/one.png: the image changed during the run",
  });
  await client.close();
});

it("images are left out and counted unless asked for", async () => {
  const service = await startTestService({ files });
  const { stderr } = await runIngest(service, ["docs"]);
  expect(stderr).toContain("3 images in the text skipped");
  expect(uploadCount(service)).toBe(0);
  // Asked for, the documents are others.
  expect((await runIngest(service, ["docs"], upload)).stderr).toContain("2 updated, 1 unchanged");
});
