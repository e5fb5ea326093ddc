import {
  closeSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { checkOutputPath, writeFilePieces } from "../../../src/output/report/file.ts";
import { formOf, writeReportFile } from "../../../src/output/report/forms.ts";
import { startSocket } from "../../file-system.ts";
import { temporaryFolder } from "../../support.ts";
import { sampleRun, uploadOf } from "./sample.ts";
import { spawn, spawnSync } from "node:child_process";

describe("the form of a report", () => {
  it.each(["a.json", "A.XML", "x/run.html", "b.Sarif"])("is known of %s", (path) => {
    expect(formOf(path)).toBeTypeOf("function");
  });

  it.each(["report", "a.htm", "a.json.gz", ".json", "", "a.__proto__", "a.constructor"])(
    "is refused: %j",
    (path) => {
      expect(() => formOf(path)).toThrow(
        expect.objectContaining({
          exit: "usage",
          hints: [
            "use a file name that ends in .json, .sarif, .xml (JUnit), .html or .prom (Prometheus)",
          ],
        }),
      );
    },
  );
});

describe("writing a report", () => {
  it.each(["a.json", "b.xml", "c.html", "d.sarif"])(
    "%s: whole, readable by all, nothing left",
    async (name) => {
      const folder = temporaryFolder();
      const report = uploadOf(sampleRun({ failed: [["x.md", "broken"]] }));
      const path = join(folder, "reports", name);
      await writeReportFile(path, report, undefined);
      await writeReportFile(path, report, undefined);
      expect(readdirSync(join(folder, "reports"))).toEqual([name]);
      expect(readFileSync(path, "utf8")).toContain("broken");
      expect(statSync(path).mode & 0o777 & ~0o022).toBe(0o644);
    },
  );

  it("takes the longest name of the file system, and refuses a longer one beforehand", async () => {
    const folder = temporaryFolder();
    const report = uploadOf(sampleRun());
    const longest = `${"x".repeat(250)}.json`;
    checkOutputPath("--report", longest, folder);
    await writeReportFile(join(folder, longest), report, undefined);
    expect(readdirSync(folder)).toEqual([longest]);
    expect(() => checkOutputPath("--report", `x${longest}`, folder)).toThrow(
      expect.objectContaining({
        exit: "usage",
        message: expect.stringContaining("its name is too long"),
      }),
    );
  });

  it("does not write through a link that someone else left", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "victim"), "mine");
    symlinkSync(join(folder, "victim"), join(folder, "a.json"));
    const report = uploadOf(sampleRun());
    await writeReportFile(join(folder, "a.json"), report, undefined);
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("mine");
  });

  it("names the file that cannot be written, and leaves nothing", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "taken.json"));
    writeFileSync(join(folder, "file"), "");
    await startSocket(join(folder, "socket.json"));
    const report = uploadOf(sampleRun());
    for (const [name, why] of [
      ["taken.json", "it is a folder"],
      ["socket.json", "it is not a regular file"],
      ["file/a.json", "a part of its path is not a folder"],
    ] as const) {
      const path = join(folder, name);
      await expect(writeReportFile(path, report, undefined)).rejects.toMatchObject({
        exit: "local",
        message: expect.stringContaining(`cannot write the report ${path}: ${why}`),
      });
    }
    expect(readdirSync(folder).toSorted()).toEqual(["file", "socket.json", "taken.json"]);
    expect(statSync(join(folder, "socket.json")).isSocket()).toBe(true);
  });

  it("keeps the old report when the failures cannot be read", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "a.json");
    writeFileSync(path, "old");
    const broken = (function* () {
      yield "a";
      throw new Error("the state is gone");
    })();
    await expect(writeFilePieces(path, broken)).rejects.toThrow("the state is gone");
    expect(readdirSync(folder)).toEqual(["a.json"]);
    expect(readFileSync(path, "utf8")).toBe("old");
  });
});

describe("file stream", () => {
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
});
