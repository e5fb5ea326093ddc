import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { startTestService } from "../../../service.ts";
import { cleanEnvironment, createTestContext } from "../../../support.ts";
import { json, key, startServer, type Seen } from "../../api/support.ts";
import { run } from "../../pairs.ts";

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
      err: expect.stringContaining("the standard interface lists no errors"),
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
      items: Array.from({ length: page < 2 ? 100 : 5 }, (_, index) => errorOf(page * 100 + index)),
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
