import { describe, expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

// As a Mac may write it, and as it is typed elsewhere: one path, and one document id.
const nfd = "u\u0308ber";
const nfc = "\u00fcber";
const ingest = "ingest . --cc-pair-id 2";
const twins = {
  code: 2,
  stderr: expect.stringContaining("differ only in their Unicode normalisation"),
};

describe("names on the disk in another normal form", () => {
  it.each([
    ["files", `${nfd}.md`, `${nfc}.md`],
    ["files, the other first", `${nfc}.md`, `${nfd}.md`],
    ["folders", `${nfd}/a.md`, `${nfc}/a.md`],
  ])("are refused where both are there, also when one was sent before: %s", async (...names) => {
    const [, before, added] = names;
    const service = await startTestService({ files: { [before]: "one\n" } });
    expect(await runIn(service, ingest)).toMatchObject({ code: 0 });
    writeFiles(service.folder, { [added]: "two\n" });
    const refused = await runIn(service, ingest);
    expect(refused).toMatchObject(twins);
    // Told apart on a screen.
    expect(refused.stderr).toContain("u\\u{308}ber");
    expect(await runIn(service, `${ingest} --dry-run`)).toMatchObject(twins);
  });

  it("are refused where neither was sent before", async () => {
    const files = { [`${nfd}.md`]: "---\nid: one\n---\n1\n", [`${nfc}.md`]: "2\n" };
    expect(await runIn(await startTestService({ files }), ingest)).toMatchObject(twins);
  });

  it("keep their ids: another file cannot take one", async () => {
    const files = { [`${nfd}/${nfd}.md`]: "---\nid: taken\n---\none\n" };
    const service = await startTestService({ files });
    expect(await runIn(service, ingest)).toMatchObject({ code: 0 });
    writeFiles(service.folder, { "zz.md": "---\nid: taken\n---\ntwo\n" });
    expect(await runIn(service, ingest)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining(`taken: ${nfc}/${nfc}.md and zz.md`),
    });
  });

  it("are there for a retry, and not gone where they are only left out", async () => {
    const broken = "---\n[\n---\none\n";
    const service = await startTestService({ files: { [`${nfd}.md`]: broken, "a.md": "a\n" } });
    expect(await runIn(service, ingest)).toMatchObject({ code: 10 });
    writeFiles(service.folder, { [`${nfd}.md`]: "one\n" });
    const retried = await runIn(service, "retry --cc-pair-id 2");
    expect(retried).toMatchObject({ code: 0, stderr: expect.stringContaining("1 created") });
    const config = JSON.stringify({ ingest: { exclude: [`${nfc}.md`] } });
    writeFiles(service.folder, { ".cliconfig.json": config });
    const listed = await runIn(
      service,
      "prune . --cc-pair-id 2 --tombstone --dry-run --class excluded -o tsv",
    );
    expect(listed.stdout).toContain("\texcluded\t");
    expect(listed.stdout).not.toContain("\tgone\t");
  });
});
