import { describe, expect, it } from "vitest";
import { readNames } from "../../../src/commands/completion/names.ts";
import { main } from "../../main.ts";
import { startTestService } from "../../service.ts";
import { type TestContextOptions, cleanEnvironment, createTestContext } from "../../support.ts";
import { type Seen, json, key, startServer } from "../api/support.ts";
import { pair, run } from "../pairs.ts";
import { groupOf, statusOf } from "./pair-status.ts";

describe("status", () => {
  type Answer = unknown[] | object | number;

  /** Answers by the end of the path; a number is an error status. */
  async function ask(
    answers: Record<string, Answer>,
    args: string[],
    { dialect = "onyx", ...options }: TestContextOptions & { dialect?: string } = {},
  ) {
    const { url, seen } = await startServer((each, response) => {
      const path = each.url.split("?")[0]!;
      const end = Object.keys(answers).find((name) => path.endsWith(name));
      const answer = end === undefined ? 404 : answers[end]!;
      const refusal = { error_code: "INSUFFICIENT_PERMISSIONS", detail: "not yours" };
      if (typeof answer === "number") json(response, refusal, answer);
      else json(response, answer);
    });
    const context = createTestContext(options);
    const env = cleanEnvironment(context.cwd, {
      KNOWCTL_BASE_URL: url,
      KNOWCTL_API_KEY: key,
      KNOWCTL_DIALECT: dialect,
      NO_COLOR: "1",
    });
    const code = await main(["connectors", "status", ...args], { ...context, env });
    const paths = seen.map(
      (each) => `${each.method} ${each.url.replace("/api/manage/admin/", "")}`,
    );
    return { code, out: context.stdoutText(), err: context.stderrText(), paths };
  }

  /** A run that ended now. */
  const ran = { last_status: "success", last_success: new Date().toISOString() };
  const listing = "connector/indexing-status";
  const page = (items: object[], total = items.length) => ({ items, total_items: total });
  const rowsOf = (out: string) => JSON.parse(out) as Record<string, unknown>[];

  describe("connectors status, on the sandbox,", () => {
    it("shows state, counts and times of every connector", async () => {
      const service = await startTestService({ dialect: "onyx" });
      const { code, out, err } = await run(service, ["connectors", "status", "--json"]);
      expect({ code, err }).toEqual({ code: 0, err: "" });
      const rows = rowsOf(out);
      expect(rows.map(({ ccPairId, state, errors }) => [ccPairId, state, errors])).toEqual([
        [2, "scheduled", 0],
        [3, "active", 0],
        [4, "indexing", 0],
        [5, "failing", 0],
        [6, "active", 2],
        [7, "scheduled", 0],
        [8, "active", 0],
      ]);
      expect(Object.keys(rows[0]!)).toEqual([
        "ccPairId",
        "name",
        "source",
        "state",
        "accessType",
        "documents",
        "errors",
        "lastSuccessAt",
        "lastAttemptAt",
        "queue",
        "readers",
      ]);
      expect(rows.find(({ ccPairId }) => ccPairId === 5)).toMatchObject({
        lastSuccessAt: null,
        lastAttemptAt: expect.stringMatching(/Z$/),
        readers: expect.stringContaining("groups 7, 12 read these documents"),
      });
      const readers = (id: number) => rows.find(({ ccPairId }) => ccPairId === id)!["readers"];
      expect(readers(6)).toBe("sync: everybody whom the source allows reads these documents");
      expect(readers(2)).toBe("public: everybody who can sign in reads these documents");
    });

    it("counts uploads, and of a named connector what waits", async () => {
      const files = { "docs/a.md": "# A\n\ntext\n", "docs/b.md": "# B\n\ntext\n" };
      const service = await startTestService({ dialect: "onyx", files });
      const upload = ["ingest", `${service.folder}/docs`, "--cc-pair-id", "2"];
      expect((await run(service, upload)).code).toBe(0);
      await service.sandbox.idle();
      const byName = await run(service, ["connectors", "status", "Handbook uploads", "--json"]);
      expect(rowsOf(byName.out)).toMatchObject([
        { ccPairId: 2, documents: 2, queue: 0, errors: 0, lastSuccessAt: null },
      ]);
      const both = await run(service, ["connectors", "status", "2", "7", "2", "-o", "csv"]);
      expect(both.out.split("\n").map((line) => line.split(",")[0])).toEqual([
        "ccPairId",
        "2",
        "7",
        "",
      ]);
    });

    it.each([
      ["its last success is many refreshes old", 20 * 24 * 60, 1800, "stale"],
      ["it is two refreshes old", 2 * 24 * 60, 86_400, "active"],
      ["it is refreshed once", 20 * 24 * 60, null, "active"],
      ["it is some hours old", 5 * 60, 1800, "active"],
    ])(
      "says of an active connector, if %s: %i min, %j s, %s",
      async (_, minutes, refresh, state) => {
        const last = new Date(Date.now() - minutes * 60_000).toISOString();
        const { connector, ...record } = pair({ id: 3, name: "Site" });
        const listed = { ...record, connector: { ...connector, refresh_freq: refresh } };
        const answers = {
          [listing]: groupOf([statusOf(3, { ...ran, last_success: last })]),
          "connector/status": [listed],
          "3/errors": page([]),
          "3/index-attempts": page([]),
        };
        const { code, out, paths } = await ask(answers, ["--json"]);
        expect({ code, state: rowsOf(out)[0]!["state"] }).toEqual({ code: 0, state });
        expect(paths.includes("GET connector/status")).toBe(minutes > 24 * 60);
      },
    );

    it("does not call a paused connector stale, and needs no right to list for the others", async () => {
      const old = { ...ran, last_success: "2026-01-02T00:00:00" };
      const states = [statusOf(3, { ...old, cc_pair_status: "PAUSED" }), statusOf(4, old)];
      const runs = { "/errors": page([]), "/index-attempts": page([]) };
      const paused = await ask({ ...runs, [listing]: groupOf(states.slice(0, 1)) }, ["--json"]);
      expect(rowsOf(paused.out)).toMatchObject([{ state: "paused" }]);
      expect(paused.paths).not.toContain("GET connector/status");
      const refused = await ask({ ...runs, [listing]: groupOf(states), "connector/status": 403 }, [
        "--json",
      ]);
      expect(refused.code).toBe(0);
      expect(rowsOf(refused.out)).toMatchObject([{ state: "paused" }, { state: "active" }]);
      expect(refused.err).toContain("stale connectors are not marked");
    });

    it("remembers the names for completion", async () => {
      const service = await startTestService({ dialect: "onyx" });
      await run(service, ["connectors", "status"]);
      await run(service, ["connectors", "status", "2"]);
      const owner = { profile: "default", baseUrl: service.sandbox.url };
      const names = readNames(service.env, "connectors", owner, Date.now());
      expect(names.map(({ id }) => id)).toEqual([2, 3, 4, 5, 6, 7, 8]);
    });

    it("shows relative times and what has room on a terminal", async () => {
      const service = await startTestService({ dialect: "onyx" });
      const { out, err } = await run(service, ["connectors", "status"], {
        isTTY: true,
        columns: 80,
      });
      expect(out).toMatch(/^ccPairId {2}name +state +documents +errors +lastSuccessAt/);
      expect(out).toMatch(/Public website +active +0 +0 +\d+ (?:minutes|hours?) ago/);
      expect(out).toMatch(/Support channels +failing +0 +0 +—/);
      for (const line of out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
      expect(err).toContain("columns that do not fit: ");
    });

    it("in `standard` shows what the listing has, and says what is missing", async () => {
      const service = await startTestService();
      const { code, out, err } = await run(service, ["connectors", "status", "5"]);
      expect({ code, out }).toEqual({
        code: 0,
        out:
          "5\tSupport channels\tslack\tprivate\tprivate: the owner of its credential " +
          "(bo@example.com) and groups 7, 12 read these documents\n",
      });
      expect(err).toBe(
        "the standard dialect does not report state, documents, errors, times and queue: see the admin page of the service\n",
      );
      const all = await run(service, ["connectors", "status", "--json"]);
      expect(rowsOf(all.out)).toHaveLength(7);
      expect(rowsOf(all.out)[0]).toMatchObject({ ccPairId: 2, state: null, documents: null });
    });

    it.each(["standard", "onyx"] as const)(
      "%s: an unknown name or id is exit 9",
      async (dialect) => {
        const service = await startTestService({ dialect });
        const name = await run(service, ["connectors", "status", "Handbook upload"]);
        expect(name.code).toBe(9);
        expect(name.err).toContain('2  "Handbook uploads"  ingestion_api');
        const id = await run(service, ["connectors", "status", "99"]);
        expect(id.code).toBe(9);
        expect(id.err).toContain("there is no pair 99");
        // An unset variable of a script names no connector, not one without a name.
        expect((await run(service, ["connectors", "status", ""])).code).toBe(9);
      },
    );

    it.each([
      ["--fields", "nope"],
      ["--filter", "nope=1"],
      ["--jq", "["],
      ["--output", "text"],
    ])("refuses %s %s before any request", async (...flags) => {
      const service = await startTestService({ dialect: "onyx" });
      const { code } = await run(service, ["connectors", "status", ...flags]);
      expect([code, service.sandbox.ledger.requestCount]).toEqual([2, 0]);
    });
  });

  describe("connectors status reads", () => {
    it("one listing where no connector has runs and none is private", async () => {
      const { code, paths } = await ask({ [listing]: groupOf([statusOf(1), statusOf(2)]) }, []);
      expect({ code, paths }).toEqual({ code: 0, paths: [`POST ${listing}`] });
    });

    it("errors and the last run of a connector that has runs", async () => {
      const { out, paths } = await ask(
        {
          [listing]: groupOf([statusOf(1, ran), statusOf(2)]),
          "1/errors": page([], 41),
          "1/index-attempts": page([{ time_started: "2026-01-01T00:00:00Z" }]),
        },
        ["--json"],
      );
      expect(rowsOf(out)).toMatchObject([
        { errors: 41, lastAttemptAt: "2026-01-01T00:00:00Z", queue: null },
        { errors: 0, lastAttemptAt: null },
      ]);
      expect(paths).toHaveLength(3);
    });

    it("a connector that no listing has, by its id", async () => {
      const { code, out } = await ask(
        {
          [listing]: [],
          "cc-pair/1": { id: 1, name: "Default", status: "ACTIVE", connector: null },
          "1/get-docs-sync-status": [{ doc_id: "a", last_synced: null, last_modified: null }],
        },
        ["1", "--json"],
      );
      expect(code).toBe(0);
      expect(rowsOf(out)).toMatchObject([
        { name: "Default", source: null, state: "active", queue: 1 },
      ]);
    });

    it("records whose members are null or wrong, and leaves out federated sources", async () => {
      const broken = {
        ...statusOf(2),
        name: null,
        source: 7,
        docs_indexed: "x",
        access_type: null,
      };
      const { code, out } = await ask(
        {
          [listing]: groupOf([statusOf(1), broken, null as never, { id: 1, source: "federated" }]),
        },
        ["--json"],
      );
      expect(code).toBe(0);
      expect(rowsOf(out)).toMatchObject([
        { ccPairId: 1 },
        {
          ccPairId: 2,
          name: null,
          source: null,
          documents: null,
          readers: "cannot determine who reads it",
        },
        { ccPairId: null, state: null },
      ]);
    });

    it("no details of hundreds of connectors, and says so", async () => {
      const many = Array.from({ length: 201 }, (_, id) => statusOf(id + 1, ran));
      const { code, out, err, paths } = await ask({ [listing]: groupOf(many) }, ["--json"]);
      expect([code, paths.length, rowsOf(out).length]).toEqual([0, 1, 201]);
      expect(rowsOf(out)[0]).toMatchObject({ errors: null, documents: 3 });
      expect(err).toContain("errors and lastAttemptAt are not read for more than 200 connectors");
    });
  });

  describe("connectors status and rights:", () => {
    const withRun = groupOf([statusOf(1, ran)]);

    it("a refused listing is exit 4", async () => {
      const { code, out, err } = await ask({ [listing]: 403 }, []);
      expect([code, out]).toEqual([4, ""]);
      expect(err).toContain("lacks the permission");
    });

    it("a refused connector is not allowed, never not found", async () => {
      const { code, err } = await ask({ [listing]: groupOf([]), "cc-pair/9": 403 }, ["9"]);
      expect(code).toBe(4);
      expect(err).not.toContain("no connector");
    });

    it("refused errors leave `—`, and the command fails", async () => {
      const answers = { [listing]: withRun, "1/errors": 403, "1/index-attempts": page([]) };
      const { code, out, err } = await ask(answers, ["--json"]);
      expect(code).toBe(4);
      expect(rowsOf(out)).toMatchObject([{ ccPairId: 1, documents: 3, errors: null }]);
      expect(err).toContain("read the errors of connector 1: GET ");
    });

    it("without the groups nobody is named as the reader of a private connector", async () => {
      const secret = groupOf([statusOf(1, { access_type: "private" })]);
      const refused = await ask({ [listing]: secret, "connector/status": 403 }, ["--json"]);
      expect(refused.code).toBe(4);
      expect(rowsOf(refused.out)).toMatchObject([
        { readers: "private: cannot determine who reads these documents" },
      ]);
      const record = pair({ id: 1, access: "private", groups: [3], email: "ada@example.org" });
      const read = await ask({ [listing]: secret, "connector/status": [record] }, ["--json"]);
      expect(rowsOf(read.out)[0]!["readers"]).toContain("(ada@example.org) and group 3 read");
    });

    it("an older service is read as far as it goes", async () => {
      const records = [pair({ id: 1 }), { ...pair({ id: 2 }), connector: null, credential: null }];
      const { code, out, err } = await ask({ "connector/status": records }, ["--json"]);
      expect(code).toBe(0);
      expect(rowsOf(out)).toMatchObject([
        { ccPairId: 1, state: null },
        { ccPairId: 2, source: null },
      ]);
      expect(err).toContain("this service is too old to report state");
      const noErrors = { [listing]: withRun, "1/index-attempts": page([]) };
      const without = await ask(noErrors, ["--json"]);
      expect([without.code, rowsOf(without.out)[0]!["errors"]]).toEqual([0, null]);
      expect(without.err).toContain("this service does not report everything: read the errors");
    });
  });
});

describe("errors", () => {
  const errorOf = (id: number, more: object = {}) => ({
    id,
    connector_credential_pair_id: 6,
    document_id: `page-${id}`,
    document_link: null,
    entity_id: null,
    failure_message: `reason ${id}`,
    is_resolved: false,
    time_created: "2026-01-01T00:00:00Z",
    ...more,
  });

  /** Answers with this pair and these errors, by the number of the page. */
  async function ask(
    pair: object | number,
    pageOf: (page: number, seen: Seen) => object | number,
    args: string[] = ["6", "--json"],
  ) {
    const { url, seen } = await startServer((each, response) => {
      const page = Number(new URL(each.url, "http://x").searchParams.get("page_num"));
      const answer = each.url.includes("/errors") ? pageOf(page, each) : pair;
      if (typeof answer === "number") json(response, { error_code: "NOT_FOUND" }, answer);
      else json(response, answer);
    });
    const context = createTestContext();
    const env = cleanEnvironment(context.cwd, {
      KNOWCTL_BASE_URL: url,
      KNOWCTL_API_KEY: key,
      KNOWCTL_DIALECT: "onyx",
      NO_COLOR: "1",
    });
    const code = await main(["connectors", "errors", ...args], { ...context, env });
    return { code, out: context.stdoutText(), err: context.stderrText(), seen };
  }

  const wiki = { id: 6, name: "Wiki", connector: { source: "confluence" } };

  describe("connectors errors", () => {
    it("lists the documents that failed, by id or name", async () => {
      const service = await startTestService({ dialect: "onyx" });
      const named = await run(service, ["connectors", "errors", "Engineering wiki", "--json"]);
      expect({ code: named.code, err: named.err }).toEqual({ code: 0, err: "" });
      const rows = JSON.parse(named.out) as Record<string, unknown>[];
      expect(rows).toHaveLength(2);
      expect(rows[0]).toEqual({
        ccPairId: 6,
        id: "https://wiki.example.com/ENG/release-plan",
        link: "https://wiki.example.com/ENG/release-plan",
        reason: "the page has 11 MB of text, more than the limit of 10 MB",
        failedAt: expect.stringMatching(/Z$/),
        resolved: false,
      });
      const all = await run(service, ["connectors", "errors", "6", "--resolved", "--jq", "length"]);
      expect(all.out).toBe("3\n");
      const shown = await run(service, ["connectors", "errors", "6"], { isTTY: true, columns: 80 });
      expect(shown.out).toMatch(/^id +reason +failedAt/);
      expect(shown.out).toContain("minutes ago");
      for (const line of shown.out.split("\n")) expect(line.length).toBeLessThanOrEqual(80);
    });

    it("of uploads says that the service lists none", async () => {
      const service = await startTestService({ dialect: "onyx" });
      const { code, out, err } = await run(service, ["connectors", "errors", "2"]);
      expect({ code, out }).toEqual({ code: 0, out: "" });
      expect(err).toBe(
        "there are no errors\nonly crawls are listed: a failed upload leaves no error in the service\n",
      );
    });

    it("is exit 9 for an unknown connector, and where the dialect has no list", async () => {
      const service = await startTestService({ dialect: "onyx" });
      expect(await run(service, ["connectors", "errors", "99"])).toMatchObject({
        code: 9,
        err: expect.stringContaining("there is no pair 99, or the key may not see it"),
      });
      const name = await run(service, ["connectors", "errors", "Engineering wikki"]);
      expect([name.code, name.err]).toEqual([9, expect.stringContaining('"Engineering wiki"')]);
      const standard = await startTestService();
      expect(await run(standard, ["connectors", "errors", "2"])).toMatchObject({
        code: 9,
        err: expect.stringContaining("the standard dialect lists no errors"),
      });
    });

    it("is exit 4 for a refused connector or list, never not found", async () => {
      for (const { code, err } of [await ask(403, () => 200), await ask(wiki, () => 403)]) {
        expect(code).toBe(4);
        expect(err).not.toContain("no connector");
      }
    });

    it("reads page after page, each once", async () => {
      const pageOf = (page: number) => ({
        items: Array.from({ length: page < 2 ? 100 : 5 }, (_, index) =>
          errorOf(page * 100 + index),
        ),
        total_items: 205,
      });
      const { out, seen } = await ask(wiki, pageOf);
      expect(JSON.parse(out)).toHaveLength(205);
      expect(seen.map((each) => each.url.split("?")[1])).toEqual([
        undefined,
        ...[0, 1, 2].map((page) => `include_resolved=false&page_num=${page}&page_size=100`),
      ]);
    });

    it("fails where the service repeats a page, or lists fewer errors than it counts", async () => {
      const repeated = await ask(wiki, () => ({ items: [errorOf(1)], total_items: 1e9 }));
      expect(repeated.code).toBe(8);
      expect(repeated.err).toContain("the service repeats a page");
      const few = await ask(wiki, (page) => ({
        items: page === 0 ? [errorOf(1)] : [],
        total_items: 7,
      }));
      expect(few.code).toBe(8);
      expect(few.err).toContain("the service lists 1 of 7 errors");
      const none = await ask(wiki, () => ({ items: [], total_items: 1 }));
      expect(none.code).toBe(8);
      expect(none.err).not.toContain("there are no errors");
    });

    it("takes records with null members, and neutralises what they say", async () => {
      const items = [
        errorOf(1, { document_id: null, entity_id: "space-1", failure_message: "" }),
        errorOf(2, { failure_message: "\u001b[2J gone", document_link: 7 }),
        null,
      ];
      const { out } = await ask(wiki, () => ({ items, total_items: 3 }), ["6"]);
      expect(out).toBe(
        "space-1\t\t2026-01-01T00:00:00Z\npage-2\t^[[2J gone\t2026-01-01T00:00:00Z\n\t\t\n",
      );
    });
  });
});
