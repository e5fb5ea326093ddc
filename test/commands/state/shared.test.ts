import { describe, expect, it } from "vitest";
import { startTestService, type TestService } from "../../service.ts";
import { hasPostgres, newDatabase } from "../../postgres.ts";
import { expectRun, runIn } from "./support.ts";

const withEnv = (service: TestService, env: Record<string, string>) => ({
  folder: service.folder,
  env: { ...service.env, ...env },
});

describe("a shared record", () => {
  it("is refused with a password in an argument, without showing it", async () => {
    const service = await startTestService();
    const flags = "state share --state-project kb --yes --shared-state";
    const { stderr } = await expectRun(
      service,
      `${flags} postgres://u:sesame@127.0.0.1:1/kb`,
      2,
      "KNOWCTL_SHARED_STATE",
    );
    expect(stderr).not.toContain("sesame");
    const env = { KNOWCTL_SHARED_STATE: "postgres://u:sesame@127.0.0.1:1/kb" };
    const from = await expectRun(
      withEnv(service, env),
      "state share --state-project kb --yes",
      5,
      "cannot be reached",
    );
    expect(from.stderr).not.toContain("sesame");
  });

  it("needs a URL and a project", async () => {
    const service = await startTestService();
    await expectRun(service, "state share --yes", 3, "no shared record is configured");
    await expectRun(service, "state share --state-project kb --yes", 2, "without a shared record");
    await expectRun(
      service,
      "state share --shared-state postgres://h/kb --yes",
      2,
      "name of a project",
    );
  });
});

describe.runIf(hasPostgres)("state share (PostgreSQL)", () => {
  it("asks, creates tables and project, and may run again", async () => {
    const { url, sql } = await newDatabase();
    const service = await startTestService();
    const shared = withEnv(service, { KNOWCTL_SHARED_STATE: url, KNOWCTL_STATE_PROJECT: "kb" });
    await expectRun(shared, "state share", 2, "--yes");
    expect(sql("select to_regclass('knowctl_projects') is null")).toBe("t");
    const no = await runIn(shared, "state share", { answer: "n\n" });
    expect(no).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing was changed") });
    for (const _ of [1, 2])
      await expectRun(shared, "state share --yes", 0, "shared as project kb at ");
    expect(sql("select name, revision from knowctl_projects")).toBe("kb\t0");
  });
});
