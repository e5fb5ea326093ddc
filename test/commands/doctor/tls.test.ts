import { mkdtempSync, rmSync } from "node:fs";
import { createServer as createHttpServer } from "node:http";
import { createServer } from "node:https";
import { connect, type AddressInfo, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { Handshake } from "../../../src/api/transport/handshake.ts";
import { judgeHandshake } from "../../../src/commands/doctor/checks/network.ts";
import { createAuthority, stamp, type Authority } from "./certificates.ts";
import { aimAt, runDoctor, serve } from "./support.ts";

let folder = "";
let authority: Authority;
const dayMs = 86_400_000;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "knowctl-doctor-"));
  authority = createAuthority(folder);
});

afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function listen(server: Server): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return (server.address() as AddressInfo).port;
}

/** A service that knows nobody, over TLS. */
function startTls(pair: { key: string; cert: string }): Promise<number> {
  const server = createServer(pair, (request, response) => {
    request.resume();
    response.writeHead(401, { "content-type": "application/json" }).end('{"detail":"no"}');
  });
  return listen(server);
}

describe("certificates:", () => {
  it.each<
    [
      name: string,
      make: () => { key: string; cert: string },
      ca: boolean,
      words: string[],
      fix: string,
    ]
  >([
    [
      "expired",
      () =>
        authority.certify(
          "old",
          "DNS:localhost",
          stamp(Date.now() - 9 * dayMs),
          stamp(Date.now() - 3 * dayMs),
        ),
      true,
      ["expired on", "3 days ago"],
      "renewed",
    ],
    [
      "not yet valid",
      () => authority.certify("new", "DNS:localhost", stamp(Date.now() + 3 * dayMs)),
      true,
      ["not valid before"],
      "clock",
    ],
    [
      "unknown issuer",
      () => authority.certify("unknown", "DNS:localhost"),
      false,
      ["unknown authority: Test CA"],
      "--ca-file",
    ],
    ["self-signed", () => authority.signItself("self"), false, ["self-signed"], "--ca-file"],
    [
      "wrong host name",
      () => authority.certify("other", "DNS:service.test,DNS:b.test"),
      true,
      ["another host: service.test, b.test, not localhost"],
      "use a name",
    ],
    [
      "expired, and for another host",
      () =>
        authority.certify(
          "both",
          "DNS:service.test",
          stamp(Date.now() - 9 * dayMs),
          stamp(Date.now() - 3 * dayMs),
        ),
      true,
      ["expired on", "; and the certificate is for another host"],
      "renewed",
    ],
  ])("%s", async (_name, make, hasCa, words, fix) => {
    const port = await startTls(make());
    const ca = hasCa ? ["--ca-file", authority.caFile] : [];
    const { code, findings, stderr } = await runDoctor(aimAt(`https://localhost:${port}`), ...ca);
    expect(code).toBe(5);
    for (const each of words) expect(findings["tls"]?.message).toContain(each);
    expect(findings["tls"]).toMatchObject({ status: "failure" });
    expect(findings["tls"]?.fixes.join()).toContain(fix);
    expect(findings["answer"]).toMatchObject({ status: "skipped", because: "tls" });
    expect(stderr).toContain("doctor: tls: ");
  });

  it("with its CA it is well, and says how long", async () => {
    const port = await startTls(authority.certify("good", "DNS:localhost"));
    const aim = aimAt(`https://localhost:${port}`);
    const { findings } = await runDoctor(aim, "--ca-file", authority.caFile);
    expect(findings["tls"]).toMatchObject({
      status: "ok",
      message: "TLSv1.3, signed by Test CA, 89 days left",
    });
    expect(findings["answer"]?.status).toBe("ok");
  });

  it("soon over is a warning", async () => {
    const soon = stamp(Date.now() + 4.5 * dayMs);
    const port = await startTls(authority.certify("soon", "DNS:localhost", undefined, soon));
    const aim = aimAt(`https://localhost:${port}`);
    const { findings } = await runDoctor(aim, "--ca-file", authority.caFile);
    expect(findings["tls"]).toMatchObject({
      status: "warning",
      message: expect.stringContaining("expires in 4 days"),
    });
  });

  const good: Handshake = {
    protocol: "TLSv1.3",
    names: ["a.test"],
    issuer: "CA",
    validFrom: 0,
    validTo: 100 * dayMs,
    fitsHost: true,
    chainLength: 2,
  };

  it.each([
    [
      "an intermediate that has expired",
      { problem: "CERT_HAS_EXPIRED" },
      "in the chain has expired",
    ],
    ["something rare", { problem: "CERT_REVOKED" }, "revoked"],
    ["something unheard of", { problem: "CERT_NEW_TROUBLE" }, "CERT_NEW_TROUBLE"],
    [
      "a chain that is not complete",
      { problem: "UNABLE_TO_VERIFY_LEAF_SIGNATURE", chainLength: 1 },
      "unknown authority",
    ],
  ])("%s", (_name, more, words) => {
    const verdict = judgeHandshake({ ...good, ...more }, "a.test", dayMs, false);
    expect(verdict).toMatchObject({ status: "failure", message: expect.stringContaining(words) });
    expect(verdict.fixes?.length).toBeGreaterThan(0);
    expect(judgeHandshake({ ...good, ...more }, "a.test", dayMs, true).status).toBe("warning");
  });
});

describe("the wrong port:", () => {
  it("TLS spoken to plain http", async () => {
    const { url } = await serve((_request, response) => void response.end());
    const { code, findings } = await runDoctor(aimAt(url.replace("http:", "https:")));
    expect(code).toBe(5);
    expect(findings["tls"]?.message).toContain("does not use TLS");
    expect(findings["tls"]?.fixes[0]).toContain("http://");
  });

  it("plain http spoken to TLS", async () => {
    const port = await startTls(authority.certify("plain", "DNS:localhost"));
    const { code, findings } = await runDoctor(aimAt(`http://127.0.0.1:${port}`));
    expect(code).toBe(5);
    expect(findings["answer"]).toMatchObject({
      status: "failure",
      message: expect.stringContaining("expects TLS"),
      fixes: ["write https:// in the base URL"],
    });
  });
});

describe("proxies:", () => {
  /** A CONNECT proxy that leads every name to 127.0.0.1, or refuses with a status. */
  async function startProxy(status: number): Promise<{ port: number; connects: string[] }> {
    const connects: string[] = [];
    const server = createHttpServer();
    server.on("connect", (request, socket: Socket) => {
      connects.push(request.url ?? "");
      socket.on("error", () => {});
      if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
      const port = Number(request.url?.split(":")[1]);
      const onward = connect(port, "127.0.0.1", () => {
        socket.write("HTTP/1.1 200 OK\r\n\r\n");
        onward.pipe(socket).pipe(onward);
      });
      onward.on("error", () => socket.destroy());
    });
    return { port: await listen(server), connects };
  }

  const password = "CANARY-proxy-password";

  it("the way through one, and what is behind it", async () => {
    const proxy = await startProxy(200);
    const port = await startTls(authority.certify("proxied", "DNS:service.test"));
    const env = { HTTPS_PROXY: `http://me:${password}@127.0.0.1:${proxy.port}` };
    const aim = aimAt(`https://service.test:${port}`, env);
    const { findings } = await runDoctor(aim, "--ca-file", authority.caFile);
    expect(findings["proxy"]?.message).toBe(
      `used: http://127.0.0.1:${proxy.port} (HTTPS_PROXY), with a name and password`,
    );
    expect(findings["tcp"]?.message).toContain(`127.0.0.1:${proxy.port}`);
    expect(findings["tls"]?.status).toBe("ok");
    expect(findings["answer"]?.status).toBe("ok");
    expect(proxy.connects.length).toBeGreaterThan(1);
    expect(JSON.stringify(findings)).not.toContain(password);
  });

  it.each([
    [407, "requires a name and password"],
    [502, "502"],
  ])("one that answers %s", async (status, words) => {
    const proxy = await startProxy(status);
    const env = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { code, findings } = await runDoctor(aimAt("https://service.test", env));
    expect(code).toBe(5);
    expect(findings["tls"]?.message).toContain(words);
    expect(findings["tls"]?.fixes.join()).toContain("--proxy");
  });

  it("one that is not there", async () => {
    const env = { HTTPS_PROXY: "http://127.0.0.1:1" };
    const { code, findings } = await runDoctor(aimAt("https://service.test", env));
    expect(code).toBe(5);
    expect(findings["tcp"]?.message).toContain("no address of the proxy accepts a connection");
  });

  it.each<[name: string, url: string, env: Record<string, string>, words: string]>([
    [
      "NO_PROXY names the host",
      "https://a.invalid",
      { HTTPS_PROXY: "http://127.0.0.1:1", NO_PROXY: "b.test, .invalid" },
      "bypassed: NO_PROXY has .invalid",
    ],
    [
      "this machine",
      "http://127.0.0.1:1",
      { HTTP_PROXY: "http://p.invalid:1" },
      "bypassed: HTTP_PROXY is set, but the service is on this machine",
    ],
    ["none", "https://a.invalid", { HTTP_PROXY: "http://p.invalid" }, "none is set"],
  ])("bypassed: %s", async (_name, url, env, words) => {
    const { findings } = await runDoctor(aimAt(url, env));
    expect(findings["proxy"]).toMatchObject({
      status: "ok",
      message: expect.stringContaining(words),
    });
    if ("ALL_PROXY" in env)
      expect(findings["proxy"]?.details[0]).toContain("ALL_PROXY is set, but");
  });
});
