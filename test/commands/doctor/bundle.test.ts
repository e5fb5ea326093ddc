import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { rootCertificates } from "node:tls";
import { describe, expect, it } from "vitest";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { serve } from "./support.ts";

const canaries = {
  storedKey: "CANARY-stored-key-3f9a",
  variableKey: "CANARY-variable-key-77b1",
  foreign: "CANARY-foreign-password-5c",
  proxyPassword: "CANARY-proxy-0d41",
  metadata: "CANARY-metadata-value",
  text: "CANARY-document-text",
  user: "canaryperson",
};

/** A home with a configuration that holds everything that may not get out. */
function prepareHome(url: string) {
  const home = join(temporaryFolder(), canaries.user);
  const work = join(home, "work space", "project");
  mkdirSync(join(work, ".git"), { recursive: true });
  mkdirSync(join(home, "config", "knowctl"), { recursive: true });
  const profile = {
    baseUrl: url,
    accessToken: canaries.storedKey,
    apiKey: { env: "MY_KEY" },
    proxy: `http://me:${canaries.proxyPassword}@p.example.com:1`,
    caFile: `${home}/ca.pem`,
    ingest: { metadata: { secret: canaries.metadata }, tags: [canaries.metadata] },
  };
  writeFileSync(
    join(home, "config", "knowctl", "config.json"),
    JSON.stringify({ profiles: { default: profile } }),
    { mode: 0o600 },
  );
  writeFileSync(join(home, "ca.pem"), rootCertificates[0]!);
  const env = cleanEnvironment(home, {
    MY_KEY: canaries.variableKey,
    DATABASE_PASSWORD: canaries.foreign,
    HTTPS_PROXY: `http://me:${canaries.proxyPassword}@p.example.com:1`,
    USER: canaries.user,
    KNOWCTL_ROOT: work,
  });
  return { home, work, env };
}

describe.each(["ticket.txt", "ticket.json", "ticket.JSON"])("%s", (name) => {
  it("holds no key, no home, no name and no text of a document", async () => {
    // A service that says everything it hears, and more.
    const { url } = await serve((request, response) => {
      const { authorization = "" } = request.headers;
      const detail = `${authorization} ${Buffer.from(authorization).toString("base64")} /home/${canaries.user}/x ${canaries.foreign}`;
      const echo = {
        status_code: 422,
        message: `1 validation error: {'type': 'missing', 'loc': ('body',), 'msg': 'Field required', 'input': {'text': '${canaries.text}'}}`,
      };
      const isWrite = request.method === "POST";
      response.writeHead(isWrite ? 422 : 403, { "content-type": "application/json" });
      response.end(JSON.stringify(isWrite ? echo : { detail, text: canaries.text }));
    });
    const { home, work, env } = prepareHome(url);
    const context = createTestContext({ cwd: work, env });
    const code = await main(["doctor", "--bundle", name], context);
    expect(code).toBe(4);
    const text = readFileSync(join(work, name), "utf8");
    for (const [kind, canary] of Object.entries(canaries)) {
      for (const spelt of [
        canary,
        encodeURIComponent(canary),
        Buffer.from(canary).toString("base64").slice(0, -4),
      ]) {
        expect(text.toLowerCase(), kind).not.toContain(spelt.toLowerCase());
      }
    }
    expect(text).not.toContain(home);
    expect(text).not.toContain(encodeURI(home));
    if (hostname().length > 2) expect(text).not.toContain(hostname());
    // What support needs is there.
    for (const word of [
      url,
      "checks",
      "access-token",
      "~/",
      "<user>",
      "MY_KEY",
      "/api/manage/admin/connector/status",
    ]) {
      expect(text, word).toContain(word);
    }
    expect(statSync(join(work, name)).mode & 0o777).toBe(0o600);
    expect(context.stderrText()).toContain("read it before you share it");
    if (!name.endsWith("txt"))
      expect(JSON.parse(text)).toMatchObject({ version: 1, exit: { code: 4 } });
  });
});

it.each([
  "https://a.example/x?token=CANARY-in-query",
  "https://a.example/x#CANARY-in-fragment",
  "https://me:CANARY-password@a.example",
  "https://me:CANARY/password@a.example",
])("holds nothing secret of the base URL %s", async (baseUrl) => {
  const cwd = temporaryFolder();
  const proxy = "me:CANARY-proxy@p.example?CANARY=CANARY-x";
  const env = cleanEnvironment(cwd, { KNOWCTL_API_KEY: "some-key-of-mine" });
  const flags = ["--base-url", baseUrl, "--proxy", proxy];
  for (const args of [
    ["doctor", "--bundle", "b.txt"],
    ["doctor", "--bundle", "b.json", "--json"],
    ["config", "show", "--json"],
    ["config", "show", "--origin"],
    ["config", "list"],
    ["connectors", "list"],
  ]) {
    const context = createTestContext({ cwd, env });
    expect(await main([...args, ...flags], context)).toBeLessThan(4);
    const file = args[1] === "--bundle" ? readFileSync(join(cwd, args[2] ?? ""), "utf8") : "";
    expect(file + context.stdoutText() + context.stderrText()).not.toContain("CANARY");
  }
});

it("is written where nothing is configured, too", async () => {
  const cwd = temporaryFolder();
  const context = createTestContext({ cwd, env: cleanEnvironment(cwd) });
  expect(await main(["doctor", "--bundle", "b.txt", "--quiet"], context)).toBe(3);
  expect(readFileSync(join(cwd, "b.txt"), "utf8")).toContain("no service is configured yet");
});

it.each([
  ["", 2, "--bundle"],
  ["-", 2, "not a file name"],
  [".", 2, "is a folder"],
  ["/dev/null", 2, "is not a regular file"],
  ["x".repeat(256), 2, "cannot be written: its name is too long"],
  ["missing/b.txt", 2, "cannot be written: its folder does not exist"],
])("refuses %s before anything is asked", async (path, exit, words) => {
  const { url, seen } = await serve((_request, response) => void response.end());
  const cwd = temporaryFolder();
  const env = cleanEnvironment(cwd, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "some-key" });
  const context = createTestContext({ cwd, env });
  expect(await main(["doctor", "--bundle", path], context)).toBe(exit);
  expect(context.stderrText()).toContain(words);
  expect(seen).toEqual([]);
});
