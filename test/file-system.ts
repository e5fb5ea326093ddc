import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { onTestFinished } from "vitest";

/** Puts a function in the place of one of node:fs, for all modules, until the running test ends. */
export function replaceInFileSystem<
  Name extends "openSync" | "readdirSync" | "readSync" | "accessSync",
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
