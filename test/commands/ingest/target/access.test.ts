import { readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../../../main.ts";
import { type TestServiceOptions, startTestService, writeFiles } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { pair } from "../../pairs.ts";
import type { Client } from "../../../../src/api/client.ts";
import { dialects } from "../../../../src/api/dialects.ts";
import { pairCheckOf } from "../../../../src/commands/ingest/target/access.ts";
import type { DocumentSource } from "../../../../src/commands/ingest/options/settings.ts";
import type { State } from "../../../../src/sync/state/state.ts";
import { createOutput } from "../../../../src/output/terminal/output.ts";
import { ApiError, type CliError } from "../../../../src/errors.ts";
import { runIn } from "../../state/support.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { runIngest } from "../support.ts";

describe("access", () => {
  const source = "ingestion_api";
  const pairs = [
    pair({ id: 2, name: "Handbook uploads", source }),
    pair({
      id: 5,
      name: "Board",
      source,
      access: "private",
      groups: [7, 12],
      email: "a@b.example",
    }),
    pair({ id: 6, name: "Wiki", source, access: "sync" }),
    pair({ id: 8, name: null, source, access: "private" }),
  ];

  /** Three documents; a rule sends one of them to pair 5. */
  const rules = JSON.stringify({ ingest: { rules: [{ match: "docs/b.md", ccPairId: 5 }] } });
  const files = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };

  async function start(options: TestServiceOptions = {}, env: Record<string, string> = {}) {
    const service = await startTestService({ pairs, files, ...options });
    const { sandbox, folder } = service;
    return {
      ...service,
      sent: () => [...sandbox.ledger.documents.keys()].toSorted(),
      async run(line: string, stdin?: string) {
        const context = createTestContext({
          cwd: folder,
          env: { ...service.env, NO_COLOR: "1", ...env },
          ...(stdin === undefined ? {} : { stdin }),
        });
        const code = await main(line.split(" "), context);
        return { code, out: context.stdoutText(), err: context.stderrText() };
      },
    };
  }

  const readers: [number, string][] = [
    [2, 'to "Handbook uploads" (pair 2, public: everybody who can sign in reads these documents)'],
    [
      5,
      'to "Board" (pair 5, private: the owner of its credential (a@b.example) and groups 7, 12 read these documents)',
    ],
    [
      8,
      "to a connector without a name (pair 8, private: only the owner of its credential reads these documents)",
    ],
  ];

  describe("a document that another pair holds", () => {
    it("is sent with a warning: the readers of both pairs read it", async () => {
      const { run } = await start();
      expect((await run("ingest docs --cc-pair-id 2")).code).toBe(0);
      const moved = await run("ingest docs/a.md --cc-pair-id 8");
      expect(moved.code).toBe(0);
      expect(moved.err).toContain(
        "warning: by the state, pair 2 also holds 1 document (first: docs/a.md): its readers can read it",
      );
      expect((await run("ingest docs/a.md --cc-pair-id 8")).err).not.toContain("also holds");
    });

    it("is not sent where an access type is required that the other pair lacks", async () => {
      const { run, sandbox } = await start();
      await run("ingest docs --cc-pair-id 2");
      const count = sandbox.ledger.requestCount;
      const refused = await run("ingest docs --cc-pair-id 8 --require-access private");
      expect(refused.code).toBe(10);
      expect(refused.err).toContain(
        "docs/a.md: pair 2 also holds docs/a.md: its readers could read it (--require-access)",
      );
      expect(refused.err).toContain("2 documents failed");
      expect(sandbox.ledger.requestCount).toBeGreaterThan(count);
      expect(sandbox.ledger.documents.get("docs/a.md")).toHaveLength(1);
    });

    it("is not called fine where an access type is required and nothing has to be sent", async () => {
      const { run, sandbox } = await start();
      await run("ingest docs --cc-pair-id 8");
      await run("ingest docs/a.md --cc-pair-id 2");
      const count = sandbox.ledger.documents.get("docs/a.md")?.length;
      const line = "--cc-pair-id 8 --require-access private";
      const planned = await run(`ingest docs ${line} --dry-run`);
      expect(planned.err).toContain(
        "warning: by the state, pair 2 also holds 1 document of this plan (first: docs/a.md): the upload refuses it unless that pair is private",
      );
      const refused = await run(`ingest docs ${line}`);
      expect(refused.err).toContain("2 unchanged");
      expect(refused.err).toContain(
        "error: by the state, pair 2 also holds 1 unchanged document (first: docs/a.md): its readers can read it (--require-access)",
      );
      expect(refused.code).toBe(10);
      expect(sandbox.ledger.documents.get("docs/a.md")).toHaveLength(count ?? 0);
      expect((await run(`ingest docs/b.md ${line}`)).code).toBe(0);
      expect((await run("ingest docs --cc-pair-id 8")).code).toBe(0);
    });

    it("is an error in the report where the other pair cannot be looked up", async () => {
      const listing = { path: "/api/manage/admin/connector/status", after: 3 };
      const { run, folder } = await start({
        faults: { rules: [{ when: listing, do: { status: 501 } }] },
      });
      await run("ingest docs --cc-pair-id 8");
      await run("ingest docs/a.md --cc-pair-id 2");
      const line = "ingest docs --cc-pair-id 8 --require-access private --report r.json";
      const { code, err } = await run(line);
      expect(err).toContain("501");
      expect(code).toBe(8);
      const { status } = JSON.parse(readFileSync(join(folder, "r.json"), "utf8")) as object & {
        status: string;
      };
      expect(status).toBe("error");
    });

    it("is sent after the steps that the refusal names", async () => {
      const { run, sandbox } = await start();
      await run("ingest docs/a.md --cc-pair-id 2");
      const line = "ingest docs/a.md --cc-pair-id 8 --require-access private";
      const refused = await run(line);
      const forget = /`knowctl (state forget) ID (--cc-pair-id 2)`/.exec(refused.err);
      expect(refused.err).toContain(
        "delete the document in the service, run `knowctl state forget",
      );
      sandbox.ledger.documents.delete("docs/a.md");
      expect((await run(`${forget?.[1]} docs/a.md ${forget?.[2]}`)).code).toBe(0);
      expect((await run(line)).code).toBe(0);
      expect(sandbox.ledger.documents.get("docs/a.md")).toHaveLength(1);
    });

    it("is sent where the other pair has the required type, and also when a rule moves it", async () => {
      const { run, folder, sandbox } = await start({}, { KNOWCTL_TRUST_PROJECT: "1" });
      await run("ingest docs --cc-pair-id 5");
      const both = await run("ingest docs --cc-pair-id 8 --require-access private");
      expect(both.code).toBe(0);
      expect(both.err).toContain(
        "pair 5 also holds 2 documents (first: docs/a.md): its readers can read them",
      );
      const config = { ...JSON.parse(rules).ingest, ccPairId: 8 };
      writeFiles(folder, {
        ".cliconfig.json": JSON.stringify({ ingest: config }),
        "docs/b.md": "# B\n\nNew.\n",
      });
      const ruled = await run("ingest docs");
      expect(ruled.err).toContain("pair 8 also holds 1 document (first: docs/b.md)");
      expect(sandbox.ledger.documents.get("docs/b.md")).toHaveLength(3);
    });

    it("also on stdin", async () => {
      const { run } = await start();
      const line = (text: string): string =>
        JSON.stringify({ id: "x", sections: [{ text }], semantic_identifier: "x", metadata: {} });
      expect((await run("ingest - --cc-pair-id 2", line("a"))).code).toBe(0);
      const refused = await run("ingest - --cc-pair-id 8 --require-access private", line("b"));
      expect(refused.code).toBe(10);
      expect(refused.err).toContain("stdin: pair 2 also holds x");
    });
  });

  describe("who can read the target", () => {
    it.each(readers)(
      "is the first line of a dry run and an upload to pair %i",
      async (id, line) => {
        const { run, sent } = await start();
        const first = (text: string) =>
          text.split("\n")[0]?.replace(/ at [\d.:]+, profile default$/, "");
        const dry = await run(`ingest docs --cc-pair-id ${id} --dry-run`);
        expect([dry.code, first(dry.err), sent()]).toEqual([0, line, []]);
        const { code, err } = await run(`ingest docs --cc-pair-id ${id}`);
        expect([code, first(err)]).toEqual([0, line]);
        expect((await run(`ingest docs --cc-pair-id ${id}`)).err).not.toContain("to ");
      },
    );

    it("is said of every pair that rules name", async () => {
      const { run } = await start({ files: { ...files, ".cliconfig.json": rules } });
      const { err } = await run("ingest docs --config .cliconfig.json --dry-run");
      expect(err).not.toContain("(pair 2");
      expect(err).toContain('to "Board" (pair 5');
    });

    it.each<[string, Record<string, string>]>([
      ["no key", { KNOWCTL_API_KEY: "" }],
      ["no address", { KNOWCTL_BASE_URL: "" }],
    ])("is not asked for by a dry run with %s", async (_, env) => {
      const { run } = await start({}, env);
      const { code, err } = await run("ingest docs --cc-pair-id 2 --dry-run");
      expect(code).toBe(0);
      expect(err).not.toMatch(/pair|cannot determine/);
      const required = await run("ingest docs --cc-pair-id 2 --dry-run --require-access private");
      expect(required).toMatchObject({ code: 0 });
      expect(required.err).toContain("the upload needs a pair of access type private");
    });

    it.each(["403", "500"])("cannot be told by a dry run whose listing is %s", async (status) => {
      const rule = { when: { path: "/api/manage" }, do: { status: Number(status) } };
      const { run } = await start({ faults: { rules: [rule] } as never });
      const { code, err } = await run(
        "ingest docs --cc-pair-id 2 --dry-run --require-access private",
      );
      expect(code).toBe(0);
      expect(err).toContain("cannot determine who can read the documents");
    });
  });

  describe("a pair of access type sync", () => {
    const stdin = `${JSON.stringify({ id: "x", semantic_identifier: "X", sections: [{ text: "x" }] })}\n`;

    it("is refused without --allow-sync", async () => {
      const { run, sent } = await start();
      const lines: [line: string, stdin?: string][] = [
        ["ingest docs --cc-pair-id 6"],
        ["ingest docs --connector Wiki"],
        ["ingest docs --cc-pair-id 6 --dry-run"],
        ["ingest docs --cc-pair-id 6 --require-access sync"],
        ["ingest - --cc-pair-id 6", stdin],
        ["ingest - --cc-pair-id 6 --dry-run", stdin],
      ];
      for (const [line, input] of lines) {
        const { code, err } = await run(line, input);
        expect(err).toContain("nobody finds documents that are uploaded to it; nothing was sent");
        expect({ code, sent: sent() }, line).toEqual({ code: 2, sent: [] });
      }
      for (const [line, input] of lines) {
        const allowed = await run(`${line} --allow-sync --force`, input);
        expect(allowed, line).toMatchObject({ code: 0 });
        expect(allowed.err).toContain("sync: nobody finds documents that are uploaded here");
      }
    });
  });

  describe("--require-access", () => {
    it("sends only to a pair of a type that it names", async () => {
      const { run, sent } = await start();
      for (const line of [
        "--cc-pair-id 2 --require-access private",
        "--cc-pair-id 2 --require-access private --dry-run",
        "--cc-pair-id 5 --require-access public --require-access sync",
        "--cc-pair-id 5 --require-access secret",
      ]) {
        expect((await run(`ingest docs ${line}`)).code, line).toBe(2);
      }
      expect(sent()).toEqual([]);
      const allowed = "ingest docs --force --cc-pair-id 5 --require-access private";
      for (const line of [allowed, `${allowed} --require-access public`]) {
        expect((await run(line)).code, line).toBe(0);
      }
      expect(sent()).toEqual(["docs/a.md", "docs/b.md"]);
    });

    it("covers the pairs that rules name, and those of lines on stdin", async () => {
      const config = JSON.stringify({
        ingest: { ccPairId: 2, rules: [{ match: "docs/b.md", ccPairId: 5 }] },
      });
      const { run, sent } = await start({ files: { ...files, ".cliconfig.json": config } });
      const ran = await run("ingest docs --config .cliconfig.json --require-access public");
      expect(ran.err).toContain("pair 5 (Board) is private, and only public is allowed");
      expect(ran.code).toBe(2);
      const document = { id: "x", semantic_identifier: "X", sections: [{ text: "x" }] };
      const line = `${JSON.stringify({ document, cc_pair_id: 5 })}\n`;
      const given = await run("ingest - --config .cliconfig.json --require-access public", line);
      expect({ code: given.code, sent: sent() }).toEqual({ code: 2, sent: [] });
    });

    it("holds where nothing is to be sent, for retry and for removal notices", async () => {
      const bad = { "docs/c.md": "---\ntitle: [unclosed\n---\ntext\n" };
      const { run, folder, sent } = await start({ files: { ...files, ...bad } });
      expect(await run("ingest docs --cc-pair-id 2")).toMatchObject({ code: 10 });
      writeFiles(folder, { "docs/c.md": "# C\n" });
      const retry = "retry --cc-pair-id 2 --require-access";
      expect(await run(`${retry} private`)).toMatchObject({ code: 2 });
      expect(sent()).toEqual(["docs/a.md", "docs/b.md"]);
      expect(await run(`${retry} public`)).toMatchObject({ code: 0 });
      const again = "ingest docs --cc-pair-id 2 --require-access private";
      expect(await run(again)).toMatchObject({ code: 2 });
      rmSync(join(folder, "docs/b.md"));
      const orphans = "prune docs --cc-pair-id 2 --require-access";
      const tombstone = "--tombstone --max-delete 1 --yes";
      expect(await run(`${orphans} private ${tombstone}`)).toMatchObject({
        code: 2,
        err: expect.stringContaining("nothing was removed"),
      });
      expect(await run(`${orphans} private`)).toMatchObject({
        code: 2,
        err: expect.stringContaining("--require-access needs --tombstone"),
      });
      expect(await run(`${orphans} public ${tombstone}`)).toMatchObject({ code: 0 });
    });

    const file = { ".cliconfig.json": JSON.stringify({ ingest: { requireAccess: ["private"] } }) };

    it("counts from a trusted file, and a flag wins over it", async () => {
      const { run } = await start({ files: { ...files, ...file } }, { KNOWCTL_TRUST_PROJECT: "1" });
      expect(await run("ingest docs --cc-pair-id 2")).toMatchObject({ code: 2 });
      expect(await run("ingest docs --cc-pair-id 2 --require-access public")).toMatchObject({
        code: 0,
      });
    });

    it.each([
      ["ingest.requireAccess", file],
      ["ingest.accessKeys", { ".cliconfig.json": '{"ingest": {"accessKeys": []}}' }],
      [
        "profiles.default.ingest.requireAccess",
        {
          ".cliconfig.json":
            '{"profiles": {"default": {"ingest": {"requireAccess": ["private"]}}}}',
        },
      ],
    ])("in an untrusted file is refused: %s", async (key, untrusted) => {
      const { run, sent } = await start({ files: { ...files, ...untrusted } });
      const { code, err } = await run("ingest docs --cc-pair-id 2");
      expect(err).toContain("is not trusted");
      expect(err).toContain(key);
      expect({ code, sent: sent() }).toEqual({ code: 3, sent: [] });
      expect(await run("ingest docs --cc-pair-id 5 --dry-run")).toMatchObject({ code: 0 });
    });
  });
});

describe("pair check", () => {
  /** A client that counts its calls, and its check with what it told. */
  function open(answer: () => Promise<unknown>, recorded: readonly string[] = []) {
    let calls = 0;
    const call = async (): Promise<unknown> => {
      calls++;
      return await answer();
    };
    const told: string[] = [];
    const tell = (text: unknown): Promise<void> => Promise.resolve(void told.push(String(text)));
    const client = { dialect: dialects.standard, call } as unknown as Client;
    const source = { config: { profile: "p", ingest: {} } } as unknown as DocumentSource;
    const output = createOutput(createTestContext());
    const targets = { baseUrl: "http://h", pair: { ccPairId: 2, fromFlag: true } };
    const get = (after: string) => ({ target: recorded.find((each) => each > after) });
    const database = { prepare: () => ({ get, all: () => [] }) };
    const state = { database } as unknown as State;
    const session = { output, source, targets, state, pairNames: new Map() };
    const check = pairCheckOf(client, session, {});
    const look = (): Promise<void> => check([2], { note: tell, warn: tell }, "nothing was sent");
    return { check, look, told, calls: () => calls };
  }

  it("takes the listing that was asked for before, and asks for no other", async () => {
    const record = { cc_pair_id: 2, name: "A", connector: { source: "ingestion_api" } };
    const { check, look, calls } = open(() => Promise.resolve([record]));
    check.begin();
    await look();
    await look();
    expect(calls()).toBe(1);
  });

  it("tells what went wrong with it only when the pairs are looked at", async () => {
    const denied = new ApiError("auth", "denied", {
      method: "GET",
      url: "http://a/b",
      status: 403,
    });
    const listing = open(() => Promise.reject(denied));
    listing.check.begin();
    await new Promise((resolve) => setImmediate(resolve));
    expect(listing.told).toEqual([]);
    await listing.look();
    expect(listing.told).toEqual([
      "to pair 2 at h, profile p",
      "the key may not list connectors, so pair 2 is not checked beforehand; cannot determine who can read the documents",
    ]);
    const refused = new ApiError("auth", "refused", {
      method: "GET",
      url: "http://a/b",
      status: 401,
    });
    const other = open(() => Promise.reject(refused));
    await other.look();
    expect(other.told[1]).toMatch(/^the service refuses the key for the list of connectors, so /);
    const broken = open(() => Promise.reject(new Error("broken")));
    broken.check.begin();
    await expect(broken.look()).rejects.toThrow("broken");
  });

  it("says how to go on where a pair that is not there was deleted", async () => {
    const hintsOf = async (recorded: readonly string[]): Promise<unknown> => {
      const { look } = open(() => Promise.resolve([]), recorded);
      return ((await look().catch((error: unknown) => error)) as CliError).hints;
    };
    const list = "list all pairs with `knowctl connectors list`";
    expect(await hintsOf(["http://h#2"])).toEqual([
      list,
      expect.stringContaining("knowctl ingest PATH --cc-pair-id N"),
      expect.stringContaining("knowctl state forget --all --cc-pair-id 2"),
    ]);
    // Nothing was ever sent to it: the number is wrong.
    expect(await hintsOf(["http://h#5"])).toEqual([list]);
  });
});

describe("pruned", () => {
  const files = { "docs/a.md": "# A\n" };
  const line = { stdin: '{"id":"a","title":"A","sections":[{"text":"x"}]}' };

  it.each([
    ["ingest docs --cc-pair-id 3", {}],
    ["ingest docs --cc-pair-id 3 --dry-run", {}],
    ["ingest - --cc-pair-id 3", line],
  ])(
    "a pair whose connector prunes is refused before anything is sent: %s",
    async (text, given) => {
      const service = await startTestService({ files });
      const ran = await runIn(service, text, given);
      expect(ran.stderr).toContain(
        "error: pair 3 (Public website) belongs to a web connector that prunes: it deletes documents that it did not crawl; nothing was sent",
      );
      expect(ran.stderr).toContain("--allow-pruned");
      expect(ran.code).toBe(2);
      expect(service.sandbox.ledger.documents.size).toBe(0);
      expect((await runIn(service, `${text} --allow-pruned`, given)).code).toBe(0);
    },
  );

  it("a crawled pair without pruning is taken", async () => {
    const service = await startTestService({ files });
    expect((await runIn(service, "ingest docs --cc-pair-id 4")).code).toBe(0);
  });
});

describe("other dialect", () => {
  const files = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n\nText.\n" };

  describe.each([
    ["onyx", "standard"],
    ["standard", "onyx"],
  ] as const)("a profile of %s and a service of %s", (profile, dialect) => {
    it("names the missing endpoint and the dialect that answers", async () => {
      const service = await startTestService({ files, dialect });
      service.env["KNOWCTL_DIALECT"] = profile;
      const { error, stderr } = await runIngest(service, ["docs"]);
      expect(error).toMatchObject({ exit: "not-found" });
      expect(error?.message).toMatch(/the service has no .*\/ingestion \(40[45]\)/);
      expect(error?.message).toContain(`it speaks the ${dialect} dialect`);
      expect(error?.hints.join()).toContain(`--dialect ${dialect}`);
      expect(stderr).not.toMatch(/nothing to do|run the same command again/);
      expect(service.sandbox.ledger.documents.size).toBe(0);
    });
  });

  it("an address that refuses the other ingestion is not taken for a dialect", async () => {
    const server = createServer((request, response) => {
      response.writeHead(request.url?.includes("onyx-api") ? 404 : 403, {
        "content-type": "application/json",
      });
      response.end('{"detail":"no"}');
      request.resume();
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const service = await startTestService({ files });
    service.env["KNOWCTL_BASE_URL"] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    service.env["KNOWCTL_DIALECT"] = "onyx";
    const { error } = await runIngest(service, ["docs"], { ccPairId: 2 });
    expect(error?.message).toMatch(/its dialect is unknown/);
  });

  it("an unknown pair stays what the service says", async () => {
    const service = await startTestService({ files });
    const { error } = await runIngest(service, ["docs"], { ccPairId: 4711 });
    expect(error?.message).not.toContain("dialect");
  });
});
