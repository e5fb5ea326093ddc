import { describe, expect, it } from "vitest";
import { startTestService, testKey, writeFiles, type TestService } from "../../service.ts";
import { runMain } from "./run.ts";
import { createAuthority } from "./authority.ts";
import { answer, inspect, leadOn, startFront, startProxy, type Behaviour } from "./servers.ts";

const authority = createAuthority();
authority.certify("service", "DNS:service.test");
authority.certify("proxy", "DNS:localhost");
authority.certify("client", "DNS:client");
const inspection = createAuthority("Inspection CA");
inspection.certify("service", "DNS:service.test");

const pair = (name: string) => ({
  key: authority.read(`${name}.key`),
  cert: authority.read(`${name}.crt`),
});
const password = "CANARY:p@ss w";
const login = `alice:${encodeURIComponent(password)}`;

interface Corporate extends TestService {
  /** Address of the service as the tool is told it; only the proxy knows the way. */
  url: string;
  requests: string[];
}

/** A service that can be reached through a proxy alone, and wants a client certificate. */
async function startCorporate(dialect: "standard" | "onyx"): Promise<Corporate> {
  const service = await startTestService({ dialect });
  writeFiles(service.folder, { "docs/a.md": "# Leave\n\nAsk your lead for leave.\n" });
  const ca = authority.read("ca.crt");
  const options = { ...pair("service"), ca, requestCert: true, rejectUnauthorized: true };
  const { port, requests } = await startFront(service.sandbox.url, options);
  const url = `https://service.test:${port}`;
  const env = {
    ...service.env,
    KNOWCTL_BASE_URL: url,
    KNOWCTL_CA_FILE: authority.path("ca.crt"),
    KNOWCTL_CLIENT_CERT: authority.path("client.crt"),
    KNOWCTL_CLIENT_KEY: authority.path("client.key"),
  };
  return { ...service, env, url, requests };
}

describe.each(["standard", "onyx"] as const)("through a proxy, %s:", (dialect) => {
  it.each([
    [["connectors", "list"], ""],
    [["ingest", "docs", "--cc-pair-id", "2"], ""],
    [["chat", "How do I request leave?"], "lead"],
    [["chat", "--no-stream", "How do I request leave?"], "lead"],
    [["files", "upload", "docs/a.md"], ""],
    [["tools", "list"], ""],
  ])("%j", async (args, words) => {
    const { env, folder, url, requests } = await startCorporate(dialect);
    const proxy = await startProxy();
    const proxied = { ...env, HTTPS_PROXY: `http://${login}@127.0.0.1:${proxy.port}` };
    if (args[0] === "chat")
      await runMain(["ingest", "docs", "--cc-pair-id", "2"], { folder, env: proxied });
    const { code, stdout, stderr } = await runMain([...args, "--debug"], { folder, env: proxied });
    expect({ code, stderr }).toMatchObject({ code: 0 });
    expect(stdout).toContain(words);
    expect(requests.length).toBeGreaterThan(0);
    expect(requests.filter((each) => !each.endsWith(" as client"))).toEqual([]);
    // The proxy saw where to, its own password, and nothing of the service.
    expect(proxy.plain).toEqual([]);
    for (const { target, headers } of proxy.connects) {
      expect(`https://${target}`).toBe(url);
      expect(Object.keys(headers).toSorted()).toEqual([
        "connection",
        "host",
        "proxy-authorization",
      ]);
      expect(headers["proxy-authorization"]).toBe(
        `Basic ${Buffer.from(`alice:${password}`).toString("base64")}`,
      );
    }
    expect(stdout + stderr).not.toMatch(/CANARY/);
  });
});

async function startPlainCorporate() {
  const service = await startTestService();
  const { port } = await startFront(service.sandbox.url, pair("service"));
  const url = `https://service.test:${port}`;
  const env = { ...service.env, KNOWCTL_BASE_URL: url, KNOWCTL_CA_FILE: authority.path("ca.crt") };
  return { ...service, env, url, port };
}

describe("a proxy", () => {
  it.each<[name: string, (url: string) => Record<string, string>]>([
    ["ALL_PROXY", (url) => ({ ALL_PROXY: url })],
    ["https_proxy", (url) => ({ https_proxy: url, HTTPS_PROXY: "http://127.0.0.1:1" })],
    ["all_proxy without a scheme", (url) => ({ all_proxy: url.replace("http://", "") })],
    ["KNOWCTL_PROXY", (url) => ({ KNOWCTL_PROXY: url, HTTPS_PROXY: "http://127.0.0.1:1" })],
  ])("is taken from %s", async (_name, variables) => {
    const { env, folder } = await startPlainCorporate();
    const { port, connects } = await startProxy();
    const own = variables(`http://127.0.0.1:${port}`);
    const { code, stderr } = await runMain(["connectors", "list"], {
      folder,
      env: { ...env, ...own },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(connects).toHaveLength(1);
  });

  it("is not asked for what NO_PROXY names", async () => {
    const { env, folder } = await startPlainCorporate();
    const { port, connects } = await startProxy();
    const own = { HTTPS_PROXY: `http://127.0.0.1:${port}`, NO_PROXY: "other.example, test" };
    const { code, stderr } = await runMain(["connectors", "list"], {
      folder,
      env: { ...env, ...own },
    });
    // Without it nobody knows the host.
    expect({ code, stderr }).toEqual({
      code: 5,
      stderr: expect.stringContaining("host not found"),
    });
    expect(connects).toEqual([]);
  });

  it("that speaks TLS itself is checked by its own name, and sees no client certificate", async () => {
    const { env, folder } = await startPlainCorporate();
    const seen: unknown[] = [];
    const behaviour: Behaviour = (request, socket) => {
      const { subject } = (
        socket as unknown as { getPeerCertificate(): { subject?: unknown } }
      ).getPeerCertificate();
      seen.push(subject);
      leadOn(request, socket);
    };
    const tls = { ...pair("proxy"), requestCert: true, rejectUnauthorized: false };
    const { port } = await startProxy(behaviour, { tls });
    const own = {
      HTTPS_PROXY: `https://localhost:${port}`,
      KNOWCTL_CLIENT_CERT: authority.path("client.crt"),
      KNOWCTL_CLIENT_KEY: authority.path("client.key"),
    };
    const { code, stderr } = await runMain(["connectors", "list"], {
      folder,
      env: { ...env, ...own },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(seen).toEqual([undefined]);
    const wrong = await startProxy(leadOn, { tls: pair("service") });
    const bad = { HTTPS_PROXY: `https://localhost:${wrong.port}` };
    const refused = await runMain(["connectors", "list"], { folder, env: { ...env, ...bad } });
    expect(refused).toMatchObject({ code: 5, stderr: expect.stringContaining("proxy: ") });
    expect(wrong.connects).toEqual([]);
  });

  it("may have an IPv6 address", async () => {
    const { env, folder } = await startPlainCorporate();
    const { port, connects } = await startProxy(leadOn, { host: "::1" });
    const own = { HTTPS_PROXY: `http://[::1]:${port}` };
    const { code } = await runMain(["connectors", "list"], { folder, env: { ...env, ...own } });
    expect(code).toBe(0);
    expect(connects).toHaveLength(1);
  });

  it("that inspects TLS works once its CA is given, beside that of the company", async () => {
    const { env, folder, sandbox } = await startPlainCorporate();
    const own = { key: inspection.read("service.key"), cert: inspection.read("service.crt") };
    const { port } = await startProxy(inspect(own, sandbox.url));
    const proxied = { ...env, HTTPS_PROXY: `http://127.0.0.1:${port}` };
    const refused = await runMain(["connectors", "list"], { folder, env: proxied });
    expect(refused.code).toBe(5);
    expect(refused.stderr).toContain("unknown CA");
    expect(refused.stderr).toContain("--ca-file");
    expect(refused.stderr).toContain(`the proxy 127.0.0.1:${port} may intercept TLS`);
    const both = `${authority.read("ca.crt")}# two in one file\n${inspection.read("ca.crt")}`;
    writeFiles(folder, { "both.pem": both });
    for (const trust of [
      { KNOWCTL_CA_FILE: "both.pem" },
      { NODE_EXTRA_CA_CERTS: inspection.path("ca.crt") },
    ]) {
      const { code, stderr } = await runMain(["connectors", "list"], {
        folder,
        env: { ...proxied, ...trust },
      });
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    }
  });
});

const html =
  "HTTP/1.1 200 OK\r\ncontent-type: text/html\r\n\r\n<html><body>Log in</body></html>\r\n";
const canaryPhrase = Buffer.from(`alice:${password}`).toString("base64");

describe("a proxy that", () => {
  it.each<[name: string, Behaviour, connects: number, code: number, said: string[]]>([
    [
      "wants another password",
      answer(
        'HTTP/1.1 407 Proxy Authentication Required\r\nproxy-authenticate: Basic realm="x"\r\n\r\n',
      ),
      1,
      5,
      ["answered 407", "rejects this name and password", "percent-encoded"],
    ],
    [
      "wants NTLM",
      answer(
        "HTTP/1.1 407 No\r\nproxy-authenticate: Negotiate\r\nproxy-authenticate: NTLM\r\n\r\n",
      ),
      1,
      5,
      ["it accepts NTLM or Negotiate, this tool supports only Basic", "cntlm or px"],
    ],
    [
      "forbids it",
      answer("HTTP/1.1 403 Forbidden by policy\r\ncontent-type: text/html\r\n\r\n<h1>No</h1>"),
      1,
      5,
      ["answered 403 Forbidden by policy", "ask for service.test:", "port 443 only", "NO_PROXY"],
    ],
    [
      "cannot reach it",
      answer("HTTP/1.1 502 Bad Gateway\r\n\r\n"),
      4,
      5,
      ["answered 502", "add a host inside the company to NO_PROXY"],
    ],
    [
      "echoes the password",
      answer(`HTTP/1.1 403 ${password} ${canaryPhrase} ${login}\r\n\r\n`),
      1,
      5,
      ["answered 403", "***"],
    ],
    ["hangs up", (_request, socket) => socket.destroy(), 4, 5, ["closed the connection"]],
    ["hangs up in the middle", answer("HTTP/1.1 200 Connec"), 4, 5, ["closed the connection"]],
    [
      "answers with a page",
      answer(html),
      1,
      5,
      ["opened a tunnel, but the response in it is not TLS"],
    ],
    [
      "speaks something else",
      answer("220 mail.example ESMTP\r\n"),
      4,
      5,
      ["does not respond like a proxy"],
    ],
    [
      "redirects",
      answer("HTTP/1.1 302 Found\r\nlocation: http://portal.example/\r\n\r\n"),
      4,
      5,
      ["answered 302"],
    ],
  ])("%s", async (_name, behaviour, connects, code, said) => {
    const { env, folder } = await startPlainCorporate();
    const proxy = await startProxy(behaviour);
    const own = { HTTPS_PROXY: `http://${login}@127.0.0.1:${proxy.port}` };
    const ran = await runMain(["connectors", "list", "--debug"], {
      folder,
      env: { ...env, ...own },
    });
    expect(ran.code, ran.stderr).toBe(code);
    for (const words of [`proxy 127.0.0.1:${proxy.port}: `, "HTTPS_PROXY", ...said]) {
      expect(ran.stderr).toContain(words);
    }
    expect(ran.stderr).not.toContain("CANARY");
    expect(ran.stderr).not.toContain(canaryPhrase);
    expect(ran.stderr).not.toContain(testKey);
    expect(proxy.connects).toHaveLength(connects);
    expect(JSON.stringify(proxy.connects)).not.toContain(testKey);
  });

  it("wants a name and password where none was given", async () => {
    const { env, folder } = await startPlainCorporate();
    const proxy = await startProxy(answer("HTTP/1.1 407 No\r\n\r\n"));
    const own = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const { stderr } = await runMain(["connectors", "list"], { folder, env: { ...env, ...own } });
    expect(stderr).toContain("it requires a name and password");
    expect(stderr).toContain("http://NAME:PASSWORD@host:port");
  });

  it("says nothing costs no more than the time that was given", async () => {
    const { env, folder } = await startPlainCorporate();
    const proxy = await startProxy(() => {});
    const own = { HTTPS_PROXY: `http://127.0.0.1:${proxy.port}` };
    const args = ["connectors", "list", "--timeout", "0.05"];
    const { code, stderr } = await runMain(args, { folder, env: { ...env, ...own } });
    expect({ code, stderr }).toEqual({
      code: 7,
      stderr: expect.stringContaining("no response in time"),
    });
    expect(proxy.connects.length).toBeLessThanOrEqual(4);
  });
});
