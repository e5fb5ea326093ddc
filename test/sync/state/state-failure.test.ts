import type * as FileSystem from "node:fs";
import { expect, it, vi } from "vitest";
import { stateFailure } from "../../../src/sync/state/state.ts";

// Root may write wherever the file system does not say no itself.
const denied = vi.hoisted(() => ({ path: "" }));

vi.mock("node:fs", async (importOriginal) => ({
  ...(await importOriginal<typeof FileSystem>()),
  accessSync(path: string) {
    if (path !== denied.path) return;
    const message = `EROFS: read-only file system, access '${path}'`;
    throw Object.assign(new Error(message), { code: "EROFS" });
  },
}));

it.each(["/project/.knowctl/state.db", "/project/.knowctl"])("names what denies %s", (path) => {
  denied.path = path;
  const error = stateFailure(
    "/project/.knowctl/state.db",
    new Error("unable to open database file"),
  );
  expect(error).toMatchObject({ exit: "local" });
  expect(error.message).toBe(
    `cannot use the state /project/.knowctl/state.db: unable to open database file (EROFS: read-only file system, access '${path}')`,
  );
});
