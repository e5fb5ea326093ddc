import { describe, expect, it } from "vitest";
import { type Line, packet } from "../../../src/sandbox/chat/packets.ts";
import { createRuns } from "../../../src/sandbox/chat/runs.ts";

const never = new AbortController().signal;
const delta = (content: string): Line => packet(0, "message_delta", { content });
const contentOf = (line: Line): unknown => {
  const { obj } = line as Extract<Line, { obj: { type: string } }>;
  return obj["content"] ?? obj.type;
};

async function* lines(count: number, gate?: Promise<void>): AsyncGenerator<Line> {
  for (let number = 0; number < count; number += 1) {
    if (number === count - 1) await gate;
    yield delta(String(number));
  }
}

async function all(source: AsyncIterable<Line>): Promise<unknown[]> {
  const found = [];
  for await (const line of source) found.push(contentOf(line));
  return found;
}

function gate(): { opened: Promise<void>; open: () => void } {
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

describe("a run", () => {
  it("goes on without a reader, and ends as a failure for each that reads on", async () => {
    const runs = createRuns();
    const broken = runs.start(async function* () {
      yield delta("a");
      throw new Error("broken");
    });
    await runs.close();
    await expect(all(broken.read(never))).rejects.toThrow("broken");
    expect(await all(runs.start(() => lines(3)).read(never))).toEqual(["0", "1", "2"]);
  });

  it("ends for a reader that leaves, and for nobody else", async () => {
    const { opened, open } = gate();
    const run = createRuns().start(() => lines(3, opened));
    const leave = new AbortController();
    const left = all(run.read(leave.signal));
    const stayed = all(run.read(never));
    leave.abort();
    await left;
    open();
    expect(await stayed).toEqual(["0", "1", "2"]);
  });

  it("drops what does not fit when nobody reads; who comes too late reads nothing", async () => {
    const runs = createRuns({ limit: 2_000 });
    const run = runs.start(() => lines(1_000));
    await runs.close();
    expect(await all(run.read(never))).toEqual([]);
    expect(await all(run.read(never, 999))).toEqual(["999"]);
  });

  it("waits for a slow reader instead of dropping or gathering", async () => {
    let made = 0;
    const run = createRuns({ limit: 2_000 }).start(async function* () {
      for (; made < 1_000; made += 1) yield delta(String(made));
    });
    const reader = run.read(never);
    expect(contentOf((await reader.next()).value as Line)).toBe("0");
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBeLessThan(50);
    expect(await all(reader)).toHaveLength(999);
    expect(made).toBe(1_000);
  });

  it("goes on when the slow reader leaves", async () => {
    const runs = createRuns({ limit: 2_000 });
    const run = runs.start(() => lines(1_000));
    const reader = run.read(never);
    await reader.next();
    const closed = runs.close();
    await reader.return(undefined);
    await closed;
    expect(await all(run.read(never, 999))).toEqual(["999"]);
  });

  it("lets others in between when its lines come without a wait", async () => {
    const runs = createRuns();
    let made = 0;
    runs.start(async function* () {
      for (; made < 10_000; made += 1) yield delta("x");
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(made).toBeLessThan(1_000);
    await runs.close();
    expect(made).toBe(10_000);
  });

  it("is one of at most a hundred", async () => {
    const { opened, open } = gate();
    const runs = createRuns();
    for (let count = 0; count < 99; count += 1) runs.start(() => lines(1, opened));
    expect(runs.isFull()).toBe(false);
    runs.start(() => lines(1, opened));
    expect(runs.isFull()).toBe(true);
    open();
    await runs.close();
    expect(runs.isFull()).toBe(false);
  });

  it("is found for its session until it ends, or a later one is there", async () => {
    const runs = createRuns();
    const [first, second] = [runs.start(() => lines(1)), runs.start(() => lines(1))];
    runs.enter("session", first);
    expect(runs.find("session")).toBe(first);
    runs.enter("session", second);
    runs.leave("session", first);
    expect(runs.find("session")).toBe(second);
    runs.leave("session", second);
    expect(runs.find("session")).toBeUndefined();
    await runs.close();
  });

  it("sends heartbeats in silence", async () => {
    const { opened, open } = gate();
    const run = createRuns({ heartbeatMs: 1 }).start(() => lines(2, opened));
    const reader = run.read(never);
    const seen = [];
    for await (const line of reader) {
      seen.push(contentOf(line));
      if (seen.filter((each) => each === "chat_heartbeat").length === 2) open();
    }
    expect(seen.filter((each) => each !== "chat_heartbeat")).toEqual(["0", "1"]);
    expect(seen.indexOf("chat_heartbeat")).toBe(1);
  });
});
