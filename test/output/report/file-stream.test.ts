import { spawn, spawnSync } from "node:child_process";
import { lstatSync, openSync, closeSync, readFileSync, statSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { writeFilePieces } from "../../../src/output/report/file.ts";
import { temporaryFolder } from "../../support.ts";

const isUnix = process.platform !== "win32";

it.runIf(isUnix)("writes into a FIFO, also through a link, and keeps both", async () => {
  const folder = temporaryFolder();
  const fifo = join(folder, "fifo");
  const link = join(folder, "link");
  spawnSync("mkfifo", [fifo]);
  symlinkSync(fifo, link);
  for (const path of [fifo, link]) {
    const reader = spawn("cat", [fifo], { stdio: ["ignore", "pipe", "ignore"] });
    onTestFinished(() => void reader.kill());
    let read = "";
    reader.stdout.on("data", (data: Buffer) => void (read += String(data)));
    const ended = new Promise((resolve) => reader.on("close", resolve));
    await writeFilePieces(path, ["a", "b"]);
    await ended;
    expect(read).toBe("ab");
    expect(statSync(path).isFIFO()).toBe(true);
  }
  expect(lstatSync(link).isSymbolicLink()).toBe(true);
});

it.runIf(isUnix)("writes to an open file behind the path of its descriptor", async () => {
  const path = join(temporaryFolder(), "out");
  const descriptor = openSync(path, "w");
  await writeFilePieces(`/dev/fd/${descriptor}`, ["a"]);
  closeSync(descriptor);
  expect(readFileSync(path, "utf8")).toBe("a");
});

it.runIf(isUnix)("replaces a link to a file, and leaves the file", async () => {
  const folder = temporaryFolder();
  const [file, link] = [join(folder, "file"), join(folder, "link")];
  await writeFilePieces(file, ["old"]);
  symlinkSync(file, link);
  await writeFilePieces(link, ["new"]);
  expect(readFileSync(file, "utf8")).toBe("old");
  expect(lstatSync(link).isSymbolicLink()).toBe(false);
});
