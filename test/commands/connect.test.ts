import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { ClosedPipeError } from "../../src/errors.ts";
import { main, runHere } from "../main.ts";
import { startTestService, writeFiles } from "../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { runIn } from "./state/support.ts";
import { execFileSync } from "node:child_process";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { getEventListeners } from "node:events";
import { PassThrough } from "node:stream";
import { createPrompt } from "../../src/commands/prompt.ts";
import { createOutput } from "../../src/output/terminal/output.ts";
import { patienceMs } from "../patience.ts";

describe("closed pipe", () => {
  it.each([
    ["verify --output ndjson", 13],
    ["verify --output json", 13],
    ["verify", 13],
    ["eval retrieval suite.yaml", 13],
    ["eval retrieval suite.yaml --json", 13],
    ["eval retrieval suite.yaml --output ndjson", 13],
    ["status --remote --exit-code --output json", 12],
  ])("a reader that has gone does not make a check succeed: %s", async (line, expected) => {
    const files = { "docs/a.md": "alpha beta\n", "docs/b.md": "gamma delta\n" };
    const lost = {
      when: { documentId: "docs/a.md" },
      do: { index: { keeps: "nothing" as const } },
    };
    const service = await startTestService({ dialect: "onyx", files, faults: { rules: [lost] } });
    expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
    await service.sandbox.idle();
    if (line.startsWith("status")) writeFileSync(join(service.folder, "docs/c.md"), "epsilon\n");
    const lostCase = "{ id: a, question: alpha, must_retrieve: [docs/a.md] }";
    writeFileSync(join(service.folder, "suite.yaml"), `version: 1\ncases: [${lostCase}]\n`);
    const context = createTestContext({ cwd: service.folder, env: service.env });
    const stdout = { ...context.stdout, write: () => Promise.reject(new ClosedPipeError()) };
    expect(await main(line.split(" "), { ...context, stdout })).toBe(expected);
  });

  it("a reader that has gone does not make lint succeed", async () => {
    const folder = temporaryFolder();
    writeFiles(folder, { "a.md": "# A\n\n[b](b.md)\n" });
    writeFiles(folder, { ".cliconfig.json": '{ "lint": { "rules": { "dead-link": "error" } } }' });
    const context = createTestContext({ cwd: folder, env: cleanEnvironment(temporaryFolder()) });
    const stdout = { ...context.stdout, write: () => Promise.reject(new ClosedPipeError()) };
    // Only a trusted file makes a warning an error.
    const line = ["lint", "--config", ".cliconfig.json"];
    expect(await main(line, { ...context, stdout })).toBe(13);
  });
});

describe("connect", () => {
  /** A key and a certificate for localhost that signs itself. */
  function certify(folder: string, name: string): void {
    const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
    const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`];
    execFileSync(
      "openssl",
      ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files],
      {
        cwd: folder,
        stdio: "ignore",
      },
    );
  }

  async function startService(folder: string, name: string): Promise<string> {
    const read = (end: string) => readFileSync(join(folder, `${name}.${end}`));
    const server = createServer({ key: read("key"), cert: read("crt") }, (_request, response) => {
      response.setHeader("content-type", "application/json").end("[]");
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `https://localhost:${(server.address() as AddressInfo).port}`;
  }

  async function list(folder: string, address: string, caFile: string, env = {}) {
    const given = { KNOWCTL_BASE_URL: address, KNOWCTL_API_KEY: "CANARY-key", ...env };
    const context = createTestContext({ cwd: folder, env: cleanEnvironment(folder, given) });
    const code = await main(["connectors", "list", "--ca-file", caFile], context);
    return { code, stderr: context.stderrText() };
  }

  describe("certificates of --ca-file", () => {
    it("stand beside those of NODE_EXTRA_CA_CERTS", async () => {
      const folder = temporaryFolder();
      certify(folder, "service");
      certify(folder, "other");
      const address = await startService(folder, "service");
      const codeOf = async (caFile: string, extra: string) =>
        (await list(folder, address, caFile, { NODE_EXTRA_CA_CERTS: extra })).code;
      expect(await codeOf("other.crt", "")).toBe(5);
      expect(await codeOf("service.crt", "")).toBe(0);
      expect(await codeOf("other.crt", join(folder, "service.crt"))).toBe(0);
      expect(await codeOf("service.crt", join(folder, "none.crt"))).toBe(0);
    });

    it("must be certificates", async () => {
      const folder = temporaryFolder();
      writeFileSync(join(folder, "ca.txt"), "CANARY-file\n");
      const { code, stderr } = await list(folder, "https://localhost:1", "ca.txt");
      expect(code).toBe(3);
      expect(stderr).toContain("holds no certificate");
      expect(stderr).not.toContain("CANARY");
    });
  });
});

describe("prompt", () => {
  it("leaves nothing behind at the signal, however many questions are asked", async () => {
    const context = createTestContext({ isTTY: true });
    const stream = new PassThrough();
    const stdin = { ...context.stdin, isTTY: true, stream };
    const prompt = createPrompt({ ...context, stdin }, {}, createOutput(context));
    const remedy = { exit: "usage", flag: "--name" } as const;
    for (let number = 0; number < 3; number++) {
      const answer = prompt.ask("Name", remedy);
      setImmediate(() => stream.write(`answer ${number}\n`));
      expect(await answer).toBe(`answer ${number}`);
    }
    expect(getEventListeners(context.signal, "abort")).toEqual([]);
  });

  it("fails at once where the input has ended or the signal came before the question", async () => {
    const context = createTestContext({ isTTY: true });
    const stream = new PassThrough();
    const prompt = createPrompt(
      { ...context, stdin: { ...context.stdin, isTTY: true, stream } },
      {},
      createOutput(context),
    );
    setImmediate(() => stream.end());
    await expect(prompt.confirm("Go on?", true)).rejects.toThrow("the input ended");
    await expect(prompt.confirm("Go on?", true)).rejects.toThrow("the input ended");
    expect(prompt.hasEnded).toBe(true);
    context.abort(new Error("stopped"));
    await expect(prompt.confirm("Go on?", true)).rejects.toThrow("stopped");
  });

  it.each(["ask", "confirm"] as const)(
    "begins a new line when %s ends without Enter",
    async (kind) => {
      const context = createTestContext({ isTTY: true });
      const stream = new PassThrough();
      const stdin = { ...context.stdin, isTTY: true, stream };
      const prompt = createPrompt({ ...context, stdin }, {}, createOutput(context));
      const remedy = { exit: "usage", flag: "--name" } as const;
      const answer = kind === "ask" ? prompt.ask("Name", remedy) : prompt.confirm("Go on?");
      setImmediate(() => context.abort(new Error("stopped")));
      await expect(answer).rejects.toThrow("stopped");
      expect(context.stderrText()).toMatch(/^[^\n]+ \n$/);
    },
  );

  it("breaks a long question at words, with room for the answer", async () => {
    const context = createTestContext({ isTTY: true });
    const stream = new PassThrough();
    const stdin = { ...context.stdin, isTTY: true, stream };
    const prompt = createPrompt({ ...context, stdin }, {}, createOutput(context));
    const words = Array.from({ length: 30 }, () => "question").join(" ");
    const confirmed = prompt.confirm(`${words}?`);
    setImmediate(() => stream.write("y\n"));
    expect(await confirmed).toBe(true);
    const lines = context.stderrText().split("\n");
    expect(lines.map((line) => line.trim()).join(" ")).toBe(`${words}? [y/N]`);
    for (const line of lines) expect(line.length).toBeLessThan(80);
  });

  it("ends config init at the end of the input, and says that nothing was changed", async () => {
    const context = createTestContext({ isTTY: true });
    const stream = new PassThrough();
    const stdin = { ...context.stdin, isTTY: true, stream };
    const ended = main(["config", "init"], { ...context, stdin });
    await vi.waitFor(
      () => expect(context.stderrText()).toContain("Address of the service"),
      patienceMs,
    );
    stream.write("\n");
    await vi.waitFor(() => expect(context.stderrText()).toContain("Try knowctl now"), patienceMs);
    stream.end();
    expect(await ended).toBe(2);
    expect(context.stderrText().match(/the input ended/g)).toHaveLength(1);
    expect(context.stderrText().match(/Address of the service/g)).toHaveLength(1);
  });
});

describe("files in state", () => {
  const suite = `version: 1
cases:
  - id: leave
    question: zebra dodo
    must_retrieve: [docs/my leave.md]
    expect:
      - cites: [docs/my leave.md]
  - id: by-id
    question: zebra dodo
    must_retrieve: [{ id: docs/my leave.md }]
`;

  const files = {
    "docs/my leave.md": "# Leave\n\nThe dodo answers zebra questions.\n",
    "s.yaml": suite,
  };

  async function uploaded(dialect: "onyx" | "standard", state = "") {
    const { folder: cwd, env, sandbox } = await startTestService({ dialect, files });
    const run = (line: string) => runHere(line.split(" "), { cwd, env });
    expect((await run(`ingest docs --cc-pair-id 2${state}`)).code).toBe(0);
    await sandbox.idle();
    return { cwd, run, env, sandbox };
  }

  const retrieval = "eval retrieval s.yaml --allow-tokens 9";
  const answers = "eval answers s.yaml --allow-tokens 9";

  it.each(["onyx", "standard"] as const)(
    "%s: ids are compared as they are stored",
    async (dialect) => {
      const { cwd, run } = await uploaded(dialect);
      expect((await run(retrieval)).code).toBe(0);
      expect((await run(answers)).code).toBe(0);
      // A fresh runner has no record.
      rmSync(join(cwd, ".knowctl"), { recursive: true });
      expect((await run(retrieval)).code).toBe(0);
      expect((await run(answers)).code).toBe(0);
      writeFiles(cwd, { "c.json": '{"ingest":{"sections":"whole"}}' });
      const checked = await run(
        "verify docs --cc-pair-id 2 --via chat --depth exists --allow-tokens 9 --config c.json",
      );
      expect(checked.stderr).toContain("1 present");
    },
  );

  it("--state names the record", async () => {
    const other =
      "version: 1\ncases: [{ id: a, question: dodo, must_retrieve: [other.md], expect: [{ contains: dodo }] }]\n";
    const service = await startTestService({
      dialect: "onyx",
      files: { ...files, "other.yaml": other, "other.md": "# Other\n\nNothing.\n" },
    });
    const { folder: cwd, env, sandbox } = service;
    const run = (text: string) => runHere(text.split(" "), { cwd, env });
    expect((await run("ingest docs --cc-pair-id 2 --state kept")).code).toBe(0);
    await sandbox.idle();
    expect((await run("chat dodo")).code).toBe(0);
    for (const line of [
      "search dodo --json",
      "chat dodo --output json",
      "eval retrieval other.yaml --json",
      "eval answers other.yaml --allow-tokens 1 --json",
      "eval init --from-sessions",
      "sessions show last --output json",
      "sessions recover last --output json",
    ]) {
      const without = await run(line);
      expect(without.stdout, line).not.toContain("docs/my leave.md");
      const found = await run(`${line} --state kept`);
      expect(found.stdout, line).toContain("docs/my leave.md");
      expect(found.code, line).toBe(without.code);
    }
  });
});
