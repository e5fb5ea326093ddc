import { expect, it } from "vitest";
import { stateFailure } from "../../../src/sync/state/state-failure.ts";
import { replaceInFileSystem } from "../../file-system.ts";

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
