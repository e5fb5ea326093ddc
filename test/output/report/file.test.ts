import {
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { checkOutputPath, reportFormatOf, writeReport } from "../../../src/output/report/file.ts";
import { createSecrets } from "../../../src/output/terminal/redact.ts";
import { startSocket } from "../../file-system.ts";
import { temporaryFolder } from "../../support.ts";
import { sampleRun } from "./sample.ts";

const plain = { redact: (text: string): string => text };

describe("the form of a report", () => {
  it.each([
    ["a.json", ".json"],
    ["A.XML", ".xml"],
    ["x/run.html", ".html"],
  ])("of %s", (path, form) => expect(reportFormatOf(path)).toBe(form));

  it.each(["report", "a.htm", "a.json.gz", ".json", "", "a.__proto__", "a.constructor"])(
    "is refused: %j",
    (path) => {
      expect(() => reportFormatOf(path)).toThrow(expect.objectContaining({ exit: "usage" }));
    },
  );
});

describe("writing a report", () => {
  it.each(["a.json", "b.xml", "c.html"])(
    "%s: whole, readable by all, nothing left",
    async (name) => {
      const folder = temporaryFolder();
      const { head, failures } = sampleRun({ failed: [["x.md", "broken"]] });
      const path = join(folder, "reports", name);
      await writeReport(path, head, failures, plain);
      await writeReport(path, head, failures, plain);
      expect(readdirSync(join(folder, "reports"))).toEqual([name]);
      expect(readFileSync(path, "utf8")).toContain("broken");
      expect(statSync(path).mode & 0o777 & ~0o022).toBe(0o644);
    },
  );

  it("takes the longest name of the file system, and refuses a longer one beforehand", async () => {
    const folder = temporaryFolder();
    const { head, failures } = sampleRun();
    const longest = `${"x".repeat(250)}.json`;
    checkOutputPath("--report", longest, folder);
    await writeReport(join(folder, longest), head, failures, plain);
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
    const { head, failures } = sampleRun();
    await writeReport(join(folder, "a.json"), head, failures, plain);
    expect(readFileSync(join(folder, "victim"), "utf8")).toBe("mine");
  });

  it("names the file that cannot be written, and leaves nothing", async () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "taken.json"));
    writeFileSync(join(folder, "file"), "");
    await startSocket(join(folder, "socket.json"));
    const { head, failures } = sampleRun();
    for (const [name, why] of [
      ["taken.json", "it is a folder"],
      ["socket.json", "it is not a regular file"],
      ["file/a.json", "a part of its path is not a folder"],
    ] as const) {
      const path = join(folder, name);
      await expect(writeReport(path, head, failures, plain)).rejects.toMatchObject({
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
    const { head } = sampleRun();
    const broken = (function* () {
      yield { path: "a", reason: "b", retryable: false };
      throw new Error("the state is gone");
    })();
    await expect(writeReport(path, head, broken, plain)).rejects.toThrow("the state is gone");
    expect(readdirSync(folder)).toEqual(["a.json"]);
    expect(readFileSync(path, "utf8")).toBe("old");
  });

  it.each(["a.json", "b.xml", "c.html"])("%s holds no registered secret", async (name) => {
    const path = join(temporaryFolder(), name);
    const secrets = createSecrets();
    // Escaped in each of the forms, so it must be found before.
    const secret = `CANARY<&"'>0123`;
    secrets.add(secret);
    const { head, failures } = sampleRun({
      failed: [[`${secret}.md`, `token ${secret} is wrong`]],
      skipped: [[secret, 1]],
      error: secret,
      paths: [secret],
    });
    await writeReport(path, head, failures, secrets);
    const text = readFileSync(path, "utf8");
    expect(text).not.toContain("CANARY");
    expect(text).toContain("token *** is wrong");
  });
});
