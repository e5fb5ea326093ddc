import { once } from "node:events";
import fs, { constants } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { createServer } from "node:net";
import { sep } from "node:path";

import { onTestFinished } from "vitest";

/** Makes a socket at this path until the running test ends. */
export async function startSocket(path: string): Promise<void> {
  const server = createServer().listen(path);
  await once(server, "listening");
  onTestFinished(() => void server.close());
}

/** Puts a function in the place of one of node:fs, for all modules, until the running test ends. */
export function replaceInFileSystem<
  Name extends "openSync" | "readdirSync" | "readSync" | "fstatSync" | "accessSync" | "rmSync",
>(
  name: Name,
  make: (actual: (...args: unknown[]) => unknown) => (...args: never[]) => unknown,
): void {
  const actual = fs[name];
  const put = (call: unknown): void => {
    Object.assign(fs, { [name]: call });
    syncBuiltinESMExports();
  };
  put(make(actual as (...args: unknown[]) => unknown));
  onTestFinished(() => put(actual));
}

/** Denies writing in a folder until the running test ends, to root as well. Only accessSync() says so. */
export function denyWritingIn(folder: string): void {
  replaceInFileSystem("accessSync", (actual) => (path: string, mode?: number) => {
    const isBelow = path === folder || path.startsWith(folder + sep);
    if (!isBelow || ((mode ?? 0) & constants.W_OK) === 0) return actual(path, mode);
    const message = `EROFS: read-only file system, access '${path}'`;
    throw Object.assign(new Error(message), { code: "EROFS" });
  });
}
