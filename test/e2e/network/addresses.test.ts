import { spawn } from "node:child_process";
import { once } from "node:events";
import dns from "node:dns";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { startTestService } from "../../service.ts";
import { runMain } from "./run.ts";
import { leadOn, startProxy } from "./servers.ts";

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
