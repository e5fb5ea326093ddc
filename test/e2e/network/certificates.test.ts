import { spawn } from "node:child_process";
import { createPrivateKey } from "node:crypto";
import { chmodSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { codeOf } from "../../../src/errors.ts";
import { startTestService, writeFiles } from "../../service.ts";
import { createAuthority } from "./authority.ts";
import { runMain } from "./run.ts";
import { startFront } from "./servers.ts";

const phrase = "CANARY ünd phrase";
const authority = createAuthority();
authority.certify("service", "IP:::1,IP:127.0.0.1,DNS:localhost");
authority.certify("client", "DNS:client");
authority.certify("other", "DNS:other");
authority.certify("late", "DNS:late", "-1");
authority.openssl(
  "ec",
  "-in",
  "client.key",
  "-aes256",
  "-passout",
  `pass:${phrase}`,
  "-out",
  "locked.key",
);
authority.openssl(
  ..."pkcs12 -export -in client.crt -inkey client.key -passout pass:x -out client.p12".split(" "),
);
const stranger = createAuthority("Another CA");
stranger.certify("client", "DNS:client");

const path = authority.path;
const pair = { key: authority.read("service.key"), cert: authority.read("service.crt") };

/** A wrong passphrase of which OpenSSL says the same as of a key of no known form: 1 in 200. */
function unluckyPassphrase(): string {
  const key = authority.read("locked.key");
  for (let count = 0; count < 100_000; count++) {
    const passphrase = `CANARY-${count}`;
    try {
      createPrivateKey({ key, passphrase });
    } catch (error) {
      if (codeOf(error) !== "ERR_OSSL_BAD_DECRYPT") return passphrase;
    }
  }
  throw new Error("no such passphrase found");
}

async function startMutual(host = "127.0.0.1") {
  const service = await startTestService();
  const ca = authority.read("ca.crt");
  const { port, requests } = await startFront(
    service.sandbox.url,
    { ...pair, ca, requestCert: true, rejectUnauthorized: true },
    host,
  );
  const name = host.includes(":") ? `[${host}]` : host;
  const env = {
    ...service.env,
    KNOWCTL_BASE_URL: `https://${name}:${port}`,
    KNOWCTL_CA_FILE: path("ca.crt"),
  };
  return { ...service, env, requests };
}

/** A server that says with an alert of TLS what it does not like, which Node's own does not. */
async function startOpenssl(...args: string[]): Promise<number> {
  const child = spawn("openssl", ["s_server", "-accept", "127.0.0.1:0", ...args], {
    cwd: authority.folder,
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill());
  let text = "";
  for await (const chunk of child.stdout.setEncoding("utf8").iterator({ destroyOnReturn: false })) {
    text += String(chunk);
    const port = /ACCEPT \S+:(\d+)/.exec(text)?.[1];
    if (port !== undefined) {
      child.stdout.resume();
      return Number(port);
    }
  }
  throw new Error("openssl s_server did not start");
}

const list = ["connectors", "list"];

describe("a client certificate", () => {
  it.each<[name: string, flags: string[], env: Record<string, string>]>([
    ["from flags", ["--client-cert", path("client.crt"), "--client-key", path("client.key")], {}],
    ["with its key in one file", ["--client-cert", "client.pem"], {}],
    [
      "with a passphrase of a variable",
      ["--client-cert", path("client.crt"), "--client-key", path("locked.key")],
      { KNOWCTL_CLIENT_KEY_PASSPHRASE: phrase },
    ],
  ])("%s is shown", async (_name, flags, own) => {
    const { env, folder, requests } = await startMutual();
    writeFiles(folder, {
      "client.pem": authority.read("client.crt") + authority.read("client.key"),
    });
    chmodSync(`${folder}/client.pem`, 0o600);
    const ran = await runMain([...list, ...flags], { folder, env: { ...env, ...own } });
    expect({ code: ran.code, stderr: ran.stderr }).toEqual({ code: 0, stderr: "" });
    expect(requests).toEqual(["GET /api/manage/admin/connector/status as client"]);
  });

  it("of the profile is taken, its paths relative to the file, its passphrase by reference", async () => {
    const { env, folder, requests } = await startMutual();
    const { KNOWCTL_BASE_URL: baseUrl, KNOWCTL_CA_FILE: _, ...rest } = env;
    writeFiles(folder, {
      "company/knowctl.json": JSON.stringify({
        profiles: {
          default: {
            baseUrl,
            caFile: "ca.crt",
            clientCert: "client.crt",
            clientKey: "locked.key",
            clientKeyPassphrase: { env: "OUR_PHRASE" },
          },
        },
      }),
      "company/ca.crt": authority.read("ca.crt"),
      "company/client.crt": authority.read("client.crt"),
      "company/locked.key": authority.read("locked.key"),
    });
    chmodSync(`${folder}/company/locked.key`, 0o600);
    const own = { ...rest, KNOWCTL_BASE_URL: "", OUR_PHRASE: phrase };
    const args = [...list, "--config", "company/knowctl.json"];
    const { code, stderr } = await runMain(args, { folder, env: own });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(requests).toHaveLength(1);
    const shown = await runMain(["config", "show", "--config", "company/knowctl.json"], {
      folder,
      env: own,
    });
    expect(shown.stdout).toContain("OUR_PHRASE");
    expect(shown.stdout).not.toContain("CANARY");
  });

  it("of a project file needs trust, as an address does", async () => {
    const { env, folder, requests } = await startMutual();
    const profile = {
      clientCert: path("client.crt"),
      clientKey: path("client.key"),
      clientKeyPassphrase: { env: "X" },
    };
    writeFiles(folder, { ".cliconfig.json": JSON.stringify({ profiles: { default: profile } }) });
    const { code, stderr } = await runMain(list, { folder, env });
    expect(code).toBe(3);
    expect(stderr).toContain("profiles.default.clientKey: ");
    expect(stderr).toContain("profiles.default.clientKeyPassphrase: reads the variable X");
    expect(requests).toEqual([]);
  });

  it.each<[name: string, env: Record<string, string>, code: number, said: string[]]>([
    [
      "needs its passphrase",
      { KNOWCTL_CLIENT_CERT: path("client.crt"), KNOWCTL_CLIENT_KEY: path("locked.key") },
      3,
      ["needs a passphrase", "KNOWCTL_CLIENT_KEY_PASSPHRASE"],
    ],
    [
      "does not open with another passphrase",
      {
        KNOWCTL_CLIENT_CERT: path("client.crt"),
        KNOWCTL_CLIENT_KEY: path("locked.key"),
        KNOWCTL_CLIENT_KEY_PASSPHRASE: "CANARY-wrong",
      },
      3,
      ["does not open with this passphrase"],
    ],
    [
      "does not open with a passphrase that seems to fit",
      {
        KNOWCTL_CLIENT_CERT: path("client.crt"),
        KNOWCTL_CLIENT_KEY: path("locked.key"),
        KNOWCTL_CLIENT_KEY_PASSPHRASE: unluckyPassphrase(),
      },
      3,
      ["does not open with this passphrase"],
    ],
    [
      "has the key of another",
      { KNOWCTL_CLIENT_CERT: path("client.crt"), KNOWCTL_CLIENT_KEY: path("other.key") },
      3,
      ["does not belong to the certificate"],
    ],
    [
      "is no PEM file",
      { KNOWCTL_CLIENT_CERT: path("client.p12") },
      3,
      ["holds no certificate in PEM form", "openssl"],
    ],
    [
      "has no key beside it",
      { KNOWCTL_CLIENT_CERT: path("client.crt") },
      3,
      ["holds no private key"],
    ],
    [
      "is not there",
      { KNOWCTL_CLIENT_CERT: "none.crt" },
      3,
      ["KNOWCTL_CLIENT_CERT", "no such file"],
    ],
    [
      "is a key alone",
      { KNOWCTL_CLIENT_KEY: path("client.key") },
      3,
      ["without a client certificate"],
    ],
    [
      "has expired, which is told",
      { KNOWCTL_CLIENT_CERT: path("late.crt"), KNOWCTL_CLIENT_KEY: path("late.key") },
      5,
      ["expired on"],
    ],
  ])("that %s", async (_name, own, code, said) => {
    const { env, folder, requests } = await startMutual();
    const ran = await runMain([...list, "--debug"], { folder, env: { ...env, ...own } });
    expect(ran.code, ran.stderr).toBe(code);
    for (const words of said) expect(ran.stderr).toContain(words);
    expect(ran.stderr).not.toMatch(/CANARY|BEGIN/);
    expect(requests).toEqual([]);
  });

  it.each<[name: string, env: Record<string, string>, said: RegExp]>([
    ["that is missing", {}, /requires a client certificate/],
    [
      "of a CA that the server does not know",
      {
        KNOWCTL_CLIENT_CERT: stranger.path("client.crt"),
        KNOWCTL_CLIENT_KEY: stranger.path("client.key"),
      },
      /does not know the CA of the client certificate/,
    ],
    [
      "that a TLS 1.2 server misses",
      { TLS: "-tls1_2" },
      /TLS failed \(\S*HANDSHAKE_FAILURE\)[^]*may require a client certificate/,
    ],
  ])("%s is named, where the server says so", async (_name, { TLS, ...own }, said) => {
    const { folder, env } = await startTestService();
    const port = await startOpenssl(
      ..."-cert service.crt -key service.key -www".split(" "),
      ..."-CAfile ca.crt -Verify 1 -verify_return_error".split(" "),
      ...(TLS === undefined ? [] : [TLS]),
    );
    const ours = {
      ...env,
      KNOWCTL_BASE_URL: `https://localhost:${port}`,
      KNOWCTL_CA_FILE: path("ca.crt"),
    };
    const { code, stderr } = await runMain(list, { folder, env: { ...ours, ...own } });
    expect({ code, stderr }).toEqual({ code: 5, stderr: expect.stringMatching(said) });
    expect(stderr).toContain("--client-cert");
  });

  it("whose key others can read is a warning, and one that they can write a refusal", async () => {
    const { env, folder } = await startMutual();
    writeFiles(folder, { "my.key": authority.read("client.key") });
    const own = { ...env, KNOWCTL_CLIENT_CERT: path("client.crt"), KNOWCTL_CLIENT_KEY: "my.key" };
    chmodSync(`${folder}/my.key`, 0o644);
    const warned = await runMain(list, { folder, env: own });
    expect(warned).toMatchObject({ code: 0, stderr: expect.stringContaining("chmod 600") });
    chmodSync(`${folder}/my.key`, 0o666);
    const refused = await runMain(list, { folder, env: own });
    expect(refused).toMatchObject({ code: 3, stderr: expect.stringContaining("chmod 600") });
  });
});

describe("a CA file", () => {
  const damaged = authority.read("ca.crt").replace(/\n.{10}/, "\n!!!!!!!!!!");
  it.each<[name: string, text: string, said: string]>([
    ["without a certificate", "hello\n", "holds no certificate in PEM form"],
    [
      "with a damaged one",
      `${authority.read("ca.crt")}${damaged}`,
      "certificate 2 of 2 is damaged",
    ],
  ])("%s is refused before anything is sent", async (_name, text, said) => {
    const { env, folder, requests } = await startMutual();
    writeFiles(folder, { "ca.pem": text });
    const { code, stderr } = await runMain(list, {
      folder,
      env: { ...env, KNOWCTL_CA_FILE: "ca.pem" },
    });
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining(said) });
    expect(requests).toEqual([]);
  });
});

describe("IPv6", () => {
  it("an address of the service is taken as it is written", async () => {
    const { env, folder, requests } = await startMutual("::1");
    const own = { KNOWCTL_CLIENT_CERT: path("client.crt"), KNOWCTL_CLIENT_KEY: path("client.key") };
    const { code, stderr } = await runMain(list, { folder, env: { ...env, ...own } });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(requests).toHaveLength(1);
  });
});
