import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles } from "../../../service.ts";
import { runIn } from "../../state/support.ts";

const broken = "---\nupdated: yesterday\n---\n# B\n";
const key = "handbook";
const upload = "ingest docs --cc-pair-id 2 --id-prefix handbook/";

function start() {
  const files = { "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
  return startTestService({ files, dialect: "onyx", key });
}

/** A key of fewer than 16 characters may be an ordinary word of paths and ids. */
describe("a short key that is a part of the ids", () => {
  it("makes no document an orphan", async () => {
    const service = await start();
    expect(await runIn(service, upload)).toMatchObject({ code: 0 });
    const line = "prune --cc-pair-id 2 --tombstone --yes --max-delete 100%";
    const ran = await runIn(service, line);
    expect(ran.code).toBe(0);
    expect(ran.stderr).toContain("nothing to remove");
    expect(ran.stderr).not.toContain("replaced");
  });

  it("is whole in what a retry sends", async () => {
    const service = await start();
    writeFiles(service.folder, { "docs/b.md": broken });
    expect(await runIn(service, upload)).toMatchObject({ code: 10 });
    writeFiles(service.folder, { "docs/b.md": "# Good\n" });
    expect(await runIn(service, "retry")).toMatchObject({ code: 0 });
    const ids = [...service.sandbox.ledger.documents.keys()].toSorted();
    expect(ids).toEqual(["handbook/docs/a.md", "handbook/docs/b.md"]);
  });

  it("does not hide that another pair has a document", async () => {
    const service = await start();
    expect(await runIn(service, upload.replace("--cc-pair-id 2", "--cc-pair-id 7"))).toMatchObject({
      code: 0,
    });
    rmSync(join(service.folder, ".knowctl"), { recursive: true });
    writeFiles(service.folder, { "docs/a.md": "# Other\n" });
    expect(await runIn(service, upload)).toMatchObject({ code: 10 });
  });

  it("does not keep an orphan from being deleted", async () => {
    const service = await start();
    expect(await runIn(service, upload)).toMatchObject({ code: 0 });
    rmSync(join(service.folder, "docs/a.md"));
    const line = "prune . --cc-pair-id 2 --yes";
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    expect((await runIn(service, "state list --fields path -o tsv")).stdout).toBe("docs/b.md\n");
  });

  it("is not taken from a report, which hides it", async () => {
    const service = await start();
    writeFiles(service.folder, { "docs/b.md": broken });
    const line = `${upload} --report run.json`;
    expect(await runIn(service, line)).toMatchObject({ code: 10 });
    writeFiles(service.folder, { "docs/b.md": "# Good\n" });
    const ran = await runIn(service, "retry run.json");
    expect(ran).toMatchObject({ code: 10 });
    expect(ran.stderr).toContain("docs/b.md: not sent: cannot tell its id");
  });
});
