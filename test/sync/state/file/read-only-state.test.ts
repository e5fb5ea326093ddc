import {
  appendFileSync,
  constants,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openStateForReading } from "../../../../src/sync/state/file/read-only-state.ts";
import { openState as openToWrite } from "../../../../src/sync/state/file/state-file.ts";
import { CliError } from "../../../../src/errors.ts";
import { denyWritingIn, replaceInFileSystem } from "../../../file-system.ts";
import { temporaryFolder } from "../../../support.ts";
import { anyOwner, endUse } from "../../open-state.ts";

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
  const before = [statSync(folder).mtimeMs, readFileSync(path)];
  const { state, wasEmptied } = await open(folder);
  expect(wasEmptied).toBe(false);
  expect(state.isCopy).toBe(true);
  expect([...state.listAccepted(target)]).toMatchObject([{ id: "a.md" }]);
  state.dropAccepted(target, "a.md");
  expect(state.accepted(target, "a.md")).toBeUndefined();
  state.close();
  expect([statSync(folder).mtimeMs, readFileSync(path)]).toEqual(before);
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
