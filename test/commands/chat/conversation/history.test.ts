import { spawn } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openHistory } from "../../../../src/commands/chat/conversation/history.ts";
import { cleanEnvironment, temporaryFolder } from "../../../support.ts";

function open(home: string, { profile = "p", isKept = true, secret = "" } = {}) {
  const warnings: string[] = [];
  const history = openHistory(
    { env: cleanEnvironment(home), profile, now: () => Date.now() },
    { isKept, redact: (text) => (secret === "" ? text : text.replaceAll(secret, "***")) },
    (problem) => warnings.push(problem),
  );
  return { history, warnings };
}

const fileOf = (home: string): string => join(home, "state/knowctl/history/p.ndjson");

describe("the history", () => {
  it("comes back in the next run, of each profile its own, for its owner alone", () => {
    const home = temporaryFolder();
    const { history } = open(home);
    history.add("one\ntwo");
    history.add("three");
    expect(open(home).history.list()).toEqual(["one\ntwo", "three"]);
    expect(open(home, { profile: "q" }).history.list()).toEqual([]);
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
    expect(statSync(join(home, "state/knowctl/history")).mode & 0o777).toBe(0o700);
  });

  it.each([
    ["begins with a space", " key on_abc"],
    ["is the last one again", "again"],
    ["is too long", "x".repeat(10_001)],
    ["holds a secret", "my key is SECRET-1"],
  ])("leaves out what %s", (_name, text) => {
    const home = temporaryFolder();
    const { history } = open(home, { secret: "SECRET-1" });
    history.add("again");
    history.add(text);
    expect(open(home).history.list()).toEqual(["again"]);
  });

  it("writes nothing where that is not wanted", () => {
    const home = temporaryFolder();
    const { history } = open(home, { isKept: false });
    history.add("one");
    expect(history.list()).toEqual(["one"]);
    expect(statSync(fileOf(home), { throwIfNoEntry: false })).toBeUndefined();
  });

  it("takes the rights of others away, and leaves damaged lines out", () => {
    const home = temporaryFolder();
    mkdirSync(join(home, "state/knowctl/history"), { recursive: true });
    writeFileSync(fileOf(home), '"one"\n{"two":2}\n"thr');
    chmodSync(fileOf(home), 0o644);
    const { history } = open(home);
    expect(history.list()).toEqual(["one"]);
    history.add("four");
    expect(statSync(fileOf(home)).mode & 0o777).toBe(0o600);
    expect(open(home).history.list()).toEqual(["one", "four"]);
  });

  it("stays small and keeps the newest", () => {
    const home = temporaryFolder();
    const { history } = open(home);
    for (let index = 0; index < 300; index++) history.add(`${index} ${"x".repeat(5000)}`);
    const size = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0;
    expect(size(fileOf(home)) + size(`${fileOf(home)}.1`)).toBeLessThan(1_100_000);
    expect(open(home).history.list().at(-1)).toMatch(/^299 /);
    expect(open(home).history.list().length).toBeGreaterThan(100);
  });

  it("warns once where it cannot be written", () => {
    const home = temporaryFolder();
    mkdirSync(join(home, "state/knowctl"), { recursive: true });
    writeFileSync(join(home, "state/knowctl/history"), "a file");
    const { history, warnings } = open(home);
    history.add("one");
    history.add("two");
    expect(warnings).toHaveLength(1);
    expect(history.list()).toEqual(["one", "two"]);
  });

  it("loses no line of several processes", async () => {
    const home = temporaryFolder();
    open(home).history.add("begin");
    // Plain appends of other processes, in the form in which this one appends.
    const script = `
      const { appendFileSync } = require("node:fs");
      for (let index = 0; index < 150; index++)
        appendFileSync(process.argv[1], "\\n" + JSON.stringify(process.argv[2] + index + "y".repeat(2000)));`;
    const others = ["a", "b"].map(
      (name) =>
        new Promise((done) => {
          spawn(process.execPath, ["-e", script, fileOf(home), name]).on("close", done);
        }),
    );
    const { history } = open(home);
    let count = 0;
    const all = Promise.all(others);
    let isDone = false;
    void all.then(() => (isDone = true));
    while (!isDone && count < 300) {
      history.add(`own ${count++} ${"z".repeat(500)}`);
      await new Promise(setImmediate);
    }
    await all;
    const text = [`${fileOf(home)}.1`, fileOf(home)]
      .map((path) => (statSync(path, { throwIfNoEntry: false }) ? readFileSync(path, "utf8") : ""))
      .join("");
    const lines = text.split("\n").filter((line) => line !== "");
    for (const line of lines) expect(typeof JSON.parse(line)).toBe("string");
    expect(lines.filter((line) => /^"[ab]\d/.test(line))).toHaveLength(300);
  });
});
