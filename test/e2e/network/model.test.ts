import { describe, expect, it } from "vitest";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { createAuthority } from "./authority.ts";
import { answer, leadOn, startFront, startModel, startProxy, type Behaviour } from "./servers.ts";

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
