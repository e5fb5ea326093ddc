import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { heldClock } from "../held-clock.ts";
import { until } from "../held-time.ts";
import { runHere } from "../main.ts";
import { startTestService } from "../service.ts";
import { runCli } from "../support.ts";

describe("an answer whose process is killed", () => {
  it("is recovered by the next process, which asks nothing", async () => {
    // After some words the answer stands still, however late the process comes to read it.
    const clock = heldClock(5);
    const sandbox = { tokenDelayMs: 1, clock };
    const service = await startTestService({ dialect: "onyx", sandbox });
    const options = { cwd: service.folder, env: service.env };
    const index = join(service.env["XDG_STATE_HOME"]!, "knowctl", "sessions");
    const hasRecord = (): boolean =>
      existsSync(index) &&
      readdirSync(index, { recursive: true }).some((name) => String(name).endsWith(".json"));
    const killed = await runCli(["chat", "--live", "a question about nothing"], {
      ...options,
      // At the first text of the answer, which does not wait for the record of the session.
      onStart: (child) =>
        child.stdout?.once("data", () => void until(hasRecord).then(() => child.kill("SIGKILL"))),
    });
    expect(killed.signal).toBe("SIGKILL");
    expect(killed.stdout).not.toContain("loosen the filters");
    clock.release();
    const recovered = await runCli(["sessions", "recover", "--poll"], options);
    expect(recovered.code).toBe(0);
    expect(recovered.stdout).toContain("loosen the filters");
    expect(service.sandbox.ledger.chats).toHaveLength(1);
    const again = await runHere(["sessions", "recover"], options);
    expect(again).toMatchObject({ code: 0, stdout: recovered.stdout });
  });
});

describe("processes that ask at the same time", () => {
  it("all find their session in the index", async () => {
    const service = await startTestService({ dialect: "onyx" });
    const options = { cwd: service.folder, env: service.env };
    const questions = Array.from({ length: 6 }, (_, number) => `question ${number}`);
    await Promise.all(questions.map((question) => runCli(["chat", question], options)));
    const { stdout } = await runHere(["sessions", "list", "--local", "--fields", "name"], options);
    expect(stdout.trimEnd().split("\n").toSorted()).toEqual(questions);
    const folder = join(service.env["XDG_STATE_HOME"]!, "knowctl", "sessions");
    const files = readdirSync(folder, { recursive: true }).map(String);
    expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});
