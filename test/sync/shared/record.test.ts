import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { SharedMachine } from "../../../src/sync/shared/address.ts";
import { countUnpushed, readBond, unbind } from "../../../src/sync/shared/bond.ts";
import { connectShared } from "../../../src/sync/shared/connect.ts";
import { openRecord, type SharedRecord } from "../../../src/sync/shared/record.ts";
import { createProject, migrateTables } from "../../../src/sync/shared/tables.ts";
import { optionsJson } from "../../../src/sync/state/options.ts";
import { exportLines } from "../../../src/sync/transfer/export.ts";
import type { AcceptedRecord } from "../../../src/sync/state/records.ts";
import type { State } from "../../../src/sync/state/state.ts";
import { CliError } from "../../../src/errors.ts";
import { hasPostgres, newDatabase } from "../../postgres.ts";
import { temporaryFolder } from "../../support.ts";
import { openState } from "../open-state.ts";

const target = "http://kb.example#2";

const accepted = (
  id: string,
  whole: string,
  sentAtMs: number,
  more: Partial<AcceptedRecord> = {},
): AcceptedRecord => ({
  target,
  id,
  path: id,
  part: 0,
  whole,
  fields: "f",
  updatedAt: undefined,
  storedId: undefined,
  sentAtMs,
  origin: "path",
  ...more,
});

interface Machine {
  state: State;
  record: SharedRecord;
  /** Ends the machine's use; its folder stays. */
  end(): Promise<CliError | undefined>;
}

interface MachineOptions {
  folder?: string;
  project?: string;
  isWhole?: boolean;
  /** Milliseconds that its clock is ahead. */
  aheadMs?: number;
  signal?: AbortSignal;
}

function machineAt(
  aheadMs: number,
  signal = new AbortController().signal,
): SharedMachine & { now: () => number } {
  return {
    env: {},
    uid: -1,
    sleep: async () => {},
    random: () => 0.5,
    signal,
    now: () => Date.now() + aheadMs,
  };
}

async function openMachine(url: string, options: MachineOptions = {}): Promise<Machine> {
  const {
    folder = join(temporaryFolder(), "state"),
    project = "kb",
    isWhole = false,
    aheadMs = 0,
    signal,
  } = options;
  const machine = machineAt(aheadMs, signal);
  const { state } = await openState(folder, machine.now);
  const shared = await connectShared(url, machine);
  try {
    const record = await openRecord(shared, state, project, machine, isWhole);
    return {
      state: record.state,
      record,
      async end() {
        const error = await record.finish();
        await record.close();
        state.close();
        return error;
      },
    };
  } catch (error) {
    await shared.close();
    state.close();
    throw error;
  }
}

async function newShared(...projects: string[]): ReturnType<typeof newDatabase> {
  const database = await newDatabase();
  const shared = await connectShared(database.url, machineAt(0));
  await migrateTables(shared);
  for (const each of ["kb", ...projects]) await createProject(shared, each);
  await shared.close();
  return database;
}

const wholes = (state: State): Record<string, string> =>
  Object.fromEntries([...state.listAccepted(target)].map(({ id, whole }) => [id, whole]));

async function failureOf(work: Promise<unknown>): Promise<CliError> {
  const error: unknown = await work.then(
    () => undefined,
    (each: unknown) => each,
  );
  if (error instanceof CliError) return error;
  throw new Error("expected a CliError", { cause: error });
}

describe.runIf(hasPostgres)("a shared record (PostgreSQL)", () => {
  it("gives another machine everything that state export has, with its origins", async () => {
    const { url } = await newShared();
    const one = await openMachine(url);
    const now = Date.now() - 5000;
    const options = one.state.options.store(
      optionsJson({
        byInclude: false,
        pairFromFlag: true,
        mapping: 1,
        settings: { flags: { idPrefix: "p/" } },
      }),
    );
    one.state.save({
      accepted: [
        accepted("a", "1", now, { options }),
        accepted("b", "2", now, { origin: "adopted", path: undefined }),
      ],
      files: [
        {
          path: "a",
          part: 0,
          seen: "s m",
          content: "c",
          document: { id: "a", ccPairId: 2, whole: "1" },
          skipped: undefined,
          target,
        },
      ],
      failures: [
        {
          target,
          path: "x",
          part: 3,
          id: "",
          reason: "no",
          retryable: true,
          status: 503,
          failedAtMs: now,
          options,
        },
      ],
    });
    one.state.uploads.end({ target, inputs: ["docs"], part: "", startedAtMs: now, options });
    one.state.verified.save([{ target, id: "a", result: "current", atMs: now + 1 }]);
    const lines = [...exportLines(one.state)];
    expect(await one.end()).toBeUndefined();
    const two = await openMachine(url);
    const own = lines.map((line) => line.replace(/T[\d:.]+Z/g, ""));
    expect([...exportLines(two.state)].map((line) => line.replace(/T[\d:.]+Z/g, ""))).toEqual(own);
    expect(two.record.fetched).toBe(lines.length - 2);
    expect(countUnpushed(two.state.database)).toBe(0);
    await two.end();
  });

  it("pushes removals, and fetches only what is new", async () => {
    const { url, sql } = await newShared();
    const [one, folder] = [await openMachine(url), join(temporaryFolder(), "two")];
    const now = Date.now() - 5000;
    one.state.save({ accepted: [accepted("a", "1", now), accepted("b", "1", now)] });
    await one.record.finish();
    await (await openMachine(url, { folder })).end();
    one.state.dropAccepted(target, "a");
    one.state.save({ accepted: [accepted("c", "1", now)] });
    expect(await one.end()).toBeUndefined();
    const two = await openMachine(url, { folder });
    expect([two.record.fetched, wholes(two.state)]).toEqual([2, { b: "1", c: "1" }]);
    await two.end();
    expect(sql("select count(*) from knowctl_rows where is_gone")).toBe("1");
    // Nobody pushed between: nothing comes back.
    const again = await openMachine(url, { folder });
    expect(again.record.fetched).toBe(0);
    await again.end();
  });

  it("has a mark of doubt before the request that it is for, and waits for none in an outage", async () => {
    const { url, sql, server } = await newShared();
    const one = await openMachine(url);
    // Its push has begun when the mark is made.
    one.state.save({ accepted: ["a", "b"].map((id) => accepted(id, "1", Date.now())) });
    const marked = (): string =>
      sql("select count(*) from knowctl_rows where line like '%\"~1\"%' and kind = 'accepted'");
    await one.state.doubt([{ target, id: "a" }]);
    expect(marked()).toBe("1");
    await server.stop("SIGQUIT");
    for (const id of ["b", "a"]) await one.state.doubt([{ target, id }]);
    await server.start();
    expect(await one.end()).toBeUndefined();
    expect(marked()).toBe("2");
  });

  it("does not fetch back what this machine alone pushed", async () => {
    const { url } = await newShared();
    const folder = join(temporaryFolder(), "one");
    const one = await openMachine(url, { folder });
    one.state.save({ accepted: [accepted("a", "1", Date.now())] });
    await one.end();
    const again = await openMachine(url, { folder });
    expect(again.record.fetched).toBe(0);
    expect(readBond(again.state.database)?.revision).toBe(1);
    await again.end();
  });

  it("fetches what another machine pushed between its own pushes", async () => {
    const { url } = await newShared();
    const folder = join(temporaryFolder(), "one");
    const [one, two] = [await openMachine(url, { folder }), await openMachine(url)];
    one.state.save({ accepted: [accepted("a", "1", Date.now())] });
    await one.record.finish();
    two.state.save({ accepted: [accepted("b", "1", Date.now())] });
    await two.end();
    one.state.save({ accepted: [accepted("c", "1", Date.now())] });
    await one.end();
    const again = await openMachine(url, { folder });
    expect(Object.keys(wholes(again.state))).toEqual(["a", "b", "c"]);
    await again.end();
  });

  it.each([0, 3_600_000, -3_600_000])(
    "keeps the newer of two uploads at once, with a clock that is %i ms wrong",
    async (aheadMs) => {
      const { url } = await newShared();
      const one = await openMachine(url, { aheadMs });
      const two = await openMachine(url);
      const late = Date.now();
      // Machine one was first, and pushes last.
      one.state.save({ accepted: [accepted("a", "of one", late - 2000 + aheadMs)] });
      two.state.save({ accepted: [accepted("a", "of two", late)] });
      expect(await two.end()).toBeUndefined();
      expect(await one.end()).toBeUndefined();
      const three = await openMachine(url);
      expect(wholes(three.state)).toEqual({ a: "of two" });
      await three.end();
    },
  );

  // One's clock was wrong when the service accepted its version, and right when it pushed.
  describe.each([0, 3_600_000, -3_600_000])(
    "with a clock that was %i ms wrong before",
    (wrongMs) => {
      const atService = Date.UTC(2026, 0, 1);
      const versionAt = (whole: string, seconds: number, byMs = 0): AcceptedRecord =>
        accepted("a", whole, Date.now() + byMs, { answeredAtMs: atService + 1000 * seconds });

      it.each([
        ["one", 10, 0],
        ["two", 0, 10],
      ])("keeps the version that the service accepted last, of %s", async (last, ofOne, ofTwo) => {
        const { url } = await newShared();
        const [one, two] = [await openMachine(url), await openMachine(url)];
        one.state.save({ accepted: [versionAt("one", ofOne, wrongMs)] });
        two.state.save({ accepted: [versionAt("two", ofTwo)] });
        expect(await two.end()).toBeUndefined();
        expect(await one.end()).toBeUndefined();
        const three = await openMachine(url);
        expect(wholes(three.state)).toEqual({ a: last });
        expect(three.state.accepted(target, "a")?.answeredAtMs).toBe(atService + 10_000);
        await three.end();
      });

      it.each([
        ["one", 10, 0],
        ["two", 0, 10],
      ])("does so for a later run, of %s", async (last, ofOne, ofTwo) => {
        const { url } = await newShared();
        const folder = join(temporaryFolder(), "one");
        await (await openMachine(url, { folder })).end();
        const { state } = await openState(folder, Date.now);
        state.save({ accepted: [versionAt("one", ofOne, wrongMs)] });
        state.database.exec(`UPDATE unpushed SET at = at + ${wrongMs}`);
        state.close();
        const two = await openMachine(url);
        two.state.save({ accepted: [versionAt("two", ofTwo)] });
        expect(await two.end()).toBeUndefined();
        const one = await openMachine(url, { folder });
        expect(wholes(one.state)).toEqual({ a: last });
        expect(await one.end()).toBeUndefined();
        const three = await openMachine(url);
        expect(wholes(three.state)).toEqual({ a: last });
        await three.end();
      });
    },
  );

  it.each([
    ["the same second", Date.UTC(2026, 0, 1), Date.UTC(2026, 0, 1)],
    ["no time", undefined, Date.UTC(2026, 0, 1)],
    ["a time that cannot be", Date.UTC(2999, 0, 1), Date.UTC(2026, 0, 1)],
  ])("goes by the database where the service says %s", async (_what, ofOne, ofTwo) => {
    const { url } = await newShared();
    const [one, two] = [await openMachine(url), await openMachine(url)];
    const now = Date.now();
    one.state.save({ accepted: [accepted("a", "one", now - 2000, { answeredAtMs: ofOne })] });
    two.state.save({ accepted: [accepted("a", "two", now, { answeredAtMs: ofTwo })] });
    expect(await two.end()).toBeUndefined();
    expect(await one.end()).toBeUndefined();
    const three = await openMachine(url);
    expect(wholes(three.state)).toEqual({ a: "two" });
    await three.end();
  });

  it("lets a mark of doubt win over a version that another machine sent before it", async () => {
    const { url } = await newShared();
    const two = await openMachine(url);
    const at = Date.UTC(2026, 0, 1);
    two.state.save({ accepted: [accepted("a", "0", Date.now(), { answeredAtMs: at })] });
    expect(await two.record.finish()).toBeUndefined();
    const one = await openMachine(url);
    two.state.save({ accepted: [accepted("a", "1", Date.now(), { answeredAtMs: at + 5000 })] });
    expect(await two.end()).toBeUndefined();
    await one.state.doubt([{ target, id: "a" }]);
    expect(await one.end()).toBeUndefined();
    const three = await openMachine(url);
    expect(wholes(three.state)).toEqual({ a: "~0" });
    await three.end();
  });

  it("lets what was made after a fetch win, whatever the clocks say", async () => {
    const { url } = await newShared();
    const two = await openMachine(url);
    two.state.save({ accepted: [accepted("a", "1", Date.now())] });
    await two.end();
    const one = await openMachine(url);
    one.state.save({ accepted: [accepted("a", "2", Date.now() - 60_000)] });
    await one.end();
    const three = await openMachine(url);
    expect(wholes(three.state)).toEqual({ a: "2" });
    await three.end();
  });

  it("takes the shared row where this machine changed nothing later, and keeps what it changed later", async () => {
    const { url } = await newShared();
    const folder = join(temporaryFolder(), "one");
    await (await openMachine(url, { folder })).end();
    const { state } = await openState(folder, Date.now);
    state.save({
      accepted: [accepted("a", "here", Date.now()), accepted("b", "here", Date.now())],
    });
    state.database.exec("UPDATE unpushed SET at = at - 60000 WHERE key LIKE '%\"a\"%'");
    state.close();
    const two = await openMachine(url);
    const ago = Date.now() - 30_000;
    two.state.save({ accepted: [accepted("a", "there", ago), accepted("b", "there", ago)] });
    await two.end();
    const one = await openMachine(url, { folder });
    expect(wholes(one.state)).toEqual({ a: "there", b: "here" });
    expect(await one.end()).toBeUndefined();
    const three = await openMachine(url);
    expect(wholes(three.state)).toEqual({ a: "there", b: "here" });
    await three.end();
  });

  it("loses no row of pushes at once: each fetch sees all that came before", async () => {
    const { url } = await newShared();
    const all = await Promise.all(Array.from({ length: 4 }, () => openMachine(url)));
    const folder = join(temporaryFolder(), "reader");
    for (let round = 0; round < 5; round++) {
      for (const [index, each] of all.entries()) {
        each.state.save({ accepted: [accepted(`${index}-${round}`, "1", Date.now())] });
      }
      await (await openMachine(url, { folder })).end();
    }
    for (const each of all) expect(await each.end()).toBeUndefined();
    const reader = await openMachine(url, { folder });
    expect(Object.keys(wholes(reader.state))).toHaveLength(20);
    await reader.end();
  });

  it("fetches more than a page, and goes on where a fetch was cut", async () => {
    const { url } = await newShared();
    const one = await openMachine(url);
    const records = Array.from({ length: 5_100 }, (_, index) =>
      accepted(`d${index}`, "1", Date.now()),
    );
    one.state.save({ accepted: records });
    await one.end();
    const two = await openMachine(url);
    expect(two.record.fetched).toBe(5_100);
    expect(Object.keys(wholes(two.state))).toHaveLength(5_100);
    await two.end();
  });

  it("keeps what it cannot push, says so, and the next run pushes it", async () => {
    const { url, server } = await newShared();
    const folder = join(temporaryFolder(), "one");
    const one = await openMachine(url, { folder });
    await server.stop("SIGQUIT");
    one.state.save({ accepted: [accepted("a", "1", Date.now()), accepted("b", "1", Date.now())] });
    const error = await one.end();
    expect(error).toMatchObject({
      exit: "local",
      message: expect.stringMatching(/^2 rows are not in the shared record/),
    });
    expect(error?.hints.join()).toContain("knowctl state push");
    await server.start();
    const again = await openMachine(url, { folder });
    again.record.kick();
    expect(await again.end()).toBeUndefined();
    const two = await openMachine(url);
    expect(wholes(two.state)).toEqual({ a: "1", b: "1" });
    await two.end();
  });

  it("goes on after a restart of the server in the middle", async () => {
    const { url, server } = await newShared();
    const one = await openMachine(url);
    await one.record.lockToSend();
    one.state.save({ accepted: [accepted("a", "1", Date.now())] });
    await server.stop("SIGQUIT");
    await server.start();
    one.state.save({ accepted: [accepted("b", "1", Date.now())] });
    expect(await one.record.finish()).toBeUndefined();
    const two = await openMachine(url);
    expect(wholes(two.state)).toEqual({ a: "1", b: "1" });
    // The lock came back with the new connection.
    expect((await failureOf(two.record.lockToRemove())).exit).toBe("local");
    await one.end();
    await two.record.lockToRemove();
    await two.end();
  });

  it("lets many send at once, and one remove alone", async () => {
    const { url } = await newShared("other");
    const [one, two, other] = [
      await openMachine(url),
      await openMachine(url),
      await openMachine(url, { project: "other" }),
    ];
    await one.record.lockToSend();
    await two.record.lockToSend();
    await other.record.lockToRemove();
    expect(await failureOf(two.record.lockToRemove())).toMatchObject({
      exit: "local",
      message: expect.stringContaining("another run of project kb sends"),
    });
    await one.end();
    await other.end();
    await two.end();
    const three = await openMachine(url);
    await three.record.lockToRemove();
    const four = await openMachine(url);
    expect((await failureOf(four.record.lockToSend())).message).toContain("removes");
    await three.end();
    await four.end();
  });

  it("keeps projects apart, and knows what another one has", async () => {
    const { url } = await newShared("other");
    const one = await openMachine(url);
    one.state.save({ accepted: [accepted("a", "1", Date.now())] });
    await one.end();
    const other = await openMachine(url, { project: "other" });
    expect(wholes(other.state)).toEqual({});
    const held = await other.record.othersWith("http://kb.example", ["a", "b"]);
    expect([...held]).toEqual([["a", "kb"]]);
    expect(await other.record.othersWith("http://else.example", ["a"])).toEqual(new Map());
    await other.end();
    const again = await openMachine(url);
    expect(await again.record.othersWith("http://kb.example", ["a"])).toEqual(new Map());
    again.state.dropAccepted(target, "a");
    await again.end();
    const later = await openMachine(url, { project: "other" });
    expect(await later.record.othersWith("http://kb.example", ["a"])).toEqual(new Map());
    await later.end();
  });

  it("refuses another project's state, another repository, and a record that lost rows", async () => {
    const { url, sql } = await newShared("other");
    const folder = join(temporaryFolder(), "one");
    const one = await openMachine(url, { folder });
    one.state.save({ accepted: [accepted("a", "1", Date.now())] });
    await one.end();
    expect(await failureOf(openMachine(url, { folder, project: "other" }))).toMatchObject({
      exit: "usage",
      message: expect.stringContaining("is a copy of project kb"),
    });
    expect((await failureOf(openMachine(url, { project: "none" }))).exit).toBe("not-configured");
    // Another repository under this name: its own records are of another target.
    const foreign = join(temporaryFolder(), "foreign");
    const { state } = await openState(foreign, Date.now);
    state.save({ accepted: [accepted("z", "1", Date.now(), { target: "http://kb.example#9" })] });
    state.close();
    expect(await failureOf(openMachine(url, { folder: foreign }))).toMatchObject({
      exit: "usage",
      message: expect.stringContaining("#2, and this one to http://kb.example#9"),
    });
    // A database from a backup of before.
    sql("delete from knowctl_rows; update knowctl_projects set revision = 0, target = null");
    expect(await failureOf(openMachine(url, { folder }))).toMatchObject({
      exit: "local",
      hints: [expect.stringContaining("state push --all")],
    });
    const whole = await openMachine(url, { folder, isWhole: true });
    expect(await whole.end()).toBeUndefined();
    const two = await openMachine(url);
    expect(wholes(two.state)).toEqual({ a: "1" });
    await two.end();
  });

  it("writes nothing of another repository that began at the same time, and follows a move", async () => {
    const { url, sql } = await newShared();
    const [one, two] = [await openMachine(url), await openMachine(url)];
    const elsewhere = "http://kb.example#9";
    one.state.save({ accepted: [accepted("a", "1", Date.now())] });
    expect(await one.record.finish()).toBeUndefined();
    two.state.save({ accepted: [accepted("z", "1", Date.now(), { target: elsewhere })] });
    expect(await two.end()).toMatchObject({
      message: expect.stringContaining(`sends to ${target}, and this one to ${elsewhere}`),
    });
    expect(sql("select count(*) from knowctl_rows")).toBe("1");
    one.state.database.exec("UPDATE accepted SET target = 'http://new.example#2'");
    expect(await one.end()).toBeUndefined();
    expect(sql("select target from knowctl_projects")).toBe("http://new.example#2");
  });

  it("takes an existing state along, and a state that was unshared again", async () => {
    const { url } = await newShared();
    const folder = join(temporaryFolder(), "one");
    const { state } = await openState(folder, Date.now);
    state.save({ accepted: [accepted("a", "1", Date.now())] });
    state.close();
    const one = await openMachine(url, { folder });
    expect(countUnpushed(one.state.database)).toBe(1);
    expect(await one.end()).toBeUndefined();
    const again = (await openState(folder, Date.now)).state;
    unbind(again.database);
    again.save({ accepted: [accepted("b", "1", Date.now())] });
    expect(countUnpushed(again.database)).toBe(0);
    again.close();
    await (await openMachine(url, { folder })).end();
    const two = await openMachine(url);
    expect(wholes(two.state)).toEqual({ a: "1", b: "1" });
    await two.end();
  });
});
