import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../main.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";

/** A key and a certificate for localhost that signs itself. */
function certify(folder: string, name: string): void {
  const subject = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=DNS:localhost"];
  const files = ["-keyout", `${name}.key`, "-out", `${name}.crt`];
  execFileSync("openssl", ["req", "-x509", "-newkey", "rsa:2048", "-nodes", ...subject, ...files], {
    cwd: folder,
    stdio: "ignore",
  });
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
