import {
  chmodSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { writeWhole } from "../../src/config/file/files.ts";
import { expandPath, isInside } from "../../src/config/find/folders.ts";
import { CliError } from "../../src/errors.ts";
import { startSocket } from "../file-system.ts";
import { temporaryFolder } from "../support.ts";

const modeOf = (path: string): number => statSync(path).mode & 0o777;

it("a private file gets mode 0600 in a folder of 0700, whatever it had", () => {
  const folder = temporaryFolder();
  const path = join(folder, "new", "deep", "file.json");
  writeWhole(path, "one");
  expect([readFileSync(path, "utf8"), modeOf(path), modeOf(join(folder, "new"))]).toEqual([
    "one",
    0o600,
    0o700,
  ]);
  chmodSync(path, 0o644);
  writeWhole(path, "two");
  expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["two", 0o600]);
});

it("takes the longest name of the file system, and advises a shorter one than that", () => {
  const path = join(temporaryFolder(), "x".repeat(255));
  writeWhole(path, "one");
  expect(readFileSync(path, "utf8")).toBe("one");
  expect(() => writeWhole(`${path}x`, "one")).toThrow(
    expect.objectContaining({ exit: "local", hints: ["choose a shorter name"] }),
  );
});

it("keepMode keeps the mode of a file that is there", () => {
  const path = join(temporaryFolder(), "file.json");
  writeWhole(path, "one", { keepMode: true });
  expect(modeOf(path)).toBe(0o644);
  chmodSync(path, 0o640);
  writeWhole(path, "two", { keepMode: true });
  expect(modeOf(path)).toBe(0o640);
});

it("a link stays a link, and its target is written", () => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, "real"), "one");
  symlinkSync("real", join(folder, "link"));
  writeWhole(join(folder, "link"), "two");
  expect(readFileSync(join(folder, "real"), "utf8")).toBe("two");
});

it("a socket stays", async () => {
  const path = join(temporaryFolder(), "socket");
  await startSocket(path);
  expect(() => writeWhole(path, "text")).toThrow(`cannot write ${path}: it is not a regular file`);
  expect(statSync(path).isSocket()).toBe(true);
});

it("a failure leaves nothing behind and names the path", () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "target"));
  expect(() => writeWhole(join(folder, "target"), "text")).toThrow(CliError);
  expect(() => writeWhole(join(folder, "target"), "text")).toThrow(join(folder, "target"));
  expect(readdirSync(folder)).toEqual(["target"]);
  writeFileSync(join(folder, "file"), "");
  expect(() => writeWhole(join(folder, "file", "below"), "text")).toThrow(
    "a part of its path is not a folder",
  );
});

it.each([
  ["~", "/home/x"],
  ["~/a", "/home/x/a"],
  ["a", "/here/a"],
  ["/a", "/a"],
  ["~other/a", "/here/~other/a"],
])("expandPath %s", (path, expected) => {
  expect(expandPath(path, "/here", "/home/x")).toBe(expected);
});

it.each([
  ["/a", "/a", true],
  ["/a", "/a/b", true],
  ["/a", "/a/..b", true],
  ["/a", "/ab", false],
  ["/a", "/", false],
])("isInside %s %s", (folder, path, expected) => {
  expect(isInside(folder, path)).toBe(expected);
});
