import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { runIn } from "../../state/support.ts";
import { acceptedIds, lastAccepted } from "../support.ts";

const oid = "4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393";
const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${oid}\nsize 12345\n`;
const why = "a Git LFS pointer, not the file itself";
const remedy = "git lfs pull";

const extensions = ["md", "markdown", "mdx", "txt", "rst", "adoc", "html", "htm", "docx", "pdf"];
const named = ["json", "ndjson", "csv", "tsv", "md.gz", "ndjson.gz"];

interface Failed {
  status: string;
  path: string;
  reason: string;
}

function failuresIn(stdout: string): Failed[] {
  const lines = stdout.split("\n").filter(Boolean);
  return lines
    .map((line) => JSON.parse(line) as Failed)
    .filter(({ status }) => status === "failed");
}

describe("Git LFS pointers", () => {
  it("are failures of their files in every format, and the rest goes on", async () => {
    const names = [...extensions, ...named].map((extension) => `docs/page.${extension}`);
    const files = Object.fromEntries(names.map((name) => [name, pointer]));
    const service = await startTestService({ files: { ...files, "docs/good.md": "# Good\n" } });
    const inputs = ["docs", ...names.slice(extensions.length)].join(" ");
    const ran = await runIn(service, `ingest ${inputs} --cc-pair-id 2 -o ndjson`);
    expect(ran.code).toBe(10);
    const failures = failuresIn(ran.stdout);
    expect(failures.map(({ path }) => path).toSorted()).toEqual(names.toSorted());
    for (const { path, reason } of failures) {
      expect(reason).toContain(`${path}: ${why}`);
      expect(reason).toContain(remedy);
    }
    expect(acceptedIds(service)).toEqual(["docs/good.md"]);
    const explained = await runIn(service, "explain docs/page.md");
    expect(explained).toMatchObject({ code: 2, stderr: expect.stringContaining(remedy) });
    const printed = await runIn(service, "convert docs/page.md");
    expect(printed).toMatchObject({ code: 10, stdout: "", stderr: expect.stringContaining(why) });
  });

  it("are failures also on stdin", async () => {
    const service = await startTestService();
    const line = "ingest - --format markdown --id docs/page.md --cc-pair-id 2";
    const ran = await runIn(service, line, { stdin: pointer });
    expect(ran).toMatchObject({ code: 10, stderr: expect.stringContaining(`stdin: ${why}`) });
    expect(ran.stderr).toContain(remedy);
    expect(acceptedIds(service)).toEqual([]);
  });

  it("are failures also where the pointer was packed, has other line ends, or an extension", async () => {
    const extended = pointer.replace("oid", `ext-0-crypt sha256:${oid}\noid`);
    const service = await startTestService({
      files: {
        "a.md.gz": gzipSync(pointer),
        "b.md": pointer.replaceAll("\n", "\r\n"),
        "c.md": pointer.trimEnd(),
        "d.md": extended,
        "e.md": pointer.replace("git-lfs", "hawser"),
      },
    });
    const ran = await runIn(service, "ingest . a.md.gz --cc-pair-id 2 -o ndjson");
    expect(failuresIn(ran.stdout)).toHaveLength(5);
    expect(acceptedIds(service)).toEqual([]);
  });

  it("are not what a document says about them", async () => {
    const files = {
      "about.md": `# Pointers\n\n${pointer}`,
      "more.txt": `${pointer}\nThe size is in bytes.\n`,
      "first.txt": "version https://git-lfs.github.com/spec/v1\nis the first line of a pointer.\n",
    };
    const service = await startTestService({ files });
    expect(await runIn(service, "ingest . --cc-pair-id 2")).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["about.md", "first.txt", "more.txt"]);
  });

  it("neither overwrite a document that was sent nor make an orphan of it", async () => {
    const files = { "docs/a.md": "# A\n\nGood.\n", "docs/b.md": "# B\n" };
    const service = await startTestService({ files, dialect: "onyx" });
    await runIn(service, "ingest docs --cc-pair-id 2");
    writeFiles(service.folder, { "docs/a.md": pointer });
    const ran = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(ran).toMatchObject({ code: 10, stderr: expect.stringContaining(`docs/a.md: ${why}`) });
    expect(lastAccepted(service, "docs/a.md")?.sections[0]?.text).toContain("Good.");
    const orphans = await runIn(service, "prune docs --cc-pair-id 2 --dry-run -o ndjson");
    expect(orphans).toMatchObject({ code: 2, stdout: expect.not.stringContaining("gone") });
    writeFiles(service.folder, { "docs/a.md": "# A\n\nPulled.\n" });
    expect(await runIn(service, "retry --cc-pair-id 2")).toMatchObject({ code: 0 });
    expect(lastAccepted(service, "docs/a.md")?.sections[0]?.text).toContain("Pulled.");
  });

  it("in the place of an image fail the document that refers to it", async () => {
    const png = Buffer.concat([Buffer.from("\x89PNG\r\n\x1a\n", "latin1"), Buffer.from("one")]);
    const text = "# A\n\nSee\n![plan](plan.png)\n";
    const service = await startTestService({ files: { "docs/a.md": text, "docs/plan.png": png } });
    const line = "ingest docs --cc-pair-id 2 --images upload";
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    writeFiles(service.folder, { "docs/plan.png": pointer });
    const ran = await runIn(service, `${line} -o ndjson`);
    expect(ran.code).toBe(10);
    expect(failuresIn(ran.stdout)).toMatchObject([{ path: "docs/a.md" }]);
    expect(ran.stdout).toContain(`docs/a.md:4: image plan.png: ${why}`);
    expect(ran.stdout).toContain(remedy);
    expect(lastAccepted(service, "docs/a.md")?.sections).toHaveLength(2);
    expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  });
});
