import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { main } from "../../main.ts";
import { removePair } from "../../../src/api/create-connector.ts";
import type { IdentifiedConnector } from "../../../src/api/schemas.ts";
import { startTestService, testKey } from "../../service.ts";
import { cleanEnvironment, createTestContext } from "../../support.ts";
import { openClient } from "../../api/support.ts";
import { json, key, startServer, type Seen } from "../api/support.ts";
import { pair, run } from "../pairs.ts";

const wire = JSON.parse(
  readFileSync(new URL("../../fixtures/wire/create-connector.json", import.meta.url), "utf8"),
) as Record<string, never>;

type Answers = ((seen: Seen) => { status?: number; body?: unknown; reset?: true })[];

/** Runs `connectors create Docs` against answers in their order; the last one stays. */
async function create(answers: Answers, flags: string[] = []) {
  let count = 0;
  const { url, seen } = await startServer((each, response) => {
    const answer = answers[Math.min(count++, answers.length - 1)]!(each);
    if (answer.reset) response.destroy();
    else json(response, answer.body, answer.status ?? 200);
  });
  const context = createTestContext();
  const env = cleanEnvironment(context.cwd, {
    KNOWCTL_BASE_URL: url,
    KNOWCTL_API_KEY: key,
    KNOWCTL_DIALECT: "onyx",
  });
  const code = await main(["connectors", "create", "Docs", ...flags], { ...context, env });
  const asked = seen.map(({ method }) => method).join(" ");
  return { code, out: context.stdoutText(), err: context.stderrText(), asked, seen };
}

const none = () => ({ body: [] });
const listed = (...ids: number[]) => ({
  body: ids.map((id) => pair({ id, name: "Docs", source: "ingestion_api" })),
});

describe("connectors create", () => {
  it("makes one in the sandbox, and finds it the next time", async () => {
    const service = await startTestService({ dialect: "onyx" });
    const first = await run(service, ["connectors", "create", "Docs"]);
    expect(first).toEqual({ code: 0, out: "9\n", err: "created, public\n" });
    const second = await run(service, ["connectors", "create", "Docs", "--json"]);
    expect(second).toMatchObject({ code: 0, err: "it already exists\n" });
    expect(JSON.parse(second.out)).toEqual({
      cc_pair_id: 9,
      name: "Docs",
      source: "ingestion_api",
      access_type: "public",
      created: false,
    });
    const found = await run(service, ["connectors", "find", "Docs", "--source", "ingestion_api"]);
    expect(found.out).toBe("9\n");
  });

  it("makes one when several run at once", async () => {
    const service = await startTestService({ dialect: "onyx" });
    const all = await Promise.all(
      [1, 2, 3, 4].map(() => run(service, ["connectors", "create", "Docs"])),
    );
    expect(all.map(({ code, out }) => [code, out])).toEqual(all.map(() => [0, "9\n"]));
    expect(all.filter(({ err }) => err.startsWith("created"))).toHaveLength(1);
  });

  it("names the admin page where the dialect has no way, before any request", async () => {
    const service = await startTestService();
    const { code, out, err } = await run(service, ["connectors", "create", "Docs"]);
    expect({ code, out }).toEqual({ code: 9, out: "" });
    expect(err).toContain("the standard dialect cannot create connectors");
    expect(err).toContain(`on the admin page of ${service.sandbox.url}`);
  });

  it.each(["", " ", " a", "a\nb", "a\u001b[31m", "a\u202e", "x".repeat(256)])(
    "takes %j for no name",
    async (name) => {
      const service = await startTestService({ dialect: "onyx" });
      const { code, err } = await run(service, ["connectors", "create", name]);
      expect(code).toBe(2);
      expect(err).toContain("is not a valid connector name");
    },
  );

  it("sends what the service wants", async () => {
    const made = () => ({ body: wire["created"] });
    const flags = ["--access-type", "private", "--group", "3", "--group", "4"];
    const groups = () => ({ body: [{ id: 3 }, { id: 4 }] });
    const { code, out, seen } = await create([none, groups, made, none], flags);
    expect({ code, out }).toEqual({ code: 0, out: "244\n" });
    expect(seen[2]?.url).toBe("/api/manage/admin/connector-with-mock-credential");
    expect(JSON.parse(seen[2]!.body)).toEqual({
      name: "Docs",
      source: "ingestion_api",
      input_type: "load_state",
      connector_specific_config: {},
      refresh_freq: null,
      prune_freq: null,
      indexing_start: null,
      access_type: "private",
      groups: [3, 4],
    });
  });

  it("refuses a group that no connector can have before anything is stored", async () => {
    const groups = () => ({ body: [{ id: 3 }] });
    const flags = ["--access-type", "private", "--group", "3", "--group", "1"];
    const { code, err, asked } = await create([none, groups], flags);
    expect({ code, asked }).toEqual({ code: 2, asked: "GET GET" });
    expect(err).toContain("--group 1: no connector can have this group");
    expect(err).toContain("this key may use: 3");
  });

  it("does not take one of another source for it", async () => {
    const other = () => ({ body: [pair({ id: 5, name: "Docs", source: "web" })] });
    const refused = () => ({ status: 400, body: wire["samePairName"] });
    const { code, err } = await create([other, refused, other]);
    expect(code).toBe(2);
    expect(err).toContain("pair 5 (source web) has this name: choose another");
  });

  it.each<[string, Answers[number]]>([
    ["refuses the name", () => ({ status: 400, body: wire["sameNameAndSource"] })],
    ["says that it is linked", () => ({ body: wire["alreadyLinked"] })],
    ["loses its answer", () => ({ reset: true })],
    ["fails", () => ({ status: 500, body: { detail: "x" } })],
  ])("prints what another run made when the service %s", async (_what, refused) => {
    const { code, out, err, asked } = await create([none, refused, none, () => listed(7)]);
    expect({ code, out, asked }).toEqual({ code: 0, out: "7\n", asked: "GET POST GET GET" });
    expect(err).toBe("it already exists\n");
  });

  it("says what to look for when nothing of it is listed", async () => {
    const refused = () => ({ status: 400, body: wire["sameNameAndSource"] });
    const { code, out, err, asked } = await create([none, refused, none]);
    expect({ code, out, asked }).toEqual({
      code: 2,
      out: "",
      asked: "GET POST GET GET GET GET GET",
    });
    expect(err).toContain("A connector with this name exists already");
    expect(err).toContain('may have stored a connector "Docs" without a pair');
    expect(err).toContain("use another name");
  });

  it("does not look again after a refusal of the key", async () => {
    const refused = () => ({ status: 403, body: { detail: "no" } });
    expect(await create([none, refused])).toMatchObject({ code: 4, asked: "GET POST" });
  });

  it("prints the older of two that were made at once", async () => {
    const made = () => ({ body: wire["created"] });
    const done = () => ({ body: null });
    const result = await create([none, made, () => listed(243, 244), done, done]);
    expect(result).toMatchObject({ code: 0, out: "243\n", asked: "GET POST GET PUT POST" });
    expect(result.err).toContain("another run created pair 243 of this name at the same time");
    expect(result.err).toContain("this run made pair 244: it is being removed");
    const [, , , pause, removal] = result.seen;
    expect([pause?.url, pause?.body]).toEqual([
      "/api/manage/admin/cc-pair/244/status",
      '{"status":"PAUSED"}',
    ]);
    expect(removal?.url).toBe("/api/manage/admin/deletion-attempt");
    const own = pair({ id: 244, name: "Docs", source: "ingestion_api" });
    expect(JSON.parse(removal!.body)).toEqual({
      connector_id: own.connector.id,
      credential_id: own.credential.id,
    });
  });

  it.each([3, 4])("names what step %i of the removal leaves", async (failing) => {
    const made = () => ({ body: wire["created"] });
    const refused = () => ({ status: 403, body: { detail: "no" } });
    const steps: Answers = [none, made, () => listed(243, 244), () => ({ body: null }), refused];
    if (failing === 3) steps[3] = refused;
    const { code, out, err } = await create(steps);
    expect({ code, out }).toEqual({ code: 0, out: "243\n" });
    expect(err).toContain("this run made pair 244: it cannot be removed (");
    expect(err).toContain("403: no");
    expect(err).toContain("delete it on the admin page");
  });

  it("prints the id of what it made though the listing fails afterwards", async () => {
    const made = () => ({ body: wire["created"] });
    const { code, out, err } = await create([
      none,
      made,
      () => ({ status: 403, body: { detail: "no" } }),
    ]);
    expect({ code, out }).toEqual({ code: 0, out: "244\n" });
    expect(err).toContain("pair 244 was created; whether another run made one");
  });

  it("leaves no second pair in the sandbox", async () => {
    const service = await startTestService({ dialect: "onyx" });
    await run(service, ["connectors", "create", "Docs"]);
    const before = await run(service, ["connectors", "list", "--json"]);
    const client = openClient(service.sandbox.url, { dialect: "onyx", accessToken: testKey });
    const record = (JSON.parse(before.out) as IdentifiedConnector[]).find(
      ({ name }) => name === "Docs",
    );
    await removePair(client, record!);
    await client.close();
    const after = await run(service, ["connectors", "find", "Docs"]);
    expect(after.code).toBe(9);
  });

  it.each<[string[], string]>([
    [["--access-type", "public"], "its access type is private, not public"],
    [["--access-type", "private", "--group", "3", "--group", "4"], "it lacks group 4"],
  ])("refuses an existing one that others may read: %j", async (flags, words) => {
    const body = [
      pair({ id: 7, name: "Docs", source: "ingestion_api", access: "private", groups: [3] }),
    ];
    const { code, out, err, asked } = await create([() => ({ body })], flags);
    expect({ code, out, asked }).toEqual({ code: 2, out: "", asked: "GET" });
    expect(err).toContain(`pair 7 already has this name, but ${words}`);
  });

  it("refuses to choose between two of the name", async () => {
    const { code, out, asked } = await create([() => listed(1, 2)]);
    expect({ code, out, asked }).toEqual({ code: 9, out: "", asked: "GET" });
  });
});
