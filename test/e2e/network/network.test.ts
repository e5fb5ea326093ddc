import { spawn } from "node:child_process";
import { once } from "node:events";
import dns from "node:dns";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startTestService } from "../../service.ts";
import { runMain } from "./run.ts";
import { type Behaviour, answer, leadOn, startFront, startModel, startProxy } from "./servers.ts";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { goesDirect } from "../../../src/api/transport/tunnel.ts";
import {
  cleanEnvironment,
  createTestContext,
  projectFolder,
  temporaryFolder,
} from "../../support.ts";
import { main, runHere } from "../../main.ts";
import { createAuthority } from "./authority.ts";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { clientSockets, holdTime, turn } from "../../held-time.ts";

describe("addresses", () => {
  // Listens on ::1, then never again looks at what comes.
  const deaf = `const server = require("node:net").createServer();
server.listen({ port: Number(process.argv[1]), host: "::1", backlog: 1 }, () => {
  require("node:fs").writeSync(1, "up");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
});`;

  /** An IPv6 address that does not answer: the queue of its listener is full, so the kernel is silent. */
  async function startDeaf(port: number): Promise<void> {
    const child = spawn(process.execPath, ["-e", deaf, String(port)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    await once(child.stdout, "data");
    const sockets = Array.from({ length: 16 }, () => connect(port, "::1").on("error", () => {}));
    onTestFinished(() => sockets.forEach((socket) => socket.destroy()));
    await Promise.race(sockets.map((socket) => once(socket, "connect")));
  }

  /** The machine's list of names, which tests cannot write: `localhost` has both addresses, IPv6 first. */
  function nameBoth(): void {
    const both = [
      { address: "::1", family: 6 },
      { address: "127.0.0.1", family: 4 },
    ];
    const spy = vi
      .spyOn(dns, "lookup")
      .mockImplementation(((_host: string, _options: unknown, done: Done) =>
        done(null, both)) as unknown as typeof dns.lookup);
    onTestFinished(() => spy.mockRestore());
  }
  type Done = (error: null, addresses: { address: string; family: number }[]) => void;

  describe.runIf(process.platform === "linux")("an address that does not answer", () => {
    it("of the service does not cost the time limit: the next one is tried", async () => {
      const { sandbox, env, folder } = await startTestService();
      const { port } = new URL(sandbox.url);
      await startDeaf(Number(port));
      nameBoth();
      const own = { ...env, KNOWCTL_BASE_URL: `http://localhost:${port}` };
      const { code, stderr } = await runMain(["connectors", "list", "--verbose"], {
        folder,
        env: own,
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining("attempt 1") });
      expect(stderr).not.toContain("attempt 2");
    });

    it("of the proxy does not either", async () => {
      const { sandbox, env, folder } = await startTestService();
      const proxy = await startProxy(leadOn);
      await startDeaf(proxy.port);
      nameBoth();
      const { port } = new URL(sandbox.url);
      // That no TLS is spoken there is beside the point.
      const own = {
        ...env,
        KNOWCTL_BASE_URL: `https://service.test:${port}`,
        HTTPS_PROXY: `http://localhost:${proxy.port}`,
      };
      await runMain(["connectors", "list"], { folder, env: own });
      expect(proxy.connects).toHaveLength(1);
    });
  });
});

describe("docs", () => {
  const text = readFileSync(join(projectFolder, "docs", "networks.md"), "utf8");

  describe("docs/networks.md", () => {
    it.each([
      ["example.com", "https://a.example.com", true],
      [".example.com", "https://example.com", false],
      ["*.example.com", "https://a.example.com", true],
      ["example.com:8443", "https://example.com", false],
      ["[::1]:8443", "https://[::1]:8443", true],
      ["2001:db8::/32", "https://[2001:db8::7]", true],
      ["10.*", "https://10.4.4.4", true],
    ])("says of NO_PROXY what is so: %s for %s", (entry, url, direct) => {
      expect(text).toContain(`\`${entry}\``);
      expect(goesDirect(url, entry)).toBe(direct);
    });
  });
});

describe("model", () => {
  const authority = createAuthority();
  authority.certify("model", "DNS:model.test");
  authority.certify("client", "DNS:client");

  /** A sandbox whose model's server stands behind a proxy; gives what a question is answered. */
  async function askSandbox(behaviour: Behaviour, own: Record<string, string> = {}) {
    const model = await startModel("Through the proxy.");
    const pair = { key: authority.read("model.key"), cert: authority.read("model.crt") };
    const ca = authority.read("ca.crt");
    const front = await startFront(model, {
      ...pair,
      ca,
      requestCert: true,
      rejectUnauthorized: false,
    });
    const proxy = await startProxy(behaviour);
    const folder = temporaryFolder();
    const env = cleanEnvironment(folder, {
      HTTPS_PROXY: `http://alice:CANARY-pw@127.0.0.1:${proxy.port}`,
      KNOWCTL_CA_FILE: authority.path("ca.crt"),
      KNOWCTL_SANDBOX_LLM_KEY: "CANARY-model-key",
      ...own,
    });
    const address = `https://model.test:${front.port}/v1`;
    const context = createTestContext({ cwd: folder, env });
    const flags = [
      "--port",
      "0",
      "--llm-url",
      address,
      "--llm-model",
      "m",
      "--data",
      "data",
      "--verbose",
    ];
    const running = main(["sandbox", ...flags], context);
    let url: string | undefined;
    while (url === undefined) {
      url = /http:\/\/127\.0\.0\.1:\d+/.exec(context.stdoutText() + context.stderrText())?.[0];
      await new Promise((resolve) => setImmediate(resolve));
    }
    const asking = createTestContext({
      cwd: folder,
      env: cleanEnvironment(folder, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "sandbox" }),
    });
    const code = await main(["chat", "What is new?"], asking);
    context.abort(new Error("done"));
    await running;
    const said =
      asking.stdoutText() + asking.stderrText() + context.stdoutText() + context.stderrText();
    expect(said).not.toContain("CANARY");
    return { code, stdout: asking.stdoutText(), stderr: asking.stderrText(), front, proxy };
  }

  describe("the sandbox asks its model", () => {
    it("through the proxy, with the CA and the client certificate", async () => {
      const { code, stdout, stderr, front, proxy } = await askSandbox(leadOn, {
        KNOWCTL_CLIENT_CERT: authority.path("client.crt"),
        KNOWCTL_CLIENT_KEY: authority.path("client.key"),
      });
      expect({ code, stderr }).toMatchObject({ code: 0 });
      expect(stdout).toContain("Through the proxy.");
      expect(front.requests).toEqual(["POST /v1/chat/completions as client"]);
      expect(proxy.connects.map(({ target }) => target)).toEqual([`model.test:${front.port}`]);
      expect(JSON.stringify(proxy.connects)).not.toContain("CANARY-model-key");
    });

    it("and says what the proxy said where there is no way", async () => {
      const { code, stderr, front, proxy } = await askSandbox(answer("HTTP/1.1 403 No\r\n\r\n"));
      expect(code).not.toBe(0);
      expect(stderr).toContain(`proxy 127.0.0.1:${proxy.port}: answered 403 No`);
      expect(front.requests).toEqual([]);
    });

    it("and names --ca-file where its certificate is not known", async () => {
      const { code, stderr } = await askSandbox(leadOn, { KNOWCTL_CA_FILE: "" });
      expect(code).not.toBe(0);
      expect(stderr).toContain("--ca-file");
    });
  });
});

describe("slow", () => {
  interface Slow {
    pages: number;
    /** Beginning of the path of the answers that are slow. */
    path: string;
    how: FaultRule["do"];
  }

  /** Runs a command against a service with slow answers. `seconds` passed while it waited. */
  async function runSlow(line: string, { pages, path, how }: Slow) {
    let waiting = 0;
    // Time is held: a wait ends when the test lets it pass.
    const sleep = async (ms: number, signal?: AbortSignal): Promise<void> => {
      waiting++;
      await new Promise<void>((resolve) => {
        const end = (): void => {
          signal?.removeEventListener("abort", end);
          resolve();
        };
        setTimeout(end, ms);
        signal?.addEventListener("abort", end);
      });
      waiting--;
    };
    const names = Array.from({ length: pages }, (_, index) => `docs/${index}.md`);
    const service = await startTestService({
      dialect: "onyx",
      files: Object.fromEntries(names.map((name) => [name, `# ${name}\n\nIts own text.\n`])),
      faults: { rules: [{ when: { path }, do: how }] },
      sandbox: { clock: { now: Date.now, random: Math.random, sleep } },
    });
    const { folder: cwd, env, sandbox } = service;
    const sent = await runHere("ingest docs --cc-pair-id 2 --quiet".split(" "), { cwd, env });
    expect(sent.code).toBe(0);
    await sandbox.idle();
    const sockets = clientSockets();
    const read = (): number => sockets.reduce((sum, { bytesRead }) => sum + bytesRead, 0);
    const pass = holdTime();
    const context = { ...createTestContext({ cwd, env }), sleep };
    let code: number | undefined;
    const end = main(line.split(" "), context).then((value) => (code = value));
    let seconds = 0;
    for (let quiet = 0, before = 0; code === undefined; before = read()) {
      await turn();
      quiet = waiting > 0 && read() === before ? quiet + 1 : 0;
      if (quiet < 50) continue;
      pass(1000);
      seconds++;
      quiet = 0;
    }
    await end;
    const asked = sandbox.ledger.requests.filter((each) => each.path.startsWith(path)).length;
    return { code, seconds, asked, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  const dripping: FaultRule["do"] = { dripMs: 10_000 };
  const chunks = "/api/document/chunk-info";
  const list = "/api/onyx-api/connector-docs";

  it("ends a verification whose chunks arrive byte by byte", async () => {
    const ran = await runSlow("verify", { pages: 3, path: chunks, how: dripping });
    expect(ran.code).toBe(10);
    expect(ran.stdout.match(/^unknown +docs\/\d\.md: .*not complete in time$/gm)).toHaveLength(3);
    expect(ran.stderr).toContain("checking 0/3 (50 s)");
    expect(ran.seconds).toBeLessThan(70);
  });

  it("does not wait for each of many slow chunks", async () => {
    const ran = await runSlow("verify", { pages: 100, path: chunks, how: dripping });
    expect(ran.code).toBe(7);
    // Two times eight at once, then one probe after each pause.
    expect(ran.asked).toBeLessThan(25);
    expect(ran.seconds).toBeLessThan(400);
    expect(ran.stdout.match(/^unknown +docs\/\d+\.md: .*not complete in time$/gm)).not.toBeNull();
    expect(ran.stderr).toMatch(/^\d+ unknown, \d+ not checked$/m);
    expect(ran.stderr).toContain("not complete in time; stopped: the service did not recover");
  });

  it.each([
    ["arrives byte by byte", dripping],
    ["does not begin", { delayMs: 3_600_000 }],
  ])("ends a comparison whose list %s", async (_name, how) => {
    const ran = await runSlow("status --remote", { pages: 2, path: list, how });
    expect(ran.code).toBe(7);
    expect(ran.stderr).toContain("waiting for the list of pair 2, 0 documents (10 s)");
    expect(ran.stderr).toMatch(
      /^error: list documents: GET \S+: (?:not complete|no response) in time/m,
    );
    expect(ran.seconds).toBeLessThan(320);
  });
});
