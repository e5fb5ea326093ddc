import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../../src/database.ts";
import { main } from "../../../main.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { createTestContext, temporaryFolder } from "../../../support.ts";
import { acceptedIds } from "../support.ts";

const commands = [
  "ingest . --cc-pair-id 2",
  "ingest . --cc-pair-id 2 --dry-run",
  "retry --cc-pair-id 2",
  "prune . --cc-pair-id 2 --tombstone --dry-run",
  "explain a.md",
  "state list",
  "state export",
  "state forget --all --yes",
];

async function run(service: TestService, line: string, uid?: number, env = {}) {
  const context = createTestContext({ cwd: service.folder, env: { ...service.env, ...env } });
  const code = await main(line.split(" "), { ...context, uid: uid ?? context.uid });
  return { code, stderr: context.stderrText() };
}

describe("a state that came with the checkout", () => {
  it.each(commands)("is not used through a link: %s", async (line) => {
    const service = await startTestService({ files: { "a.md": "# A\n" } });
    const outside = temporaryFolder();
    mkdirSync(join(service.folder, ".knowctl"));
    symlinkSync(join(outside, "made.db"), join(service.folder, ".knowctl", "state.db"));
    const { code, stderr } = await run(service, line);
    expect(stderr).toMatch(/state\.db is a symbolic link: not used\n.*remove the link/);
    // Only an upload has the flag.
    expect(stderr).toContain("an upload also runs with --no-state");
    expect(code).toBe(14);
    expect(readdirSync(outside)).toEqual([]);
    expect(acceptedIds(service)).toEqual([]);
  });

  it.skipIf(process.platform === "win32").each(commands)(
    "is not used when it belongs to another user, unless the environment says so: %s",
    async (line) => {
      const service = await startTestService({ files: { "a.md": "# A\n" } });
      expect(await run(service, "ingest . --cc-pair-id 2")).toMatchObject({ code: 0 });
      const { code, stderr } = await run(service, line, 4_000_000);
      expect(stderr).toContain("belongs to another user");
      expect(stderr).toContain("KNOWCTL_TRUST_PROJECT=1");
      expect(code).toBe(14);
      const accepted = await run(service, line, 4_000_000, { KNOWCTL_TRUST_PROJECT: "1" });
      expect(accepted).toMatchObject({ code: 0 });
    },
  );

  it.each([
    ["{", "retry"],
    ["{}", "retry --dry-run"],
    ["null", "ingest docs --cc-pair-id 2 --tag x"],
    ["{", "status docs --cc-pair-id 2"],
    ["{", "state export"],
  ])("is named where its options are %s: %s", async (options, line) => {
    const bad = "---\nupdated: never\n---\n# B\n";
    const service = await startTestService({ files: { "docs/a.md": "# A\n", "docs/b.md": bad } });
    expect(await run(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 10 });
    writeFiles(service.folder, { "docs/a.md": "---\nid: other\n---\n# A\n", "docs/b.md": "# B\n" });
    const path = join(service.folder, ".knowctl", "state.db");
    const database = await openDatabase(path);
    database.prepare("UPDATE options SET json = ?").run(options);
    database.close();
    const { code, stderr } = await run(service, line);
    expect(stderr).toContain(`cannot use the state ${path}: its recorded options cannot be read`);
    expect(code).toBe(14);
  });

  it("is a failure of the doctor, and no help to a chat", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n\nAlpha.\n" } });
    symlinkSync(temporaryFolder(), join(service.folder, ".knowctl"), "junction");
    const { stderr } = await run(service, "doctor");
    expect(stderr).toContain(".knowctl is a symbolic link: not used");
    expect((await run(service, "chat Alpha")).code).not.toBe(14);
  });

  it("does not matter where none is used", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n" } });
    symlinkSync(join(service.folder, "none"), join(service.folder, ".knowctl"), "junction");
    expect(await run(service, "ingest a.md --cc-pair-id 2 --no-state")).toMatchObject({ code: 0 });
    expect(existsSync(join(service.folder, "none"))).toBe(false);
  });
});
