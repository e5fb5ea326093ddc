import { lstatSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { getPriority, platform } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { goToBackground } from "../../src/documents/background.ts";
import { createPool } from "../../src/documents/pool.ts";
import { stampOf } from "../../src/documents/stamp.ts";
import { projectFolder, temporaryFolder } from "../support.ts";

function prioritySetFrom(usual: number, on = "linux"): number {
  let priority = usual;
  goToBackground({ platform: () => on, get: () => priority, set: (given) => (priority = given) });
  return priority;
}

describe("the priority of a thread that reads", () => {
  it("is ten steps behind the process's own, never above it", () => {
    expect([-5, 0, 5, 9, 12, 19].map((usual) => prioritySetFrom(usual))).toEqual([
      5, 10, 15, 19, 19, 19,
    ]);
  });

  it.each(["darwin", "win32", "freebsd"])("stays where it would be the process's: %s", (on) => {
    expect(prioritySetFrom(0, on)).toBe(0);
  });

  it("stays where it may not be set", () => {
    const refuse = (): never => {
      throw new Error("EPERM");
    };
    expect(() =>
      goToBackground({ platform: () => "linux", get: () => 0, set: refuse }),
    ).not.toThrow();
  });
});

// The 19th field (proc_pid_stat(5)); the second one may hold spaces.
function prioritiesOfThreads(): number[] {
  return readdirSync("/proc/self/task").map((task) => {
    const stat = readFileSync(`/proc/self/task/${task}/stat`, "utf8");
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[16]);
  });
}

it.runIf(platform() === "linux")("is given up by a thread only when it reads", async () => {
  const root = temporaryFolder();
  const absolutePath = join(root, "a.md");
  writeFileSync(absolutePath, "A\n");
  const pair = { ccPairId: 2, fromFlag: false };
  const script = join(projectFolder, "dist", "worker.cjs");
  const setup = { settings: { root }, volatile: [], pair };
  const pool = createPool(script, setup, { size: 1, reads: true });
  onTestFinished(() => pool.close());
  const stamp = stampOf(lstatSync(absolutePath, { bigint: true }));
  const item = { path: "a.md", absolutePath, stamp, content: undefined };
  const own = getPriority();

  expect(await pool.look([item])).toEqual([{ kind: "same" }]);
  expect(new Set(prioritiesOfThreads())).toEqual(new Set([own]));

  const looked = await pool.look([{ ...item, stamp: undefined }]);
  expect(looked).toMatchObject([{ kind: "document", id: "a.md" }]);
  const others = prioritiesOfThreads().filter((priority) => priority !== own);
  expect(others).toEqual([Math.min(19, own + 10)]);
  expect(getPriority()).toBe(own);
});
