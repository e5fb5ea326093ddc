import { writeFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { serve } from "../commands/doctor/support.ts";
import { main } from "../main.ts";
import { startTestService, testKey } from "../service.ts";
import {
  cleanEnvironment,
  createTestContext,
  temporaryFolder,
  type TestContext,
} from "../support.ts";
import { createDesk, failureOf } from "./support.ts";

const prod = "https://prod.example";

const desk = (headers: object, env: Record<string, string> = {}) => {
  const made = createDesk({ KNOWCTL_API_KEY: "a-key", ...env });
  made.putUser({ profiles: { p: { baseUrl: prod, headers } } });
  return made;
};

/** A context whose configuration has this one profile. */
function contextWith(profile: object): TestContext {
  const cwd = temporaryFolder();
  const path = `${cwd}/own.json`;
  writeFileSync(path, JSON.stringify({ profiles: { p: profile } }), { mode: 0o600 });
  return createTestContext({ cwd, env: cleanEnvironment(cwd, { KNOWCTL_CONFIG: path }) });
}

describe("headers of a profile", () => {
  it("are resolved as keys are, by lower-case name", async () => {
    const headers = { "X-Team": "a team", "X-Onyx-Authorization": { env: "GATE" } };
    const { load } = desk(headers, { GATE: " Bearer gate-key \n" });
    expect((await (await load()).connection()).headers).toEqual({
      "x-team": "a team",
      "x-onyx-authorization": "Bearer gate-key",
    });
  });

  it.each([
    [{ Authorization: "x" }, "knowctl sets the header Authorization itself"],
    [{ "content-length": "1" }, "knowctl sets the header content-length itself"],
    [{ "Proxy-Authorization": "x" }, "knowctl sets the header Proxy-Authorization itself"],
    [{ X: { env: "NOWHERE" } }, "the header X: the variable NOWHERE"],
    [{ "X-A": "one", "x-a": "two" }, "the header x-a is given twice"],
    [{ X: "a\r\nInjected: yes" }, "holds characters that a header cannot have"],
  ])("%j is refused", async (headers, message) => {
    const failure = await failureOf((await desk(headers).load()).connection());
    expect(failure).toMatchObject({ exit: "not-configured" });
    expect(failure.whole).toContain(message);
    expect(failure.whole).not.toContain("Injected");
  });

  it("go to the address beside them only", async () => {
    const { load } = desk({ "X-Key": "gate-key" });
    const elsewhere = load({ flags: { baseUrl: "https://elsewhere.example" } });
    const failure = await failureOf((await elsewhere).connection());
    expect(failure.message).toContain("the stored headers.X-Key");
    expect(failure.message).toContain("is not sent to https://elsewhere.example");
  });

  it("of an untrusted project file are never used", async () => {
    const made = createDesk({ KNOWCTL_API_KEY: "a-key", KNOWCTL_BASE_URL: prod });
    made.put(".cliconfig.json", { profiles: { p: { headers: { "X-Key": { env: "HOME" } } } } });
    const failure = await failureOf((await made.load()).connection());
    expect(failure.exit).toBe("not-configured");
    expect(failure.whole).toContain("headers");
  });

  it("reach the service with each request, and no output", async () => {
    const key = testKey;
    const { folder, env, sandbox } = await startTestService({ dialect: "onyx", key });
    const context = createTestContext({
      cwd: folder,
      env: { ...env, KNOWCTL_API_KEY: "wrong-key-of-another", GATE: `Bearer ${key}` },
    });
    const headers = { "X-Onyx-Authorization": { env: "GATE" }, "X-Plain": "literal-value-1234" };
    const path = `${folder}/own.json`;
    const content = { profiles: { p: { baseUrl: sandbox.url, headers } } };
    writeFileSync(path, JSON.stringify(content), { mode: 0o600 });
    const args = ["agents", "list", "--config", path, "--debug"];
    expect(await main(args, context), context.stderrText()).toBe(0);
    expect(context.stderrText()).toContain("x-plain");
    for (const text of [context.stderrText(), context.stdoutText()]) {
      expect(text).not.toContain(key);
      expect(text).not.toContain("literal-value-1234");
    }
    const shown = createTestContext({ cwd: folder, env });
    await main(["config", "show", "--config", path, "--json"], shown);
    expect(shown.stdoutText()).toContain("X-Plain");
    expect(shown.stdoutText()).not.toContain("literal-value-1234");
  });

  it("show neither a short value nor the key after a scheme", async () => {
    const { url } = await serve((_request, response) => {
      response.writeHead(403, { "content-type": "application/json" });
      response.end(JSON.stringify({ detail: "no gate-key-123456 with hidden-login-1 for a7-pin" }));
    });
    const basic = Buffer.from("me:hidden-login-1").toString("base64");
    const headers = {
      "X-Gate": "Bearer gate-key-123456",
      "X-Login": `Basic ${basic}`,
      Cookie: "first=1; session=a7-pin",
      "X-Pin": "q9z",
    };
    const context = contextWith({ baseUrl: url, apiKey: testKey, headers });
    expect(await main(["connectors", "list", "--debug"], context)).toBe(4);
    const shown = context.stderrText() + context.stdoutText();
    for (const text of ["gate-key", "hidden-login", "a7-pin", "q9z"]) {
      expect(shown).not.toContain(text);
    }
  });

  it("remove no ordinary word, and no address, from names and answers", async () => {
    const { sandbox } = await startTestService({ key: testKey });
    const headers = {
      "X-Team": "Handbook",
      "X-Unit": "Everybody who can sign in",
      Origin: sandbox.url,
    };
    const profile = { baseUrl: sandbox.url, apiKey: testKey, headers };
    const context = contextWith(profile);
    const args = ["connectors", "find", "Handbook uploads"];
    expect(await main(args, context), context.stderrText()).toBe(0);
    const shown = contextWith({ ...profile, ingest: { idPrefix: "Handbook/" } });
    await main(["config", "show"], shown);
    expect(shown.stdoutText()).toContain("Handbook/");
    expect(shown.stdoutText()).toContain(sandbox.url);
    const checked = contextWith(profile);
    await main(["doctor", "--json"], checked);
    expect(checked.stdoutText()).toContain(sandbox.url);
  });

  it("are in the requests of doctor too", async () => {
    const teams: unknown[] = [];
    const { url } = await serve((request, response) => {
      if (request.url?.startsWith("/api") === true) teams.push(request.headers["x-team"]);
      response.writeHead(200, { "content-type": "application/json" }).end("[]");
    });
    const context = contextWith({ baseUrl: url, apiKey: testKey, headers: { "X-Team": "a team" } });
    await main(["doctor"], context);
    expect(teams.length).toBeGreaterThan(3);
    expect(new Set(teams)).toEqual(new Set(["a team"]));
  });

  it.each([
    [["headers", '{"X-Key":"a-literal-value"}'], "a key cannot be an argument"],
    [["headers.X-Key", "a-literal-value"], "a key cannot be an argument"],
    [["headers.Host", '{"env":"A"}'], "knowctl sets the header Host itself"],
    [["headers.x-team", '{"env":"A"}'], "the header x-team is given twice"],
    [["headers.a b", '{"env":"A"}'], "the name of a header may hold"],
  ])("config set %j is refused", async ([key = "", value = ""], message) => {
    const made = desk({ "X-Team": "a team" });
    const context = createTestContext({ cwd: made.project, env: made.env });
    const line = ["config", "set", `profiles.p.${key}`, value];
    expect(await main(line, context), context.stderrText()).toBe(2);
    expect(context.stderrText()).toContain(message);
    expect(context.stderrText()).not.toContain("a-literal-value");
    expect(context.stderrText()).not.toContain("knowctl login");
  });

  it("that no request can carry are named by config validate", async () => {
    const context = contextWith({ baseUrl: prod, headers: { Host: "x" } });
    expect(await main(["config", "validate"], context)).toBe(3);
    expect(context.stdoutText() + context.stderrText()).toContain("profiles.p.headers.Host");
  });
});
