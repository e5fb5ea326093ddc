import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import type { FaultSpec } from "../../../src/sandbox/http/faults.ts";
import { main, runHere } from "../../main.ts";
import { hasPostgres, newDatabase, startPostgres } from "../../postgres.ts";
import { commitAll, repositoryOf } from "../../repository.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { createTestContext } from "../../support.ts";

const documents = (count: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: count }, (_, n) => [`docs/${n}.md`, `# Document ${n}\n\ntext\n`]),
  );

interface Database {
  url: string;
  sql(statement: string): string;
}

type Shared = TestService & Pick<Database, "sql">;

/** A committed folder, a service, and a shared record for it. */
async function share(count: number, faults: FaultSpec = {}, database?: Database): Promise<Shared> {
  const { url, sql } = database ?? (await newDatabase());
  const files = documents(count);
  const service = await startTestService({ files: { ...files, ...repositoryOf(files) }, faults });
  const shared = { url: { env: "RECORD" }, project: "handbook", leaseSeconds: 60 };
  const config = JSON.stringify({ state: { shared } });
  writeFiles(service.env["XDG_CONFIG_HOME"]!, { "knowctl/config.json": config });
  const env = { ...service.env, RECORD: url };
  await runHere(["state", "share", "--yes"], { cwd: service.folder, env });
  return { ...service, env, sql };
}

let machines = 0;

/** Holds each of `count` workers when it has joined the run, until all have: none ends before another begins. */
function createMeeting(count: number): (text: string) => Promise<void> {
  let missing = count;
  let open = (): void => {};
  const met = new Promise<void>((done) => (open = done));
  return async (text) => {
    if (!/^run .*: (?:begun|joined)/m.test(text)) return;
    if (--missing === 0) open();
    await met;
  };
}

interface WorkerOptions {
  /** Folder of the checkout; default that of the service. */
  folder?: string;
  /** What the worker's clock is wrong by. */
  wrongByMs?: number;
  /** Awaited with each text that the worker writes to stderr. */
  meet?: (text: string) => Promise<void>;
}

/** Runs an upload on a machine of its own, that is with a state of its own. */
async function upload(service: TestService, line: string, options: WorkerOptions = {}) {
  const { folder = service.folder, wrongByMs = 0, meet } = options;
  const state = join(service.folder, "..", `machine-${(machines += 1)}`);
  const context = createTestContext({ cwd: folder, env: service.env });
  const args = ["ingest", "docs", "--cc-pair-id", "2", "--state", state, ...line.split(" ")];
  const { stderr } = context;
  const write = async (part: string | Uint8Array): Promise<void> => {
    await stderr.write(part);
    await meet?.(part.toString());
  };
  const code = await main(args.filter(Boolean), {
    ...context,
    stderr: { ...stderr, write },
    now: () => Date.now() + wrongByMs,
    // Heartbeats come often, and the service is not waited for.
    sleep: (ms, signal) => wait(Math.min(ms, 20), undefined, { signal }),
  });
  return { code, stderr: context.stderrText(), stdout: context.stdoutText() };
}

/** Runs these uploads as workers of one run. */
function uploadTogether(
  service: TestService,
  lines: readonly string[],
  options: WorkerOptions[] = [],
) {
  const meet = createMeeting(lines.length);
  return Promise.all(lines.map((line, at) => upload(service, line, { ...options[at], meet })));
}

const sentOnce = ({ sandbox }: TestService): boolean =>
  [...sandbox.ledger.documents.values()].every((all) => all.length === 1);

describe("--claim", () => {
  it("is refused where it divides or names nothing", async () => {
    const files = documents(1);
    const service = await startTestService({ files: { ...files, ...repositoryOf(files) } });
    for (const [args, text] of [
      ["docs --claim --shard 1/2", "both divide the documents among several runs"],
      ["docs --claim --offline-state", "workers claim documents from the shared record"],
      ["docs --run nightly", "it names the run that workers share"],
      ["docs --claim --no-state", "--claim needs the state"],
      ["docs --claim --print-config", "--print-config only prints a project file"],
      ["docs --claim", "--claim needs a shared record"],
      ["- --claim", "stdin is none"],
    ] as const) {
      const ran = await runHere(["ingest", ...args.split(" "), "--cc-pair-id", "2"], {
        cwd: service.folder,
        env: service.env,
        stdin: "",
      });
      expect(ran, args).toMatchObject({ code: 2, stderr: expect.stringContaining(text) });
    }
    expect(service.sandbox.ledger.requestCount).toBe(0);
  });
});

describe.runIf(hasPostgres)("--claim (PostgreSQL)", () => {
  it("shares the documents among workers, and a later run from an empty folder sends nothing", async () => {
    const service = await share(150, {
      rules: [{ when: { method: "POST", nth: [10, 20, 30, 40] }, do: { status: 500 } }],
    });
    const workers = await uploadTogether(service, ["--claim", "--claim", "--claim"]);
    expect(workers.map(({ code }) => code)).toEqual([0, 0, 0]);
    expect(service.sandbox.ledger.documents.size).toBe(150);
    expect(sentOnce(service)).toBe(true);
    const said = "the run has ended: 150 documents accepted, 0 failed, by 3 workers";
    expect(workers.filter(({ stderr }) => stderr.includes(said))).toHaveLength(1);
    expect(service.sql("select accepted, failed from knowctl_runs")).toBe("150\t0");
    const later = await upload(service, "");
    expect(later).toMatchObject({ code: 0, stderr: expect.stringContaining("150 unchanged") });
    expect(sentOnce(service)).toBe(true);
  });

  it("ends with 10 for the worker whose document failed and for the last one, with 0 for others", async () => {
    const refused = { method: "POST", documentId: "docs/7.md" };
    const service = await share(60, { rules: [{ when: refused, do: { status: 422 } }] });
    const workers = await uploadTogether(
      service,
      [1, 2, 3].map((n) => `--claim --report r${n}.json`),
    );
    expect(workers.filter(({ code }) => code === 10).length).toBeGreaterThan(0);
    const own = workers.filter(({ stderr }) => /1 document failed/.test(stderr));
    expect(own).toHaveLength(1);
    const last = workers.filter(({ stderr }) => /of the run failed/.test(stderr));
    expect(own.length + last.length).toBe(workers.filter(({ code }) => code === 10).length);
    const merged = await runHere(["report", "merge", "--shared", "nothing"], {
      cwd: service.folder,
      env: service.env,
    });
    expect(merged).toMatchObject({ code: 9, stderr: expect.stringContaining("no run nothing") });
    const head = service.sql("select name from knowctl_runs");
    const place = ["--shared-state", service.env["RECORD"]!, "--state-project", "handbook"];
    const whole = await runHere(["report", "merge", "--shared", head.slice(0, 7), ...place], {
      cwd: service.folder,
      env: service.env,
    });
    expect(whole.code).toBe(10);
    const report = JSON.parse(whole.stdout) as { counts: Record<string, number>; run: string };
    expect(report).toMatchObject({ run: head, commit: head, planned: 60 });
    expect(report.counts).toMatchObject({ created: 59, failed: 1, unchanged: 0 });
  });

  it("counts what nobody sends once: by one worker, in merged reports and in the shared record", async () => {
    const service = await share(4);
    await upload(service, "");
    writeFiles(service.folder, {
      "docs/new.md": "# New\n",
      "docs/bad.md": "---\nupdated: never\n---\n# B\n",
      "docs/draft.md": "---\ndraft: true\n---\n# Draft\n",
    });
    commitAll(service.folder);
    const reports = [1, 2, 3].map((n) => join(service.folder, "..", `report-${n}.json`));
    const workers = await uploadTogether(
      service,
      reports.map((file) => `--claim --json --report ${file}`),
    );
    const told = workers.map(
      ({ stdout }) => (JSON.parse(stdout) as { counts: Record<string, number> }).counts,
    );
    const sum = (name: string): number => told.reduce((all, each) => all + each[name]!, 0);
    const counts = { created: 1, updated: 0, unchanged: 4, skipped: 1, failed: 1, renamed: 0 };
    const names = ["unchanged", "failed", "created"] as const;
    expect(names.map(sum)).toEqual(names.map((name) => counts[name]));
    const place = ["--shared-state", service.env["RECORD"]!, "--state-project", "handbook"];
    const run = service.sql("select name from knowctl_runs");
    for (const of of [reports, ["--shared", run, ...place]]) {
      const { stdout } = await runHere(["report", "merge", ...of], {
        cwd: service.folder,
        env: service.env,
      });
      const merged = JSON.parse(stdout) as { counts: unknown; skipped: { count: number }[] };
      expect(merged).toMatchObject({ counts, planned: 2, merged: { runs: { length: 3 } } });
      expect(merged.skipped.map(({ count }) => count)).toEqual([1]);
    }
  });

  it("refuses another commit and other options while a run goes on, and begins anew after it", async () => {
    const service = await share(6);
    await upload(service, "--claim");
    service.sql(
      `update knowctl_runs set ended_at = null;
       update knowctl_workers set is_gone = false, expires_at = now() + interval '1 hour'`,
    );
    const other = await upload(service, "--claim --sections headings");
    expect(other).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("other files or options"),
    });
    commitAll(service.folder);
    const later = await upload(service, "--claim");
    expect(later).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("another run of this project"),
    });
    expect(await upload(service, "--claim --run mine")).toMatchObject({ code: 0 });
    service.sql("update knowctl_workers set is_gone = true");
    expect(await upload(service, "--claim")).toMatchObject({
      code: 0,
      stderr: expect.stringContaining(": begun"),
    });
  });

  it("claims nothing in a dry run, and needs a commit without changes, or a name", async () => {
    const service = await share(3);
    expect(await upload(service, "--claim --dry-run")).toMatchObject({ code: 0 });
    expect(service.sql("select count(*) from knowctl_runs")).toBe("0");
    writeFiles(service.folder, { "docs/0.md": "# Changed\n" });
    const changed = await upload(service, "--claim");
    expect(changed).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/uncommitted changes \(first: docs\/0\.md\)[^]*--run NAME/),
    });
    expect(await upload(service, "--claim --run nightly")).toMatchObject({ code: 0 });
    // The same name again: the run had ended.
    expect(await upload(service, "--claim --run nightly --force")).toMatchObject({ code: 0 });
    expect(service.sandbox.ledger.documents.get("docs/1.md")).toHaveLength(2);
  });

  it("is told what to do without git", async () => {
    const service = await share(2);
    const folder = join(service.folder, "..", "plain");
    writeFiles(folder, { ...documents(2), "knowctl.config.json": "{}" });
    const ran = await upload(service, "--claim", { folder });
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/not in a git repository[^]*--run NAME/),
    });
    expect(await upload(service, "--claim --run a", { folder })).toMatchObject({ code: 0 });
  });

  it("refuses in one line the workers for whom the database has no connection, and loses nothing", async () => {
    const settings = { max_connections: 6, superuser_reserved_connections: 2 };
    const server = await startPostgres({ settings });
    onTestFinished(() => server.close());
    server.sql("postgres", "create role worker login; grant create on schema public to worker");
    const service = await share(
      60,
      {},
      {
        url: server.url("postgres").replace("knowctl@", "worker@"),
        sql: (statement) => server.sql("postgres", statement),
      },
    );
    const workers = await Promise.all(
      Array.from({ length: 16 }, () => upload(service, "--claim --quiet")),
    );
    const refused = workers.filter(({ code }) => code !== 0);
    expect(refused.length).toBeGreaterThan(0);
    for (const { code, stderr } of refused) {
      expect(code).toBe(5);
      expect(stderr).toMatch(
        /^error: the shared record at .*: it has no connection left: .*\n.*run fewer workers.*\n$/,
      );
    }
    expect(workers.length - refused.length).toBeGreaterThan(0);
    expect(service.sandbox.ledger.documents.size).toBe(60);
    expect(sentOnce(service)).toBe(true);
    const later = await upload(service, "");
    expect(later).toMatchObject({ code: 0, stderr: expect.stringContaining("60 unchanged") });
  });

  it("works on a machine whose clock is an hour wrong", async () => {
    const service = await share(40);
    const workers = await uploadTogether(
      service,
      ["--claim", "--claim"],
      [{ wrongByMs: 3_600_000 }, { wrongByMs: -3_600_000 }],
    );
    expect(workers.map(({ code }) => code)).toEqual([0, 0]);
    expect(service.sandbox.ledger.documents.size).toBe(40);
    expect(sentOnce(service)).toBe(true);
  });
});
