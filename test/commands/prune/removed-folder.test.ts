import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { runIn } from "../state/support.ts";
import { listGone } from "./support.ts";

const files = {
  "docs/a/one.md": "# One\n\nText.\n",
  "docs/b/two.md": "# Two\n\nText.\n",
  "docs/b/deep/three.md": "# Three\n\nText.\n",
  "docs/bc.md": "# Four\n\nText.\n",
};

async function startUploaded() {
  const service = await startTestService({ files, dialect: "onyx" });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  return service;
}

const paths = (stdout: string): string[] =>
  stdout.split("\n").flatMap((line) => line.split("\t")[1] ?? []);

it.each([
  ["a folder", "docs/b", ["docs/b/deep/three.md", "docs/b/two.md"]],
  ["a file", "docs/b/two.md", ["docs/b/two.md"]],
  ["a folder in a removed one", "docs/b/deep", ["docs/b/deep/three.md"]],
])("lists the documents of %s that was removed", async (_name, path, listed) => {
  const service = await startUploaded();
  rmSync(join(service.folder, "docs/b"), { recursive: true });
  expect(await listGone(service, path)).toEqual(listed.map((each) => `gone ${each}`));
  const dry = await runIn(service, `prune ${path} --dry-run --max-delete 100%`);
  expect([dry.code, paths(dry.stdout)]).toEqual([0, listed]);
});

it("removes the documents of a removed folder, and then says that there is none", async () => {
  const service = await startUploaded();
  rmSync(join(service.folder, "docs/b"), { recursive: true });
  const prune = "prune docs/b --yes";
  const tooMany = await runIn(service, prune);
  expect(tooMany).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("--max-delete allows 1"),
  });
  const { code, stdout } = await runIn(service, `${prune} --max-delete 2`);
  expect([code, paths(stdout)]).toEqual([0, ["docs/b/deep/three.md", "docs/b/two.md"]]);
  expect((await runIn(service, "prune")).stderr).toContain("nothing to remove");
  const again = await runIn(service, "prune docs/b");
  expect(again).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("no such file or folder: docs/b"),
  });
});

it("refuses to remove where the folder above is empty: it may not be mounted", async () => {
  const service = await startUploaded();
  rmSync(join(service.folder, "docs"), { recursive: true });
  mkdirSync(join(service.folder, "docs"));
  const line = "prune docs/b --yes --max-delete 9";
  const { code, stderr } = await runIn(service, line);
  expect(code).toBe(2);
  expect(stderr).toMatch(/none of the recorded files exists|no file was found/);
});

it.each(["docs/nosuch", "docs/b/tw", "docs/nosuch*"])(
  "says that %s does not exist: nothing of it is recorded",
  async (path) => {
    const service = await startUploaded();
    rmSync(join(service.folder, "docs/b"), { recursive: true });
    const { code, stderr } = await runIn(service, ["prune", path, "--dry-run"]);
    expect(code).toBe(2);
    const isGlob = path.includes("*");
    expect(stderr).toContain(isGlob ? "no file was found" : `no such file or folder: ${path}`);
    const { stderr: listed } = await runIn(service, ["status", path]);
    expect(listed).toContain(isGlob ? "nothing to compare" : `no such file or folder: ${path}`);
  },
);

it("an upload still refuses a path that does not exist", async () => {
  const service = await startUploaded();
  rmSync(join(service.folder, "docs/b"), { recursive: true });
  const { code, stderr } = await runIn(service, "ingest docs/b --cc-pair-id 2");
  expect(code).toBe(2);
  expect(stderr).toContain("no such file or folder: docs/b");
});
