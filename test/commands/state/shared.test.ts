import { describe, expect, it } from "vitest";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runCli, temporaryFolder } from "../../support.ts";
import { hasPostgres, newDatabase } from "../../postgres.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { connectShared } from "../../../src/sync/shared/connect.ts";
import { openState } from "../../sync/open-state.ts";
import { expectRun, runIn } from "./support.ts";

const machineOf = () => ({
  env: {},
  uid: -1,
  sleep: async () => {},
  random: () => 0.5,
  signal: new AbortController().signal,
});

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

describe("the shared record of a configuration", () => {
  it("is read from a trusted file, where a URL may have no password", async () => {
    const service = await startTestService();
    const put = (url: unknown): void =>
      writeFiles(service.folder, {
        ".cliconfig.json": JSON.stringify({ state: { shared: { url, project: "kb" } } }),
      });
    put({ env: "KB_URL" });
    await expectRun(service, "state share --yes", 3, "state.shared", "no shared record");
    const trusted = { KNOWCTL_TRUST_PROJECT: "1" };
    await expectRun(withEnv(service, trusted), "state share --yes", 3, "the variable KB_URL");
    const env = { ...trusted, KB_URL: "postgres://u:sesame@127.0.0.1:1/kb" };
    const ran = await expectRun(withEnv(service, env), "state share --yes", 5, "127.0.0.1:1/kb");
    expect(ran.stderr).not.toContain("sesame");
    put("postgres://u@127.0.0.1:1/kb");
    await expectRun(withEnv(service, trusted), "state share --yes", 5, "127.0.0.1:1/kb");
    put("postgres://u:sesame@127.0.0.1:1/kb");
    const literal = await expectRun(
      withEnv(service, trusted),
      "state share --yes",
      3,
      "a password",
    );
    expect(literal.stderr).not.toContain("sesame");
    const shown = await runIn(withEnv(service, trusted), "config show --json");
    expect(shown.stdout + shown.stderr).not.toContain("sesame");
  });
});

const docs = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };
const send = "ingest docs --cc-pair-id 2";

interface Machine {
  folder: string;
  env: Record<string, string>;
}

/** A project in a shared record, and machines with a checkout of it. */
async function startShared(project = "kb", rules: FaultRule[] = []) {
  const service = await startTestService({ files: docs, faults: { rules } });
  const database = await newDatabase();
  const env = {
    ...service.env,
    KNOWCTL_SHARED_STATE: database.url,
    KNOWCTL_STATE_PROJECT: project,
  };
  const first: Machine = { folder: service.folder, env };
  await expectRun(first, "state share --yes", 0);
  const machine = (
    files: Record<string, string> = docs,
    more: Record<string, string> = {},
  ): Machine => {
    const folder = join(temporaryFolder(), "machine");
    writeFiles(folder, { ".git/HEAD": "", ...files });
    return { folder, env: { ...env, ...more } };
  };
  const sent = (): number => service.sandbox.ledger.documents.size;
  return { service, database, first, machine, sent };
}

describe.runIf(hasPostgres)("many machines with one shared record (PostgreSQL)", () => {
  it("send what changed, and nothing from an empty folder", async () => {
    const { first, machine } = await startShared();
    await expectRun(first, send, 0, "2 created");
    const second = machine();
    await expectRun(second, send, 0, "2 unchanged");
    writeFiles(second.folder, { "docs/a.md": "# A\n\nNew.\n" });
    await expectRun(second, send, 0, "1 updated", "1 unchanged");
    writeFiles(first.folder, { "docs/a.md": "# A\n\nNew.\n" });
    await expectRun(first, send, 0, "2 unchanged");
    await expectRun(machine(), send, 0, "1 updated");
  });

  it("see what another one sent, in status, prune and verify", async () => {
    const { first, machine } = await startShared();
    await expectRun(first, send, 0);
    const { "docs/b.md": b } = docs;
    const second = machine({ "docs/b.md": b });
    const status = await expectRun(second, "status docs --json", 0);
    expect(status.stdout).toContain("docs/a.md");
    const third = machine({ "docs/b.md": b });
    const pruned = await expectRun(third, "prune --cc-pair-id 2 --tombstone --yes docs", 0);
    expect(pruned.stdout).toContain("docs/a.md");
    // The removal came back to the first machine, whose file is still there.
    await expectRun(first, send, 0, "1 updated", "1 unchanged");
  });

  it("are told by name what another project has, and may replace it", async () => {
    const { database, first, machine } = await startShared();
    await expectRun(first, send, 0);
    const other = machine(docs, { KNOWCTL_STATE_PROJECT: "other" });
    await expectRun(other, "state share --yes", 0);
    const refused = await expectRun(
      other,
      send,
      10,
      "project kb of the shared record has docs/a.md",
    );
    expect(refused.stderr).toContain("--overwrite");
    await expectRun(other, `${send} --overwrite`, 0, "2 updated");
    expect(database.sql("select count(*) from knowctl_rows where kind = 'accepted'")).toBe("4");
  });

  it("are refused where another repository has the name of the project", async () => {
    const { first, machine } = await startShared();
    await expectRun(first, send, 0);
    const other = machine({ "docs/z.md": "# Z\n\nText.\n" });
    await expectRun(
      other,
      "ingest docs --cc-pair-id 7",
      2,
      "project kb of the shared record",
      "--state-project",
    );
    // Nothing of the other project stays here.
    const env = { ...other.env, KNOWCTL_SHARED_STATE: "", KNOWCTL_STATE_PROJECT: "" };
    const list = await runIn({ ...other, env }, "state list --json");
    expect(list.stdout).not.toContain("docs/a.md");
  });

  it("send to a second pair of the same repository, once its folder has files of the first", async () => {
    const { first, machine } = await startShared();
    await expectRun(first, send, 0, "2 created");
    const more = { ...docs, "more/c.md": "# C\n\nThree.\n" };
    const second = machine(more);
    const sendMore = "ingest more --cc-pair-id 7";
    await expectRun(second, sendMore, 2, "for a second pair of one repository", "#2 from this");
    // What a command fetched proves nothing.
    await expectRun(second, "state push", 0);
    await expectRun(second, sendMore, 2);
    await expectRun(second, send, 0, "2 unchanged");
    await expectRun(second, sendMore, 0, "1 created");
    await expectRun(machine(more), sendMore, 0, "1 unchanged");
  });

  it("say that a list is of what was fetched last", async () => {
    const { first, machine } = await startShared();
    await expectRun(first, send, 0);
    for (const line of ["state list --json", "state export"]) {
      const { stdout } = await expectRun(
        first,
        line,
        0,
        "project kb as this machine fetched it last",
      );
      expect(stdout).not.toContain("fetched it last");
    }
    const own = machine();
    const env = { ...own.env, KNOWCTL_SHARED_STATE: "", KNOWCTL_STATE_PROJECT: "" };
    await expectRun({ ...own, env }, send, 0);
    expect((await expectRun({ ...own, env }, "state list", 0)).stderr).toBe("");
  });

  it("send nothing while the database is away, unless told to", async () => {
    const { database, first, machine, sent } = await startShared();
    await database.server.stop("SIGQUIT");
    const before = sent();
    await expectRun(first, send, 5, "cannot be reached", "--offline-state");
    await expectRun(first, "prune --cc-pair-id 2 --tombstone --yes docs", 5);
    await expectRun(first, "prune --offline-state", 2);
    expect(sent()).toBe(before);
    await expectRun(
      first,
      `${send} --offline-state`,
      0,
      "2 created",
      "the shared record is not asked",
      "what it records waits for `knowctl state push`",
    );
    await database.server.start();
    await expectRun(first, "state push", 0, "pushed ");
    await expectRun(first, "state push", 0, "has everything");
    await expectRun(machine(), send, 0, "2 unchanged");
  });

  it("know what the service accepted last, where that was pushed first", async () => {
    const rules: FaultRule[] = [];
    const { first, machine } = await startShared("kb", rules);
    await expectRun(first, send, 0, "2 created");
    const [one, two] = [machine(), machine()];
    for (const each of [one, two]) await expectRun(each, send, 0, "2 unchanged");
    const change = async (of: Machine, text: string, seconds: string, flag = ""): Promise<void> => {
      writeFiles(of.folder, { "docs/a.md": text });
      const headers = { date: `Thu, 01 Jan 2026 00:00:${seconds} GMT` };
      const body = { document_id: "docs/a.md", already_existed: true };
      rules.splice(0, 1, { when: { method: "POST" }, do: { status: 200, headers, body } });
      await expectRun(of, send + flag, 0, "1 updated");
    };
    // One's record is away while it sends.
    await change(one, "first", "05", " --offline-state");
    const { state } = await openState(join(one.folder, ".knowctl"), Date.now);
    // Its clock was wrong.
    state.database.exec("UPDATE unpushed SET at = at + 3600000");
    state.close();
    await change(two, "second", "15");
    await expectRun(one, "state push", 0);
    rules.length = 0;
    await expectRun(machine({ ...docs, "docs/a.md": "second" }), send, 0, "2 unchanged");
    await expectRun(machine({ ...docs, "docs/a.md": "first" }), send, 0, "1 updated");
  });

  it("wait with a removal while one sends", async () => {
    const { database, first } = await startShared();
    await expectRun(first, send, 0);
    rmSync(join(first.folder, "docs/a.md"));
    const holder = await connectShared(database.url, machineOf());
    await holder.query(
      "SELECT pg_advisory_lock_shared(hashtextextended('knowctl ' || id, 0)) FROM knowctl_projects",
    );
    const prune = "prune --cc-pair-id 2 --tombstone --yes docs";
    await expectRun(first, prune, 14, "another run of project kb sends or removes");
    await expectRun(first, `${send} --allow-empty`, 0);
    await holder.close();
    await expectRun(first, prune, 0);
  });

  it("push everything again into a database that was lost, and may end the copy", async () => {
    const { database, first, machine } = await startShared();
    await expectRun(first, send, 0);
    database.sql("drop table knowctl_rows, knowctl_projects, knowctl_migrations cascade");
    database.sql(
      "drop table if exists knowctl_claims, knowctl_leases, knowctl_workers, knowctl_runs cascade",
    );
    await expectRun(first, send, 3, "state share");
    await expectRun(first, "state share --yes", 14, "state push --all");
    await expectRun(first, "state push --all", 0, "pushed ");
    await expectRun(machine(), send, 0, "2 unchanged");
    await expectRun(first, "state unshare", 2, "--yes");
    await expectRun(first, "state unshare --yes", 0, "on its own");
    await expectRun(first, "state unshare --yes", 9, "not shared");
  });

  it("end with exit 14 and a number where rows could not be pushed, but with 10 for failed documents", async () => {
    const { database, first } = await startShared();
    database.sql(
      "create function is_full() returns trigger as $$ begin raise exception using errcode = '53100', message = 'disk full'; end $$ language plpgsql",
    );
    database.sql(
      "create trigger is_full before insert on knowctl_rows for each statement execute function is_full()",
    );
    const ran = await expectRun(
      first,
      send,
      14,
      "not in the shared record yet",
      "no room left",
      "state push",
    );
    expect(ran.stderr).toContain("2 created");
    writeFiles(first.folder, { "docs/bad.md": "---\ntitle: [unclosed\n---\ntext\n" });
    await expectRun(first, send, 10, "not in the shared record yet");
    database.sql("drop trigger is_full on knowctl_rows");
    await expectRun(first, "state push", 0, "pushed ");
  });
});

const broken = { "docs/bad.md": "---\ntitle: [unclosed\n---\ntext\n" };

describe.runIf(hasPostgres)("retry with a shared record (PostgreSQL)", () => {
  it("sends from an empty folder what failed elsewhere, to the pair of the failures", async () => {
    const { first, machine } = await startShared();
    writeFiles(first.folder, broken);
    await expectRun(first, `${send} --id-prefix p/ --tag kept`, 10, "2 created, 1 failed");
    const mended = { ...docs, "docs/bad.md": "# Mended\n" };
    const second = machine(mended);
    await expectRun(second, "retry --dry-run", 0, "1 to create");
    const ran = await expectRun(machine(mended), "retry", 0, "1 created");
    expect(ran.stderr).toContain("pair 2");
    await expectRun(second, "retry", 0, "nothing to retry");
    await expectRun(first, "retry", 0, "nothing to retry");
    const { stdout } = await expectRun(second, "state list --json", 0);
    expect(stdout).toContain("p/docs/bad.md");
  });

  it("finds the pair where nothing but failures is recorded", async () => {
    const { first, machine } = await startShared();
    writeFiles(first.folder, broken);
    await expectRun(first, "ingest docs/bad.md --cc-pair-id 2", 10);
    const second = machine({ "docs/bad.md": "# Mended\n" });
    const { stderr } = await expectRun(second, "retry", 0, "1 created");
    expect(stderr).toContain("pair 2");
    await expectRun(first, "retry", 0, "nothing to retry");
  });
});

describe.runIf(hasPostgres)("a machine that is killed and lost (PostgreSQL)", () => {
  const old = docs["docs/a.md"];
  const killAt = async (machine: Machine, line: string, isAt: () => boolean): Promise<void> => {
    const ran = await runCli(line.split(" "), {
      cwd: machine.folder,
      env: machine.env,
      onStart(child) {
        void (async () => {
          while (child.exitCode === null && !isAt()) await wait(1);
          child.kill("SIGKILL");
        })();
      },
    });
    expect(ran.code).toBe(null);
  };

  it("leaves no record of a version that the service no longer has", async () => {
    const rules: FaultRule[] = [];
    const { service, first, machine, sent } = await startShared("kb", rules);
    await expectRun(first, send, 0, "2 created");
    const lost = machine({ ...docs, "docs/a.md": "# A\n\nNewer.\n" });
    const { requests } = service.sandbox.ledger;
    const before = requests.length;
    rules.push({ when: { method: "POST" }, do: "hang" });
    const isSent = (): boolean => requests.slice(before).some(({ method }) => method === "POST");
    await killAt(lost, send, isSent);
    rules.length = 0;
    expect(sent()).toBe(2);
    await expectRun(machine({ ...docs, "docs/a.md": old }), send, 0, "1 updated, 1 unchanged");
  });

  it("leaves no record of a document that it removed", async () => {
    const rules: FaultRule[] = [];
    const { service, first, machine } = await startShared("kb", rules);
    await expectRun(first, send, 0, "2 created");
    const { "docs/b.md": b } = docs;
    const { requests } = service.sandbox.ledger;
    const before = requests.length;
    rules.push({ when: { method: "POST" }, do: "hang" });
    const prune = "prune docs --cc-pair-id 2 --tombstone --yes";
    const isSent = (): boolean => requests.slice(before).some(({ method }) => method === "POST");
    await killAt(machine({ "docs/b.md": b }), prune, isSent);
    rules.length = 0;
    await expectRun(machine(), send, 0, "1 updated, 1 unchanged");
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
