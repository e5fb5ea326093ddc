import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds } from "../support.ts";

async function run(service: TestService, args: string, env: Record<string, string> = {}) {
  const context = createTestContext({ cwd: service.folder, env: { ...service.env, ...env } });
  const code = await main(args.split(" "), context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const prefixed = JSON.stringify({ ingest: { idPrefix: "kb/" } });
const files = { ".cliconfig.json": prefixed, "docs/a.md": "# A\n" };
const upload = "ingest docs --cc-pair-id 2";

describe("an untrusted project file that shapes ids", () => {
  it("stops an upload before anything is sent", async () => {
    const service = await startTestService({ files });
    const stopped = await run(service, upload);
    expect(stopped.code).toBe(3);
    expect(stopped.stderr).toContain(".cliconfig.json is not trusted");
    expect(stopped.stderr).toContain('ingest.idPrefix: "kb/"');
    expect(acceptedIds(service)).toEqual([]);
    expect(service.sandbox.ledger.requests).toEqual([]);
    expect(existsSync(join(service.folder, ".knowctl"))).toBe(false);
    expect(await run(service, upload, { KNOWCTL_TRUST_PROJECT: "1" })).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["kb/docs/a.md"]);
  });

  it("stops no upload where flags or variables give the same things", async () => {
    const own = { idPrefix: "evil/", ccPairId: 7 };
    const profiles = { p: { baseUrl: "https://evil.example", dialect: "onyx" } };
    const aimed = JSON.stringify({ profiles, ingest: own });
    const service = await startTestService({ files: { ...files, ".cliconfig.json": aimed } });
    const stopped = await run(service, "ingest docs");
    expect(stopped).toMatchObject({ code: 3, stderr: expect.stringContaining("trust-project") });
    const env = { KNOWCTL_DIALECT: "standard" };
    const line = "ingest docs --cc-pair-id 2 --id-prefix kb/";
    expect(await run(service, line, env)).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["kb/docs/a.md"]);
    expect(await run(service, "ingest docs --cc-pair-id 2", env)).toMatchObject({ code: 3 });
  });

  it("stops retry, prune and stdin as well", async () => {
    const service = await startTestService({ files, dialect: "onyx" });
    expect(await run(service, upload, { KNOWCTL_TRUST_PROJECT: "1" })).toMatchObject({ code: 0 });
    rmSync(join(service.folder, "docs/a.md"));
    writeFiles(service.folder, { "docs/b.md": "# B\n" });
    for (const args of ["retry", "prune . --yes", "ingest -"]) {
      expect(await run(service, `${args} --cc-pair-id 2`)).toMatchObject({ code: 3 });
    }
    expect(acceptedIds(service)).toEqual(["kb/docs/a.md"]);
  });

  it.each([
    "verify",
    "status --remote",
    "prune --extra --yes",
    "prune --yes",
    "ingest docs --map doc_created_at=born",
  ])("is named by %s, not the dialect that applies without it", async (args) => {
    const onyx = { profiles: { p: { dialect: "onyx" } }, defaultProfile: "p" };
    const aimed = JSON.stringify({ ...onyx, ingest: { idPrefix: "kb/", include: ["docs"] } });
    const service = await startTestService({ files: { ...files, ".cliconfig.json": aimed } });
    const ran = await run(service, args);
    expect(ran.stderr).toContain(".cliconfig.json is not trusted");
    expect(ran.code).toBe(3);
  });

  it("is used as it is by what sends nothing, and nothing is contacted", async () => {
    const aimed = {
      profiles: { p: { baseUrl: "http://127.0.0.1:1", apiKey: { env: "UNSET" } } },
      defaultProfile: "p",
      ingest: { idPrefix: "kb/", connector: "Handbook uploads" },
    };
    const service = await startTestService({
      files: { ...files, ".cliconfig.json": JSON.stringify(aimed) },
    });
    for (const args of ["ingest docs --dry-run", "convert docs", "explain docs/a.md"]) {
      const ran = await run(service, args);
      expect(ran).toMatchObject({ code: 0 });
      expect(ran.stdout).toContain("kb/docs/a.md");
    }
    const planned = await run(service, "ingest docs --dry-run");
    expect(planned.stderr).toContain("connector Handbook uploads is not looked up");
  });
});
