import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { CliError } from "../../../src/errors.ts";
import { openDatabase } from "../../../src/database.ts";
import { createPlanTable } from "../../../src/sync/plan/plan-table.ts";
import type { SharedDatabase } from "../../../src/sync/shared/address.ts";
import type { ClaimedRun } from "../../../src/sync/shared/runs.ts";
import { connectShared } from "../../../src/sync/shared/connect.ts";
import { createProject, findProject, migrateTables } from "../../../src/sync/shared/tables.ts";
import { joinWorkers, type Worker } from "../../../src/sync/shared/worker.ts";
import { hasPostgres, newDatabase } from "../../postgres.ts";

const leaseSeconds = 60;

describe.runIf(hasPostgres)("workers that share a run, on PostgreSQL", () => {
  let database: Awaited<ReturnType<typeof newDatabase>>;
  let project: string;
  const open: SharedDatabase[] = [];
  const joined: Worker[] = [];

  async function connect(): Promise<SharedDatabase> {
    const shared = await connectShared(database.url, {
      env: {},
      uid: 0,
      sleep: () => Promise.resolve(),
      random: () => 0.5,
      signal: new AbortController().signal,
    });
    open.push(shared);
    return shared;
  }

  beforeEach(async () => {
    database = await newDatabase();
    const shared = await connect();
    await migrateTables(shared);
    await createProject(shared, "handbook");
    project = (await findProject(shared, "handbook"))!.id;
  });

  afterEach(async () => {
    for (const each of joined.splice(0)) await each.leave();
    for (const each of open.splice(0)) await each.close();
  });

  const commit = "a".repeat(40);
  const identity = (more: Partial<ClaimedRun> = {}): ClaimedRun => ({
    project,
    name: commit,
    isNamed: false,
    commit,
    digest: "d",
    ...more,
  });

  async function tableOf(ids: readonly string[]) {
    const table = createPlanTable(await openDatabase(":memory:"));
    for (const id of ids) {
      table.add({ path: `${id}.md`, part: 0, id, action: "new", detail: "", content: undefined });
    }
    table.index();
    return table;
  }

  interface Options {
    identity?: Partial<ClaimedRun>;
    /** How often the worker's own loop has slept: a test renews by next(). */
    fetch?: () => Promise<void>;
    push?: () => Promise<void>;
    sleep?: (ms: number) => Promise<void>;
    wrongByMs?: number;
    lease?: number;
  }

  async function join(ids: readonly string[], options: Options = {}) {
    const stop = vi.fn<(error: CliError) => void>();
    const renewed = vi.fn<(workers: number) => void>();
    const started = performance.now();
    const never = (_ms: number, signal?: AbortSignal): Promise<void> =>
      new Promise((_resolve, reject) =>
        signal?.addEventListener("abort", () => reject(new Error("left"))),
      );
    const { sleep } = options;
    const main = new AbortController().signal;
    const worker = await joinWorkers(
      {
        database: await connect(),
        run: identity(options.identity),
        host: "here",
        leaseSeconds: options.lease ?? leaseSeconds,
        table: await tableOf(ids),
        fetch: options.fetch ?? (() => Promise.resolve()),
        push: options.push ?? (() => Promise.resolve()),
        clock: {
          now: () => Date.now() + (options.wrongByMs ?? 0),
          elapsed: () => performance.now() - started,
          // The loop that keeps the lease has a signal of its own, and never wakes here.
          sleep: (ms, signal) => (signal === main && sleep ? sleep(ms) : never(ms, signal)),
        },
        signal: main,
      },
      { stop, renewed },
    );
    joined.push(worker);
    return { worker, stop, renewed };
  }

  /** Takes and settles all that is there. */
  async function work(worker: Worker, most = 64, isFailed = false): Promise<string[]> {
    const done: string[] = [];
    for (;;) {
      const taken = await worker.take(most);
      if (taken.length === 0) return done;
      done.push(...taken.map(({ id }) => id));
      settle(worker, taken, isFailed);
    }
  }

  function settle(
    worker: Worker,
    taken: readonly { path: string; part: number }[],
    isFailed = false,
  ) {
    worker.saved(
      isFailed ? [] : (taken as Parameters<Worker["saved"]>[0]),
      isFailed ? (taken as Parameters<Worker["saved"]>[1]) : [],
    );
  }

  const expire = (): string =>
    database.sql("update knowctl_workers set expires_at = now() - interval '1 second'");
  const idsOf = (count: number): string[] =>
    Array.from({ length: count }, (_, index) => String(index).padStart(5, "0"));
  const onWait = (): void => {};

  it("gives each document to one worker, and all to somebody", async () => {
    const ids = idsOf(3000);
    const workers = await Promise.all([1, 2, 3].map(() => join(ids)));
    const done = await Promise.all(workers.map(({ worker }) => work(worker)));
    expect(done.flat().toSorted()).toEqual(ids);
    expect(Math.min(...done.map((each) => each.length))).toBeGreaterThan(0);
    const ends = [];
    for (const { worker } of workers) ends.push(await worker.next(onWait));
    const [totals, ...others] = ends.toReversed();
    expect([totals, ...others].filter((each) => typeof each === "object")).toHaveLength(1);
  });

  it("ends the run with its totals, and tells the others that it has ended", async () => {
    const [first, second] = [await join(idsOf(5)), await join(idsOf(5))];
    const taken = await first.worker.take(2);
    settle(first.worker, taken.slice(0, 1));
    settle(first.worker, taken.slice(1), true);
    await work(second.worker);
    await work(first.worker);
    expect(await second.worker.next(onWait)).toEqual({ accepted: 4, failed: 1, workers: 2 });
    expect(await first.worker.next(onWait)).toBe("ended");
    expect(database.sql("select count(*) from knowctl_claims")).toBe("0");
  });

  it("waits while others hold documents, and says so", async () => {
    const [first, second] = [await join(idsOf(3)), await join(idsOf(3))];
    const taken = await first.worker.take(2);
    await work(second.worker);
    const waited: string[] = [];
    const sleep = async (): Promise<void> => {
      settle(first.worker, taken);
      await work(first.worker);
    };
    const third = await join(idsOf(3), { sleep });
    await work(third.worker);
    const end = await third.worker.next((text) => void waited.push(text));
    expect(waited).toEqual(["2 other workers hold 2 documents"]);
    expect(end).toEqual({ accepted: 3, failed: 0, workers: 3 });
  });

  it("takes over what a worker had whose lease ran out, after a fetch", async () => {
    const dead = await join(idsOf(10));
    const lost = await dead.worker.take(4);
    const fetch = vi.fn(() => Promise.resolve());
    const alive = await join(idsOf(10), { fetch, lease: 0.1, sleep: () => Promise.resolve() });
    expect(await work(alive.worker)).toHaveLength(10 - lost.length);
    expect(fetch).not.toHaveBeenCalled();
    expire();
    expect(await alive.worker.next(onWait)).toBe("again");
    expect(await work(alive.worker)).toEqual(lost.map(({ id }) => id));
    expect(fetch).toHaveBeenCalledOnce();
    expect(await alive.worker.next(onWait)).toEqual({ accepted: 10, failed: 0, workers: 2 });
  });

  it("leaves every worker one lease to come back after a restart of the database", async () => {
    const year = 365 * 86_400;
    const [first, second] = [await join(idsOf(4)), await join(idsOf(4), { lease: year })];
    await first.worker.take(2);
    const sleep = (): Promise<void> => Promise.reject(new Error("waits"));
    const third = await join(idsOf(4), { lease: year, sleep });
    await work(second.worker);
    await work(third.worker);
    expire();
    await expect(third.worker.next(onWait)).rejects.toThrow("waits");
    expect(database.sql("select count(*) from knowctl_workers where is_gone")).toBe("0");
  });

  it("stops a worker that was declared gone, and lets it join again", async () => {
    const fetch = vi.fn(() => Promise.resolve());
    const { worker, stop } = await join(idsOf(10), { fetch, sleep: () => Promise.resolve() });
    const taken = await worker.take(4);
    database.sql("update knowctl_workers set is_gone = true");
    await work(worker);
    await worker.next(onWait);
    expect(stop).toHaveBeenCalledOnce();
    const [error] = stop.mock.calls[0] ?? [];
    expect(error).toMatchObject({ exit: "unreachable" });
    // What it sent meanwhile is no longer its own to settle.
    settle(worker, taken);
    expect((await work(worker)).toSorted()).toEqual(idsOf(10));
    expect(fetch).toHaveBeenCalled();
  });

  it("frees at once what a worker has not sent when it leaves", async () => {
    const [first, second] = [await join(idsOf(10)), await join(idsOf(10))];
    const taken = await first.worker.take(4);
    settle(first.worker, taken.slice(0, 1));
    await work(second.worker);
    await first.worker.leave('{"a":1}');
    expect(await second.worker.next(onWait)).toBe("again");
    expect(await work(second.worker)).toEqual(taken.slice(1).map(({ id }) => id));
    expect(await second.worker.next(onWait)).toMatchObject({ accepted: 10 });
    expect(database.sql("select report from knowctl_workers where report is not null")).toBe(
      '{"a":1}',
    );
  });

  it("settles only what was pushed", async () => {
    let isDown = true;
    const push = vi.fn(() =>
      isDown ? Promise.reject(new CliError("unreachable", "down")) : Promise.resolve(),
    );
    const { worker } = await join(idsOf(4), { push });
    settle(worker, await worker.take(2));
    expect(await worker.take(2)).toEqual([]);
    const open = (): string =>
      database.sql("select count(*) from knowctl_claims where is_accepted is null");
    expect(open()).toBe("2");
    isDown = false;
    expect(await worker.take(2)).toHaveLength(1);
    expect(open()).toBe("1");
  });

  it("starts anew under the name of a run that has ended", async () => {
    const { worker } = await join(idsOf(3));
    await work(worker);
    await worker.next(onWait);
    await worker.leave();
    const again = await join(idsOf(3), { identity: { digest: "another" } });
    expect(again.worker.isFirst).toBe(true);
    expect(await work(again.worker)).toHaveLength(3);
  });

  it.each([
    ["of another commit", { name: "b".repeat(40), commit: "b".repeat(40) }, "another run of this"],
    ["with other files or options", { digest: "e" }, "has other files or options"],
    [
      "of another commit under one name",
      { name: "nightly", isNamed: true, commit: "b".repeat(40) },
      "has another commit (aaaaaaaaaaaa, here bbbbbbbbbbbb)",
    ],
  ])("refuses a checkout %s", async (_, other, text) => {
    const first = "isNamed" in other ? { name: "nightly", isNamed: true } : {};
    await join(idsOf(1), { identity: first });
    await expect(join(idsOf(1), { identity: other })).rejects.toMatchObject({
      exit: "usage",
      message: expect.stringContaining(text) as string,
    });
  });

  it("lets runs of different names go on side by side", async () => {
    const a = await join(idsOf(2), { identity: { name: "a", isNamed: true } });
    const b = await join(idsOf(2), { identity: { name: "b", isNamed: true, digest: "e" } });
    expect(await work(a.worker)).toHaveLength(2);
    expect(await work(b.worker)).toHaveLength(2);
  });

  it("leaves the lease alone on a machine whose clock is an hour wrong", async () => {
    const { worker } = await join(idsOf(2), { wrongByMs: 3_600_000 });
    expect(worker.maySend()).toBe(true);
    const seconds = database.sql(
      "select extract(epoch from expires_at - now())::int from knowctl_workers",
    );
    expect(Number(seconds)).toBeGreaterThan(leaseSeconds - 30);
    expect(Number(seconds)).toBeLessThanOrEqual(leaseSeconds);
  });
});
