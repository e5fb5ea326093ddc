import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { CliError } from "../../../src/errors.ts";
import type { AcceptedRecord, FileRecord } from "../../../src/sync/state/records.ts";
import { temporaryFolder } from "../../support.ts";
import { hasState, openState, openTestState } from "../open-state.ts";

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
    expect(Object.entries(all).flatMap(([name, each]) => (each.wasEmptied ? [name] : []))).toEqual([
      "emptied",
    ]);
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
