import {
  appendFileSync,
  chmodSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openStateForReading } from "../../../../src/sync/state/file/read-only-state.ts";
import {
  hasState,
  openState,
  openState as openToWrite,
} from "../../../../src/sync/state/file/state-file.ts";
import { CliError } from "../../../../src/errors.ts";
import { denyWritingIn, replaceInFileSystem } from "../../../file-system.ts";
import { temporaryFolder } from "../../../support.ts";
import { anyOwner, endUse } from "../../open-state.ts";
import { execFileSync } from "node:child_process";
import { type StateRules, namedStateFolder } from "../../../../src/sync/state/file/state-folder.ts";

describe("read only state", () => {
  const target = "http://service#2";

  /** A state with one sent document, in a folder where writing is denied. */
  async function createReadOnly(): Promise<{ folder: string; path: string }> {
    const folder = join(temporaryFolder(), "state");
    const { state } = await openToWrite(folder, Date.now, anyOwner);
    const whole = "a".repeat(22);
    state.save({
      accepted: [
        {
          target,
          id: "a.md",
          path: "a.md",
          part: 0,
          whole,
          fields: "",
          updatedAt: undefined,
          storedId: undefined,
          sentAtMs: 1,
        },
      ],
    });
    state.close();
    await endUse(folder);
    denyWritingIn(folder);
    return { folder, path: join(folder, "state.db") };
  }

  const open = (folder: string) => openStateForReading(folder, Date.now, anyOwner);

  async function failureOf(folder: string): Promise<CliError> {
    const error = await open(folder).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof CliError)) throw new Error(`not refused: ${String(error)}`);
    expect(error.exit).toBe("local");
    return error;
  }

  it("reads a copy, and leaves the folder as it is", async () => {
    const { folder, path } = await createReadOnly();
    const before = [statSync(folder).mtimeMs, readFileSync(path, "latin1")];
    const { state, wasEmptied } = await open(folder);
    expect(wasEmptied).toBe(false);
    expect(state.isCopy).toBe(true);
    expect([...state.listAccepted(target)]).toMatchObject([{ id: "a.md" }]);
    state.dropAccepted(target, "a.md");
    expect(state.accepted(target, "a.md")).toBeUndefined();
    state.close();
    expect([statSync(folder).mtimeMs, readFileSync(path, "latin1")]).toEqual(before);
  });

  it("opens a writable state itself", async () => {
    const { state } = await open(join(temporaryFolder(), "state"));
    expect(state.isCopy).toBeUndefined();
    state.close();
  });

  it.each(["-wal", "-journal"])("refuses a state with records in state.db%s", async (suffix) => {
    const { folder, path } = await createReadOnly();
    writeFileSync(path + suffix, "");
    (await open(folder)).state.close();
    writeFileSync(path + suffix, "records");
    const { message, hints } = await failureOf(folder);
    expect(message).toBe(`the read-only state ${path} is in use, or its run was killed`);
    expect(hints.join()).toContain("where the folder is writable");
  });

  it("refuses a state that another run changes during the copy", async () => {
    const { folder, path } = await createReadOnly();
    let change = (): void => appendFileSync(path, "x");
    replaceInFileSystem("readSync", (actual) => (...args: unknown[]) => {
      change();
      change = () => {};
      return actual(...args);
    });
    expect((await failureOf(folder)).message).toBe(
      `another run has changed the state ${path} just now`,
    );
  });

  it("does not blame the temporary folder for a state that this user cannot read", async () => {
    const { folder, path } = await createReadOnly();
    replaceInFileSystem("accessSync", (actual) => (name: string, mode?: number) => {
      if (name !== path || mode !== constants.R_OK) return actual(name, mode);
      throw Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    });
    const { message, hints } = await failureOf(folder);
    expect(message).toContain(`cannot use the state ${path}: permission denied`);
    expect(hints.join()).not.toContain("TMPDIR");
  });

  it("says that a state is damaged, and does not move it", async () => {
    const { folder, path } = await createReadOnly();
    truncateSync(path, 0);
    const { state, wasEmptied } = await open(folder);
    state.close();
    expect(wasEmptied).toBe(true);
    writeFileSync(path, "no database".repeat(100));
    expect((await failureOf(folder)).message).toBe(`the state ${path} is damaged`);
    expect(readdirSync(folder)).toContain("state.db");
  });
});

describe("state folder", () => {
  const isWindows = process.platform === "win32";
  const mine: StateRules = { ...anyOwner, uid: process.geteuid?.() ?? -1 };
  /** As another user would see the same files. */
  const theirs: StateRules = { ...anyOwner, uid: 4_000_000 };

  const open = async (folder: string, rules = mine): Promise<void> => {
    const { state } = await openState(folder, Date.now, rules);
    state.close();
  };

  async function refusalOf(folder: string, rules = mine): Promise<CliError> {
    const error = await open(folder, rules).then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    if (!(error instanceof CliError)) throw new Error(`not refused: ${String(error)}`);
    expect(error.exit).toBe("local");
    // Whoever only looks is told the same.
    expect(() => hasState(folder, rules)).toThrow(error.message);
    return error;
  }

  const files = ["state.db", "state.db-wal", "state.db-shm", "state.db-journal", ".gitignore"];

  describe("the folder of the state", () => {
    it("is refused as a link, and nothing is made behind it", async () => {
      const [project, outside] = [temporaryFolder(), temporaryFolder()];
      const folder = join(project, ".knowctl");
      for (const target of [outside, join(outside, "none")]) {
        symlinkSync(target, folder, "junction");
        const { message, hints } = await refusalOf(folder);
        expect(message).toBe(`${folder} is a symbolic link: not used`);
        expect(hints.join()).toContain("--state");
        rmSync(folder);
      }
      expect(readdirSync(outside)).toEqual([]);
    });

    it("is refused as a file", async () => {
      const folder = join(temporaryFolder(), ".knowctl");
      writeFileSync(folder, "");
      expect((await refusalOf(folder)).message).toBe(`${folder} is not a folder: not used`);
    });

    it.skipIf(isWindows)(
      "is refused when it belongs to another user, and is left as it is",
      async () => {
        const folder = join(temporaryFolder(), ".knowctl");
        mkdirSync(folder, { mode: 0o755 });
        const { message, hints } = await refusalOf(folder, theirs);
        expect(message).toBe(`${folder} belongs to another user (uid ${mine.uid}): not used`);
        expect(hints.join()).toContain("KNOWCTL_TRUST_PROJECT=1");
        expect(readdirSync(folder)).toEqual([]);
        await open(folder, { ...theirs, trustAll: true });
        expect(statSync(folder).mode & 0o777).toBe(0o755);
      },
    );

    it.skipIf(isWindows)("is closed to others, a new one and one that is there", async () => {
      const project = temporaryFolder();
      const folder = join(project, ".knowctl");
      for (const make of [() => {}, () => chmodSync(folder, 0o775)]) {
        make();
        await open(folder);
        expect(statSync(folder).mode & 0o777).toBe(0o700);
        expect(statSync(join(folder, "state.db")).mode & 0o777).toBe(0o600);
      }
      // Not one that the person named, which may hold anything.
      chmodSync(project, 0o755);
      await open(project);
      expect(statSync(project).mode & 0o777).toBe(0o755);
    });
  });

  describe.each([".knowctl", "named"])("a file in the folder %s", (name) => {
    it.each(files)("is refused as a link, and nothing is made behind it: %s", async (file) => {
      const outside = temporaryFolder();
      writeFileSync(join(outside, "there"), "kept");
      const folder = join(temporaryFolder(), name);
      mkdirSync(folder);
      const path = join(folder, file);
      for (const target of ["there", "none"]) {
        symlinkSync(join(outside, target), path);
        expect((await refusalOf(folder)).message).toBe(`${path} is a symbolic link: not used`);
        expect(lstatSync(path).isSymbolicLink()).toBe(true);
        rmSync(path);
      }
      expect(readdirSync(outside)).toEqual(["there"]);
      expect(readFileSync(join(outside, "there"), "utf8")).toBe("kept");
      expect(readdirSync(folder)).toEqual([]);
    });

    it.each(files)("is refused as a folder: %s", async (file) => {
      const folder = join(temporaryFolder(), name);
      mkdirSync(join(folder, file), { recursive: true });
      const { message } = await refusalOf(folder);
      expect(message).toBe(`${join(folder, file)} is not a regular file: not used`);
    });

    it.skipIf(isWindows)("is refused as a FIFO, which would be waited for", async () => {
      const folder = join(temporaryFolder(), name);
      mkdirSync(folder);
      execFileSync("mkfifo", [join(folder, "state.db")]);
      expect((await refusalOf(folder)).message).toContain("is not a regular file");
    });

    it("is refused with a second name elsewhere", async () => {
      const folder = join(temporaryFolder(), name);
      await open(folder);
      const path = join(folder, "state.db");
      linkSync(path, join(temporaryFolder(), "other.db"));
      expect((await refusalOf(folder)).message).toContain(`${path} has a second name`);
    });

    it.skipIf(isWindows)(
      "is refused when it belongs to another user, unless that is accepted",
      async () => {
        const folder = join(temporaryFolder(), name);
        await open(folder);
        const { message, hints } = await refusalOf(folder, theirs);
        expect(message).toContain(`belongs to another user (uid ${mine.uid}): not used`);
        expect(hints.join()).toContain("KNOWCTL_TRUST_PROJECT=1");
        // Whose rights could not be changed.
        chmodSync(join(folder, "state.db"), 0o644);
        await open(folder, { ...theirs, trustAll: true });
        expect(statSync(join(folder, "state.db")).mode & 0o777).toBe(0o644);
        // Where files have no owner none is asked for.
        await open(folder, anyOwner);
      },
    );
  });

  describe("--state", () => {
    it("may name a link, but no link with the name of the tool's own folder", async () => {
      const [project, outside] = [realpathSync(temporaryFolder()), realpathSync(temporaryFolder())];
      symlinkSync(outside, join(project, "kept"), "junction");
      symlinkSync(outside, join(project, ".knowctl"), "junction");
      expect(namedStateFolder(project, "kept")).toBe(outside);
      await open(namedStateFolder(project, "kept"));
      expect(readdirSync(outside)).toContain("state.db");
      await refusalOf(namedStateFolder(project, ".knowctl"));
      expect(namedStateFolder(project, "new")).toBe(join(project, "new"));
    });
  });
});
