import { describe, expect, it } from "vitest";
import { createChanges } from "../../../src/commands/connectors/status/watch.ts";
import type { StatusRow } from "../../../src/commands/connectors/status/read.ts";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext } from "../../support.ts";
import { json, key, startServer } from "../api/support.ts";
import { groupOf, statusOf } from "./pair-status.ts";

const one = statusOf(1, { name: "One" });
const two = statusOf(2, { name: "Two\u001b[2J", source: "slack" });
const newer = statusOf(1, { name: "One", docs_indexed: 4 });

type Look = object[] | number;

interface WatchOptions {
  isTTY?: boolean;
  columns?: number;
  env?: Record<string, string>;
}

/** Runs `connectors status --watch` through these looks, a number being an error status; then Ctrl-C. */
async function watch(looks: Look[], flags: string[] = [], options: WatchOptions = {}, every = "5") {
  const { env: more, ...rest } = options;
  const context = createTestContext(rest);
  let count = 0;
  const { url, seen } = await startServer((_seen, response) => {
    const look = looks[count++]!;
    if (typeof look === "number") json(response, { detail: "down\u001b[31m" }, look);
    else json(response, groupOf(look));
  });
  const env = cleanEnvironment(context.cwd, {
    KNOWCTL_BASE_URL: url,
    KNOWCTL_API_KEY: key,
    KNOWCTL_DIALECT: "onyx",
    NO_COLOR: "1",
    ...more,
  });
  const sleep: typeof context.sleep = async (ms, signal) => {
    if (count >= looks.length) context.abort(new SignalReceived("SIGINT", "interrupted"));
    await context.sleep(ms, signal);
  };
  const code = await main(["connectors", "status", "--watch", every, ...flags], {
    ...context,
    sleep,
    env,
  });
  const { sleeps } = context;
  return { code, out: context.stdoutText(), err: context.stderrText(), sleeps, seen };
}

const row = (event: string, name: string, documents = 3, source = "web"): string =>
  `${event}\t${name === "One" ? 1 : 2}\t${name}\tactive\t${documents}\t0\t2026-01-02T00:00:00Z\t\t${source}\t` +
  "public: everybody who can sign in reads these documents\n";

describe("connectors status --watch, in a pipe,", () => {
  it("lists once, then appends what changes, until Ctrl-C with 130", async () => {
    const { code, out, err, sleeps } = await watch(
      [[one], [one], [newer, two], [two]],
      [],
      {},
      "2.5",
    );
    expect(out).toBe(
      row("listed", "One") +
        row("changed", "One", 4) +
        row("added", "Two^[[2J", undefined, "slack") +
        row("removed", "One", 4),
    );
    expect({ code, err }).toEqual({ code: 130, err: "interrupted by SIGINT\n" });
    expect(new Set(sleeps)).toEqual(new Set([2500]));
  });

  it("writes whole records as ndjson, with event and time", async () => {
    const { out } = await watch([[one], [newer]], ["-o", "ndjson"]);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { event: "listed", event_time: expect.stringMatching(/Z$/), ccPairId: 1 },
      { event: "changed", documents: 4 },
    ]);
  });

  it("writes the header of csv once, and picked fields", async () => {
    const flags = ["-o", "csv", "--fields", "event,name", "--filter", "source=web"];
    const { out } = await watch([[one, two], [newer, two], [two]], flags);
    expect(out).toBe("event,name\nlisted,One\nchanged,One\nremoved,One\n");
  });

  it("gives each look's changes to --jq", async () => {
    const { out } = await watch([[one], [one, two]], ["--jq", "map(.event)"]);
    expect(out).toBe('["listed"]\n["added"]\n');
  });

  it("goes on after looks that fail, and says so once", async () => {
    const { code, out, err } = await watch([[one], 403, 403, [one, two]]);
    expect(code).toBe(130);
    expect(out).toBe(row("listed", "One") + row("added", "Two^[[2J", undefined, "slack"));
    expect(err.match(/warning: cannot list now: .*403: down/g)).toHaveLength(1);
    expect(err).not.toContain("\u001b");
    expect(err).toContain("listing again\n");
  });

  it("asks again about the runs only of a connector that changed", async () => {
    const ended = statusOf(1, { last_status: "success", last_success: null });
    const started = statusOf(1, { last_status: "in_progress", in_progress: true });
    const listings = [ended, ended, started, started];
    const context = createTestContext();
    const { url, seen } = await startServer((each, response) => {
      if (each.method === "POST") json(response, groupOf([listings.shift()!]));
      else json(response, { items: [], total_items: 0 });
    });
    const env = cleanEnvironment(context.cwd, {
      KNOWCTL_BASE_URL: url,
      KNOWCTL_API_KEY: key,
      KNOWCTL_DIALECT: "onyx",
    });
    const asked: number[] = [];
    const sleep = async (): Promise<void> => {
      asked.push(seen.filter(({ method }) => method === "GET").length);
      if (listings.length > 0) return;
      context.abort(new SignalReceived("SIGINT", "interrupted"));
      context.signal.throwIfAborted();
    };
    const args = ["connectors", "status", "--watch", "1"];
    expect(await main(args, { ...context, sleep, env })).toBe(130);
    // Two requests a poll: not in the second, and in each one while a run works.
    expect(asked).toEqual([2, 2, 4, 6]);
  });

  it("ends when already the first look fails", async () => {
    const { code, err, sleeps } = await watch([403]);
    expect({ code, sleeps }).toEqual({ code: 4, sleeps: [] });
    expect(err).toContain("error: read the state of the connectors");
  });

  it("ends when the first look is refused a part", async () => {
    const ended = statusOf(1, { last_status: "success", last_success: null });
    const { url } = await startServer((each, response) => {
      if (each.method === "POST") json(response, groupOf([ended]));
      else json(response, { detail: "no" }, 403);
    });
    const context = createTestContext();
    const env = cleanEnvironment(context.cwd, {
      KNOWCTL_BASE_URL: url,
      KNOWCTL_API_KEY: key,
      KNOWCTL_DIALECT: "onyx",
    });
    const args = ["connectors", "status", "--watch", "1"];
    expect(await main(args, { ...context, env })).toBe(4);
    expect(context.sleeps).toEqual([]);
  });

  it.each([["--json"], ["-o", "table"]])("refuses %s %s", async (...flags) => {
    const { code, err, seen } = await watch([[one]], flags);
    expect({ code, seen }).toEqual({ code: 2, seen: [] });
    expect(err).toContain("--output ndjson, tsv, csv or yaml");
  });

  it.each([
    ["--filter", "nope=1"],
    ["--fields", "nope"],
  ])("refuses %s %s", async (...flags) => {
    const { code, seen } = await watch([[one]], flags);
    expect({ code, seen }).toEqual({ code: 2, seen: [] });
  });

  it.each(["0", "x", "-1"])("refuses --watch %s", async (every) => {
    expect((await watch([[one]], [], {}, every)).code).toBe(2);
  });

  it("says once what a poll could not read, and goes on", async () => {
    const old = await watch([404, 404]);
    expect(old.code).toBe(9);
    const context = createTestContext();
    const { url } = await startServer((_seen, response) => json(response, []));
    const env = cleanEnvironment(context.cwd, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: key });
    let polls = 0;
    const sleep = async (): Promise<void> => {
      if (++polls < 3) return;
      context.abort(new SignalReceived("SIGINT", "interrupted"));
      context.signal.throwIfAborted();
    };
    const args = ["connectors", "status", "--watch", "1"];
    expect(await main(args, { ...context, sleep, env })).toBe(130);
    expect(context.stderrText().match(/standard dialect does not report/g)).toHaveLength(1);
  });
});

describe("connectors status --watch, on a terminal,", () => {
  it("draws the table again in its place, without clearing the screen", async () => {
    const { out, code } = await watch([[one], [newer, two]], [], { isTTY: true, columns: 60 });
    expect(code).toBe(130);
    const [before, first, second] = out.split("\u001b[H\u001b[?7l");
    expect(before).toBe("\n".repeat(23));
    expect(first).toMatch(/1 connector {2}every 5 s, Ctrl-C ends\u001b\[K\n/);
    expect(second).toContain("2 connectors");
    // Nothing of a name acts, and nothing is ever cleared before it is drawn anew.
    expect(second).toContain("Two^[[2J");
    expect(out).not.toContain("\u001b[2J");
    for (const frame of [first, second]) expect(frame).toMatch(/\u001b\[J\u001b\[\?7h$/);
  });

  it("counts what has no room in its height", async () => {
    const many = Array.from({ length: 40 }, (_, index) => statusOf(index + 1));
    const { out } = await watch([many], [], { isTTY: true, columns: 100 });
    const [, frame = ""] = out.split("\u001b[H\u001b[?7l");
    expect(frame.split("\n")).toHaveLength(24);
    expect(frame).toContain("and 20 more (a taller terminal or --filter shows them)");
  });

  it("tells above the rows of a look that failed", async () => {
    const { out, err } = await watch([[one], 403, 403], [], { isTTY: true, columns: 60 });
    const frames = out.split("\u001b[H\u001b[?7l");
    expect(frames[2]).toMatch(/cannot list now: read the state of the conn/);
    expect(frames[3]).toMatch(/cannot list now \(2 times\): /);
    expect(frames[3]).toContain("One");
    expect(err).toBe("interrupted by SIGINT\n");
  });

  it.each([{ CI: "1" }, { TERM: "dumb" }])(
    "appends where nothing can be drawn: %j",
    async (env) => {
      const { out } = await watch([[one]], [], { isTTY: true, env });
      expect(out).toMatch(/^listed\t1\tOne/);
      expect(out).not.toContain("\u001b[H");
    },
  );
});

it("changes are told in the order of the listing, what is gone at the end", () => {
  const changes = createChanges();
  const rowOf = (ccPairId: number) => ({ ccPairId }) as StatusRow;
  const [first, second] = [rowOf(1), rowOf(2)];
  const told = (...records: StatusRow[]): string[] =>
    changes(records).map(({ event, record }) => `${event} ${record.ccPairId}`);
  expect(told(first, second)).toEqual(["listed 1", "listed 2"]);
  expect(told(second, first)).toEqual([]);
  expect(told()).toEqual(["removed 2", "removed 1"]);
  expect(told(second)).toEqual(["added 2"]);
});
