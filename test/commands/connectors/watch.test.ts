import { describe, expect, it } from "vitest";
import { createChanges } from "../../../src/commands/connectors/changes.ts";
import { SignalReceived } from "../../../src/context.ts";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext } from "../../support.ts";
import { json, key, startServer } from "../api/support.ts";
import { pair } from "../pairs.ts";

const one = pair({ id: 1, name: "One" });
const two = pair({ id: 2, name: "Two\u001b[2J", source: "slack" });
const newer = pair({ id: 1, name: "One", updated: "2026-05-05T00:00:00Z" });

type Look = object[] | number;

interface WatchOptions {
  isTTY?: boolean;
  columns?: number;
  env?: Record<string, string>;
}

/** Runs `connectors list --watch` through these looks, a number being an error status; then Ctrl-C. */
async function watch(looks: Look[], flags: string[] = [], options: WatchOptions = {}) {
  const { env: more, ...rest } = options;
  const context = createTestContext(rest);
  let count = 0;
  const { url, seen } = await startServer((_seen, response) => {
    const look = looks[count++]!;
    if (typeof look === "number") json(response, { detail: "down\u001b[31m" }, look);
    else json(response, look);
  });
  const env = cleanEnvironment(context.cwd, {
    KNOWCTL_BASE_URL: url,
    KNOWCTL_API_KEY: key,
    NO_COLOR: "1",
    ...more,
  });
  const sleep: typeof context.sleep = async (ms, signal) => {
    if (count >= looks.length) context.abort(new SignalReceived("SIGINT", "interrupted"));
    await context.sleep(ms, signal);
  };
  const code = await main(["connectors", "list", "--watch", ...flags], { ...context, sleep, env });
  const { sleeps } = context;
  return { code, out: context.stdoutText(), err: context.stderrText(), sleeps, seen };
}

const row = (event: string, name: string, time = "2026-01-02T00:00:00Z", source = "web"): string =>
  `${event}\t${name === "One" ? 1 : 2}\t${name}\t${source}\tpublic\tpoll\t${time}\t\n`;

describe("connectors list --watch, in a pipe,", () => {
  it("lists once, then appends what changes, until Ctrl-C with 130", async () => {
    const { code, out, err, sleeps } = await watch([[one], [one], [newer, two], [two]], ["2.5"]);
    expect(out).toBe(
      row("listed", "One") +
        row("changed", "One", "2026-05-05T00:00:00Z") +
        row("added", "Two^[[2J", undefined, "slack") +
        row("removed", "One", "2026-05-05T00:00:00Z"),
    );
    expect({ code, err }).toEqual({ code: 130, err: "interrupted by SIGINT\n" });
    expect(new Set(sleeps)).toEqual(new Set([2500]));
  });

  it("looks every 5 seconds where nothing is said", async () => {
    expect((await watch([[one]])).sleeps).toEqual([5000]);
  });

  it("writes whole records as ndjson, masked, with event and time", async () => {
    const { out } = await watch([[one], [newer]], ["-o", "ndjson"]);
    const lines = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { event: "listed", event_time: expect.stringMatching(/Z$/), cc_pair_id: 1 },
      { event: "changed", connector: { time_updated: "2026-05-05T00:00:00Z" } },
    ]);
    expect(out).not.toContain("CANARY");
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

  it("ends when already the first look fails", async () => {
    const { code, err, sleeps } = await watch([403]);
    expect({ code, sleeps }).toEqual({ code: 4, sleeps: [] });
    expect(err).toContain("error: list connectors");
  });

  it.each([["--json"], ["-o", "table"]])("refuses %s %s", async (...flags) => {
    const { code, err, seen } = await watch([[one]], flags);
    expect({ code, seen }).toEqual({ code: 2, seen: [] });
    expect(err).toContain("--output ndjson, tsv, csv or yaml");
  });

  it.each([["0"], ["x"], ["--filter", "nope=1"], ["--fields", "nope"]])(
    "refuses %s %s",
    async (...flags) => {
      expect((await watch([[one]], flags)).code).toBe(2);
    },
  );
});

describe("connectors list --watch, on a terminal,", () => {
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
    const many = Array.from({ length: 40 }, (_, index) => pair({ id: index + 1 }));
    const { out } = await watch([many], [], { isTTY: true, columns: 100 });
    const [, frame = ""] = out.split("\u001b[H\u001b[?7l");
    expect(frame.split("\n")).toHaveLength(24);
    expect(frame).toContain("and 20 more (a taller terminal or --filter shows them)");
  });

  it("tells above the rows of a look that failed", async () => {
    const { out, err } = await watch([[one], 403, 403], [], { isTTY: true, columns: 60 });
    const frames = out.split("\u001b[H\u001b[?7l");
    expect(frames[2]).toMatch(/cannot list now: list connectors/);
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
  const told = (...records: (typeof one)[]): string[] =>
    changes(records).map(({ event, record }) => `${event} ${record.cc_pair_id}`);
  expect(told(one, two)).toEqual(["listed 1", "listed 2"]);
  expect(told(two, one)).toEqual([]);
  expect(told()).toEqual(["removed 2", "removed 1"]);
  expect(told(two)).toEqual(["added 2"]);
});
