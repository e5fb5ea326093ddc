import { describe, expect, it, onTestFinished } from "vitest";
import { listMissing } from "../../../src/sync/orphans/orphans.ts";
import { findLostPath } from "../../../src/sync/plan/merge.ts";
import { createPlanTable } from "../../../src/sync/plan/plan-table.ts";
import type { State } from "../../../src/sync/state/state.ts";
import { expectConstant } from "../../cost.ts";
import { anyOwner, hasState, openState, openTestState } from "../open-state.ts";
import { openDatabase, openForReading } from "../../../src/database.ts";
import {
  createHasPath,
  createLastOptions,
  createOtherIds,
} from "../../../src/sync/state/by-path.ts";
import { createLog } from "../../../src/sync/state/tables.ts";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { dialects } from "../../../src/api/dialects.ts";
import { findLocalFiles } from "../../../src/sync/state/look-ups.ts";
import { temporaryFolder } from "../../support.ts";
import { stateFailure } from "../../../src/sync/state/state-failure.ts";
import { replaceInFileSystem } from "../../file-system.ts";
import { CliError } from "../../../src/errors.ts";
import type { AcceptedRecord, FileRecord } from "../../../src/sync/state/records.ts";

describe("documents of stdin", () => {
  const target = "https://h#2";

  /** A state with so many documents from stdin. */
  async function openFilled(count: number): Promise<State> {
    const state = await openTestState();
    state.database
      .prepare(
        `INSERT INTO accepted (target, id, part, whole, fields, sent_at)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
        SELECT '${target}', 'rows/' || n, 0, 'w', 'f', 1 FROM numbers`,
      )
      .run(count);
    return state;
  }

  it("costs a run with files nothing", async () => {
    const sizes = [100, 300_000] as const;
    const states = new Map<number, State>();
    for (const size of sizes) states.set(size, await openFilled(size));
    expectConstant(sizes, (size) => {
      const { database } = states.get(size) ?? expect.fail();
      expect(findLostPath(database, () => false)).toBeUndefined();
      const table = createPlanTable(database);
      table.index();
      expect([...listMissing(table, target, false)]).toEqual([]);
    });
    for (const state of states.values()) state.close();
  });

  it("hides no document of a file that only `accepted` knows", async () => {
    const state = await openFilled(10);
    const record = { target, id: "b", path: "b.md", part: 0, whole: "w", fields: "f" };
    const rest = { updatedAt: undefined, storedId: undefined, sentAtMs: 1 };
    state.save({ accepted: [{ ...record, ...rest }] });
    expect(findLostPath(state.database, () => false)).toBe("b.md");
    expect(findLostPath(state.database, (path) => path === "b.md")).toBeUndefined();
    const table = createPlanTable(state.database);
    table.index();
    const missing = [...listMissing(table, target, false)];
    expect(missing.map(({ path }) => path)).toEqual(["b.md"]);
    state.close();
  });
});

describe("look ups by path", () => {
  const target = "https://h#2";

  async function openFilled(count: number): Promise<State> {
    const state = await openTestState();
    state.database
      .prepare(
        `INSERT INTO accepted (target, id, path, part, whole, fields, sent_at, options)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
        SELECT '${target}', 'id/' || n, 'docs/' || n || '.md', 0, 'w', 'f', 1, 3 FROM numbers`,
      )
      .run(count);
    return state;
  }

  it("costs the same however many documents are recorded", async () => {
    const sizes = [100, 100_000] as const;
    const states = new Map<number, State>();
    for (const size of sizes) states.set(size, await openFilled(size));
    expectConstant(sizes, (size) => {
      const { database } = states.get(size) ?? expect.fail();
      const lastOptions = createLastOptions(database);
      const findOther = createOtherIds(database);
      const hasPath = createHasPath(database);
      for (let number = 1; number <= 100; number++) {
        const path = `docs/${number}.md`;
        expect(lastOptions(target, path)).toEqual({ number: 3, atMs: 1 });
        const other = findOther(target, { path, part: 0, id: "new" });
        expect(other).toEqual({ id: `id/${number}`, options: 3 });
        expect(findOther(target, { path, part: 0, id: `id/${number}` })).toBeUndefined();
        expect([path, "docs", "doc"].map((each) => hasPath(target, each))).toEqual([
          true,
          true,
          false,
        ]);
      }
    });
    for (const state of states.values()) state.close();
  });
});

describe("log", () => {
  it("keeps failures in order, gives them back from the first each time, also what came meanwhile", async () => {
    const database = await openDatabase(":memory:");
    const log = createLog<{ path: string; id?: string }>(database, "failed");
    expect([...log.list()]).toEqual([]);
    for (let number = 0; number < 700; number++) log.add({ path: `${number}` });
    const half = log.list();
    expect(half.next().value).toEqual({ path: "0" });
    log.add({ path: "last", id: "::\u0000\ud800" });
    expect([...half]).toHaveLength(700);
    const all = [...log.list()];
    expect(all.map(({ path }) => path)).toEqual([
      ...Array.from({ length: 700 }, (_, number) => `${number}`),
      "last",
    ]);
    expect(all.at(-1)).toEqual({ path: "last", id: "::\u0000\ud800" });
    expect([...createLog(database, "failed").list()]).toEqual([]);
    database.close();
  });
});

describe("look ups", () => {
  const baseUrl = "https://host/prefix";
  const now = (): number => 0;

  async function stateWith(
    documents: [id: string, path: string, target?: string][],
  ): Promise<string> {
    const folder = join(temporaryFolder(), ".knowctl");
    const { state } = await openState(folder, now);
    const shared = { part: 0, whole: "w" };
    state.save({
      files: documents.map(([id, path]) => ({
        ...shared,
        path,
        seen: "",
        content: "c",
        document: { id, ccPairId: 7, whole: "w" },
        skipped: undefined,
        target: undefined,
      })),
      accepted: documents.map(([id, path, target = `${baseUrl}#7`]) => ({
        ...shared,
        target,
        id,
        path,
        fields: "",
        updatedAt: undefined,
        storedId: undefined,
        sentAtMs: 1,
      })),
    });
    state.close();
    return folder;
  }

  const rules = { rules: anyOwner, onRefused: () => {} };

  describe("findLocalFiles", () => {
    const { storedId } = dialects.onyx;
    it.each<[name: string, own: string, stored: string, rule: typeof storedId, found: boolean]>([
      ["the id itself", "docs/a.md", "docs/a.md", undefined, true],
      ["an encoded id", "docs/my file (ä).md", "docs%2Fmy_file_%28%C3%A4%29.md", storedId, true],
      [
        "the same without knowing the rule",
        "docs/my file.md",
        "docs%2Fmy_file.md",
        undefined,
        true,
      ],
      ["an id with a percent sign", "100%/a.md", "100%25%2Fa.md", storedId, true],
      ["an id that cannot be decoded", "100%.md", "100%.md", undefined, true],
      ["another id", "docs/a.md", "docs/b.md", storedId, false],
      ["an id that only looks alike", "a_b.md", "a b.md", storedId, false],
    ])("finds %s", async (_name, own, stored, rule, found) => {
      const folder = await stateWith([[own, "docs/file.md"]]);
      const files = await findLocalFiles(
        { folder, baseUrl, ...rules },
        { ids: [stored, "gone"], storedId: rule },
      );
      expect([...files]).toEqual(found ? [[stored, "docs/file.md"]] : []);
    });

    it("knows only what was sent to this service, whatever the pair", async () => {
      const folder = await stateWith([
        ["a", "a.md", "https://other#7"],
        ["b", "b.md", `${baseUrl}#9`],
        ["c", "c.md", `${baseUrl}/more#9`],
      ]);
      const files = await findLocalFiles({ folder, baseUrl, ...rules }, { ids: ["a", "b", "c"] });
      expect([...files]).toEqual([["b", "b.md"]]);
    });

    it("makes nothing where there is no state", async () => {
      const folder = join(temporaryFolder(), ".knowctl");
      expect((await findLocalFiles({ folder, baseUrl, ...rules }, { ids: ["a"] })).size).toBe(0);
      expect(existsSync(folder)).toBe(false);
    });

    it("finds nothing, and changes nothing, in a file that is no state", async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "state.db"), "no database at all, whatever its name says");
      expect((await findLocalFiles({ folder, baseUrl, ...rules }, { ids: ["a"] })).size).toBe(0);
      expect(readdirSync(folder)).toEqual(["state.db"]);
    });

    it("finds nothing in a file that may not be read", async () => {
      const folder = await stateWith([["a", "a.md"]]);
      chmodSync(join(folder, "state.db"), 0);
      await expect(
        findLocalFiles({ folder, baseUrl, ...rules }, { ids: ["a"] }),
      ).resolves.toBeInstanceOf(Map);
    });

    it("asks no view", async () => {
      const folder = temporaryFolder();
      const database = await openDatabase(join(folder, "state.db"));
      database.exec(
        `CREATE TABLE accepted (target, id); INSERT INTO accepted VALUES ('${baseUrl}#7', 'a');
       CREATE VIEW files AS SELECT 'a' AS id, 'a.md' AS path`,
      );
      database.close();
      expect((await findLocalFiles({ folder, baseUrl, ...rules }, { ids: ["a"] })).size).toBe(0);
    });
  });

  describe("openForReading", () => {
    it("writes nothing", async () => {
      const folder = await stateWith([["a", "a.md"]]);
      const database = await openForReading(join(folder, "state.db"));
      expect(() => database.exec("DELETE FROM files")).toThrow(/readonly/);
      database.close();
    });
  });
});

describe("state failure", () => {
  it.each(["/project/.knowctl/state.db", "/project/.knowctl"])("names what denies %s", (denied) => {
    // Root may write wherever the file system does not say no itself.
    replaceInFileSystem("accessSync", () => (path: string) => {
      if (path !== denied) return;
      const message = `EROFS: read-only file system, access '${path}'`;
      throw Object.assign(new Error(message), { code: "EROFS" });
    });
    const error = stateFailure(
      "/project/.knowctl/state.db",
      new Error("unable to open database file"),
    );
    expect(error).toMatchObject({ exit: "local" });
    expect(error.hints.join()).toContain("an upload also runs with --no-state");
    expect(error.message).toBe(
      `cannot use the state /project/.knowctl/state.db: unable to open database file (${denied}: the file system is read-only)`,
    );
  });
});

describe("state", () => {
  const now = (): number => Date.parse("2026-11-21T09:00:00Z");

  const file: FileRecord = {
    path: "docs/ä.md",
    part: 0,
    seen: "12:1700000000123456789:1700000000123456789:42 m1",
    content: "c",
    document: { id: "docs/ä.md", ccPairId: 7, whole: "w" },
    skipped: undefined,
    target: "https://host#7",
  };
  const skipped: FileRecord = {
    ...file,
    path: "docs/draft.md",
    document: undefined,
    skipped: "draft: true",
    target: undefined,
  };
  const accepted: AcceptedRecord = {
    target: "https://host#7",
    id: "docs/ä.md",
    path: "docs/ä.md",
    part: 0,
    whole: "w",
    fields: "title:x",
    updatedAt: "2026-01-02T00:00:00Z",
    storedId: "docs%2F%C3%A4.md",
    sentAtMs: 1_700_000_000_001,
  };

  async function failureOf(promise: Promise<unknown>): Promise<CliError> {
    try {
      await promise;
    } catch (error) {
      if (error instanceof CliError) return error;
      throw error;
    }
    throw new Error("expected a CliError");
  }

  it("writes something each time it is to be on disk: else SQLite waits for nothing", async () => {
    const folder = temporaryFolder();
    const { state } = await openState(folder, now);
    onTestFinished(() => state.close());
    const journalBytes = (): number => statSync(join(folder, "state.db-wal")).size;
    for (let time = 1; time <= 3; time++) {
      const before = journalBytes();
      state.sync();
      expect(journalBytes()).toBeGreaterThan(before);
    }
  });

  describe("state store", () => {
    it("gives back what was saved, after a reopen too", async () => {
      const folder = join(temporaryFolder(), "state");
      const { state: first } = await openState(folder, now);
      first.save({ files: [file, skipped], accepted: [accepted] });
      first.close();
      const { state: second } = await openState(folder, now);
      expect(second.file(file.path)).toEqual(file);
      expect(second.file(skipped.path)).toEqual(skipped);
      expect(second.file("docs/other.md")).toBeUndefined();
      expect(second.accepted(accepted.target, accepted.id)).toEqual(accepted);
      expect(second.accepted("https://host#8", accepted.id)).toBeUndefined();
      expect([...second.listAccepted(accepted.target)]).toEqual([accepted]);
      second.close();
    });

    it("hides itself from git and from other users", async () => {
      const folder = join(temporaryFolder(), "state");
      (await openState(folder, now)).state.close();
      expect(readFileSync(join(folder, ".gitignore"), "utf8")).toBe("*\n");
      expect(statSync(join(folder, "state.db")).mode & 0o777).toBe(0o600);
    });

    it("hides nothing but itself: beside other files it writes no .gitignore", async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "welcome.md"), "Hello.");
      (await openState(folder, now)).state.close();
      expect(readdirSync(folder)).not.toContain(".gitignore");
    });

    it.each([
      ["text", "this is no database at all, but long enough to have a header"],
      ["a torn database", "SQLite format 3\0 and then rubbish".repeat(200)],
    ])("moves a damaged file aside and says so: %s", async (_name, content) => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "state.db"), content);
      const other = await failureOf(openState(folder, now));
      expect(other.message).toContain("is no state, or a damaged one: not used");
      expect(readFileSync(join(folder, "state.db"), "utf8")).toBe(content);
      rmSync(join(folder, "state.db"));
      (await openState(folder, now)).state.close();
      for (const each of readdirSync(folder)) {
        if (each.startsWith("state.db")) rmSync(join(folder, each));
      }
      writeFileSync(join(folder, "state.db"), content);
      const error = await failureOf(openState(folder, now));
      expect(error.exit).toBe("local");
      expect(error.message).toContain("damaged; moved to");
      const aside = readdirSync(folder).find((name) => name.includes(".corrupt-2026-11-21T09"));
      expect(aside).toBeDefined();
      expect(readFileSync(join(folder, aside ?? ""), "utf8")).toBe(content);
      // The run after it starts with an empty state.
      const { state } = await openState(folder, now);
      expect(state.file("a")).toBeUndefined();
      state.close();
    });

    it("tells an emptied file from a new one", async () => {
      const folder = temporaryFolder();
      const created = await openState(folder, now);
      created.state.close();
      const reopened = await openState(folder, now);
      reopened.state.close();
      const other = temporaryFolder();
      writeFileSync(join(other, "state.db"), "");
      const emptied = await openState(other, now);
      emptied.state.close();
      // As another process leaves it for a moment, which creates the state.
      const begun = temporaryFolder();
      writeFileSync(join(begun, "state.db-new"), "");
      writeFileSync(join(begun, "state.db"), "");
      const joined = await openState(begun, now);
      joined.state.close();
      const all = { created, reopened, emptied, joined };
      expect(
        Object.entries(all).flatMap(([name, each]) => (each.wasEmptied ? [name] : [])),
      ).toEqual(["emptied"]);
    });

    it.each([
      ["99", "another version of knowctl"],
      ["5", "another version of knowctl"],
      ["x", "another version of knowctl"],
    ])("refuses a state of version %s and leaves it alone", async (version, message) => {
      const folder = temporaryFolder();
      const { state } = await openState(folder, now);
      state.database.exec(`UPDATE meta SET value = '${version}' WHERE key = 'schema'`);
      state.close();
      const error = await failureOf(openState(folder, now));
      expect(error.exit).toBe("local");
      expect(error.message).toContain(message);
      expect(existsSync(join(folder, "state.db"))).toBe(true);
    });

    it("says which folder cannot be created", async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "file"), "");
      const error = await failureOf(openState(join(folder, "file", "state"), now));
      expect(error.exit).toBe("local");
      expect(error.message).toContain(join(folder, "file", "state"));
    });

    it("says what to do about a database that cannot be opened", async () => {
      const folder = temporaryFolder();
      mkdirSync(join(folder, "state.db"));
      const error = await failureOf(openState(folder, now));
      expect(error.exit).toBe("local");
      expect(error.message).toContain(join(folder, "state.db"));
      expect(error.hints.join()).toContain("--state");
    });

    it("does not take a state that cannot be looked at for none", () => {
      const folder = temporaryFolder();
      symlinkSync("loop", join(folder, "loop"));
      expect(hasState(join(folder, "none"))).toBe(false);
      expect(() => hasState(join(folder, "loop"))).toThrow(CliError);
    });

    it("keeps the target of a file that its batch or the state has accepted", async () => {
      const state = await openTestState();
      const other = { ...accepted, target: "https://host#8" };
      const targetAfter = (records: AcceptedRecord[]): string | undefined => {
        state.save({ files: [file], accepted: records });
        return state.file(file.path)?.target;
      };
      expect(targetAfter([other])).toBeUndefined();
      expect(targetAfter([{ ...accepted, whole: "earlier" }])).toBeUndefined();
      expect(targetAfter([{ ...accepted, path: "docs/b.md" }])).toBeUndefined();
      expect(targetAfter([accepted])).toBe(file.target);
      expect(targetAfter([accepted, other])).toBe(file.target);
      expect(targetAfter([{ ...accepted, whole: "earlier" }, accepted])).toBe(file.target);
      expect(targetAfter([accepted, { ...accepted, whole: "later" }])).toBeUndefined();
      state.close();
    });

    it("rolls a transaction back as a whole", async () => {
      const state = await openTestState();
      const broken = { ...accepted, id: "second", whole: null as unknown as string };
      expect(() => state.save({ accepted: [accepted, broken] })).toThrow(CliError);
      expect(state.accepted(accepted.target, accepted.id)).toBeUndefined();
      state.close();
    });

    it("takes writes from two connections at once", async () => {
      const folder = temporaryFolder();
      const { state: one } = await openState(folder, now);
      const { state: two } = await openState(folder, now);
      for (let index = 0; index < 50; index++) {
        one.save({ accepted: [{ ...accepted, id: `one-${index}` }] });
        two.save({ accepted: [{ ...accepted, id: `two-${index}` }] });
      }
      expect([...one.listAccepted(accepted.target)]).toHaveLength(100);
      one.close();
      two.close();
    });
  });
});
