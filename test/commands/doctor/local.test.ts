import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles } from "../../service.ts";
import { main } from "../../main.ts";
import { createTestContext } from "../../support.ts";
import { runDoctor } from "./support.ts";

describe("trust:", () => {
  const aimed = { profiles: { a: { baseUrl: "https://a.invalid", apiKey: { env: "A" } } } };
  // A variable counts before an untrusted file: without one the file is needed.
  const unset = { KNOWCTL_BASE_URL: "", KNOWCTL_API_KEY: "" };
  it.each([
    ["nothing to trust", undefined, {}, "ok", "no project file"],
    ["settings alone", { ingest: { source: "web" } }, {}, "ok", "needs no trust"],
    ["settings that do not count", { ingest: { tags: ["x"] } }, {}, "warning", "ingest.tags"],
    ["an id prefix", { ingest: { idPrefix: "x/" } }, {}, "failure", "is not trusted"],
    ["addresses and keys", aimed, unset, "failure", "is not trusted"],
    [
      "addresses and keys that variables replace",
      aimed,
      {},
      "warning",
      "profiles.a.baseUrl, profiles.a.apiKey in it is ignored",
    ],
    ["the same in a pipeline", aimed, { KNOWCTL_TRUST_PROJECT: "1" }, "ok", "is trusted"],
  ])("%s", async (_name, content, extra, status, words) => {
    const { folder, env } = await startTestService();
    if (content) writeFiles(folder, { ".cliconfig.json": JSON.stringify(content) });
    const { findings } = await runDoctor({ cwd: folder, env: { ...env, ...extra } });
    expect(findings["trust"]).toMatchObject({ status, message: expect.stringContaining(words) });
    if (status !== "ok") expect(findings["trust"]?.fixes.join()).toContain("knowctl config trust");
  });

  it("asks nothing on a terminal", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { ".cliconfig.json": JSON.stringify(aimed) });
    const context = createTestContext({
      cwd: folder,
      env: { ...env, ...unset },
      isTTY: true,
      columns: 400,
    });
    expect(await main(["doctor"], context)).toBe(3);
    expect(context.stdoutText()).toContain("is not trusted");
  });
});

describe("configuration:", () => {
  it("names file, line and column of what is wrong", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { ".cliconfig.json": '{\n  "profils": {}\n}\n' });
    const { code, findings } = await runDoctor({ cwd: folder, env });
    expect(code).toBe(3);
    expect(findings["configuration"]?.message).toContain(".cliconfig.json:2:3");
    expect(findings["answer"]).toMatchObject({ because: "configuration" });
  });

  it.skipIf(process.platform === "win32")("a key that others can read is a warning", async () => {
    const { folder, env } = await startTestService();
    const path = join(env["XDG_CONFIG_HOME"] ?? "", "knowctl", "config.json");
    mkdirSync(join(path, ".."), { recursive: true, mode: 0o700 });
    const profile = { baseUrl: "https://a.invalid", apiKey: "CANARY-in-the-file" };
    writeFileSync(path, JSON.stringify({ profiles: { default: profile } }));
    chmodSync(path, 0o644);
    const { code, findings } = await runDoctor({ cwd: folder, env });
    expect(code).toBe(0);
    expect(findings["configuration"]).toMatchObject({
      status: "warning",
      message: expect.stringContaining("chmod 600"),
    });
    const details = findings["configuration"]?.details.join("\n");
    expect(details).toMatch(/baseUrl = \S+ \(KNOWCTL_BASE_URL, over .*config\.json:1\)/);
    expect(details).not.toContain("CANARY");
  });
});

describe("state:", () => {
  it("a broken one is told, and left as it is", async () => {
    const { folder, env } = await startTestService();
    writeFiles(folder, { ".knowctl/state.db": "no database, but long enough to be looked at" });
    const { code, findings } = await runDoctor({ cwd: folder, env });
    expect(code).toBe(14);
    expect(findings["state"]).toMatchObject({ status: "failure" });
    expect(findings["access-token"]?.status).toBe("ok");
    expect(readFileSync(join(folder, ".knowctl", "state.db"), "utf8")).toContain("no database");
  });

  it("uploads that failed are counted, without a name", async () => {
    const { folder, env } = await startTestService({
      faults: { rules: [{ when: { documentId: "b.md" }, do: { status: 413 } }] },
      files: { "a.md": "# A\n\nText.\n", "b.md": "# B\n\nText.\n" },
    });
    await main(["ingest", ".", "--cc-pair-id", "2"], createTestContext({ cwd: folder, env }));
    const { findings } = await runDoctor({ cwd: folder, env });
    expect(findings["state"]).toMatchObject({
      status: "ok",
      details: [expect.stringMatching(/^1 document failed with 413 \(need a fix\), last 2/)],
    });
  });
});
