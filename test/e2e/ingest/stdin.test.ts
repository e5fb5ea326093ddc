import { spawn, type ChildProcess } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { patienceMs } from "../../patience.ts";
import { follow, lineOf, type CliResult } from "../../ran.ts";
import { startTestService, type TestService } from "../../service.ts";
import { projectFolder } from "../../support.ts";

const line = (id: string): string =>
  `${JSON.stringify({ id, semantic_identifier: id, sections: [{ text: `Text of ${id}.` }] })}\n`;

interface Started {
  child: ChildProcess;
  /** Resolves once stderr holds the text. */
  says(text: string): Promise<void>;
  ended: Promise<CliResult>;
}

/** `ingest -` as a process of its own; its stdin stays open. */
function start({ folder, env }: TestService, args: string[] = []): Started {
  const binary = join(projectFolder, "bin", "knowctl.cjs");
  const words = ["ingest", "-", "--cc-pair-id", "2", "--output", "ndjson", ...args];
  const child = spawn(process.execPath, [binary, ...words], {
    cwd: folder,
    env,
    stdio: ["pipe", "pipe", "pipe"],
    timeout: patienceMs,
    killSignal: "SIGKILL",
  });
  const { stdout, ended } = follow(child, lineOf(["knowctl", ...words]), folder);
  const waiting: { text: string; done: () => void }[] = [];
  const tell = (): void => {
    for (const { text, done } of waiting) if (stdout().includes(text)) done();
  };
  child.stdin.on("error", () => {});
  child.stdout.on("data", tell);
  return {
    child,
    says: (text) =>
      new Promise((done) => {
        waiting.push({ text, done });
        tell();
      }),
    ended,
  };
}

const ids = ({ sandbox }: TestService): string[] => [...sandbox.ledger.documents.keys()].toSorted();

describe("ingest - as a process", () => {
  it("sends a line as soon as it has come, and ends when stdin ends", async () => {
    const service = await startTestService();
    const { child, says, ended } = start(service);
    child.stdin?.write(line("a"));
    await says('"id":"a"');
    expect(ids(service)).toEqual(["a"]);
    child.stdin?.end(line("b"));
    expect(await ended).toMatchObject({ code: 0 });
    expect(ids(service)).toEqual(["a", "b"]);
  });

  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("tells the result after %s although stdin stays open", async (signal, code) => {
    const service = await startTestService();
    const { child, says, ended } = start(service);
    child.stdin?.write(line("a"));
    await says('"id":"a"');
    child.kill(signal);
    const result = await ended;
    expect(result.code).toBe(code);
    expect(result.stdout.trim().split("\n").at(-1)).toContain('"status":"interrupted"');
    expect(result.stderr).toContain("1 created");
  });

  it("is interrupted before anything has come", async () => {
    const service = await startTestService();
    const { child, ended } = start(service, ["--no-state", "--verbose"]);
    // The check of the pair is the only request.
    child.stderr?.once("data", () => child.kill("SIGINT"));
    expect(await ended).toMatchObject({ code: 130 });
  });

  it("stops at a refused key although stdin stays open", async () => {
    const refuse: FaultRule = { when: { method: "POST" }, do: { status: 401, body: {} } };
    const service = await startTestService({ faults: { rules: [refuse] } });
    const { child, ended } = start(service);
    child.stdin?.write(line("a"));
    const { code, stdout } = await ended;
    expect(code).toBe(4);
    expect(stdout).toContain('"status":"error"');
  });

  it("goes on when the reader of its output has gone", async () => {
    const service = await startTestService();
    const { child, says, ended } = start(service);
    child.stdin?.write(line("a"));
    await says('"id":"a"');
    child.stdout?.destroy();
    child.stdin?.write(line("b"));
    child.stdin?.end(line("c"));
    await ended;
    expect(ids(service)).toEqual(["a", "b", "c"]);
  });

  it("is quiet when the reader of its documents has gone", async () => {
    const files = Object.fromEntries(
      Array.from({ length: 300 }, (_, index) => [`docs/${index}.md`, "text ".repeat(1000)]),
    );
    const { folder, env } = await startTestService({ files });
    const binary = join(projectFolder, "bin", "knowctl.cjs");
    const script = `"${process.execPath}" "${binary}" convert docs | head -n 1 | wc -l`;
    const child = spawn("sh", ["-c", script], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { code, stdout, stderr } = await follow(child, script, folder).ended;
    expect({ code, text: (stdout + stderr).trim() }).toEqual({ code: 0, text: "1" });
  });
});
