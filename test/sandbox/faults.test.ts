import { describe, expect, it } from "vitest";
import { documentOf, start } from "./start.ts";
import { CliError } from "../../src/errors.ts";
import { createFaults, type FaultRule, parseFaults } from "../../src/sandbox/http/faults.ts";

const clock = { now: Date.now, sleep: () => Promise.resolve(), random: () => 0.5 };
const post = (path: string, documentId?: string) => ({
  method: "POST",
  path,
  documentId: () => documentId,
});
/** `status` of each plan, in order. */
const statuses = (
  rules: FaultRule[],
  subjects: ReturnType<typeof post>[],
): (number | undefined)[] => {
  const next = createFaults({ rules }, clock);
  return subjects.map((subject) => next(subject).status);
};
const five = Array.from({ length: 5 }, () => post("/api/x"));

describe("which request a rule hits", () => {
  const fail = { status: 500 };
  it.each([
    ["every one", [{ do: fail }], [500, 500, 500, 500, 500]],
    [
      "the second",
      [{ when: { nth: 2 }, do: fail }],
      [undefined, 500, undefined, undefined, undefined],
    ],
    [
      "two of them",
      [{ when: { nth: [1, 4] }, do: fail }],
      [500, undefined, undefined, 500, undefined],
    ],
    [
      "the first two",
      [{ when: { first: 2 }, do: fail }],
      [500, 500, undefined, undefined, undefined],
    ],
    [
      "all after three",
      [{ when: { after: 3 }, do: fail }],
      [undefined, undefined, undefined, 500, 500],
    ],
    ["of another method", [{ when: { method: "GET" }, do: fail }], Array(5).fill(undefined)],
    ["of another path", [{ when: { path: "/api/y" }, do: fail }], Array(5).fill(undefined)],
  ] as [string, FaultRule[], (number | undefined)[]][])("%s", (_, rules, expected) => {
    expect(statuses(rules, five)).toEqual(expected);
  });

  it("counts per document", () => {
    const rules = [{ when: { documentId: "a", nth: 1 }, do: fail }];
    const subjects = ["b", "a", "a", "b"].map((id) => post("/api/x", id));
    expect(statuses(rules, subjects)).toEqual([undefined, 500, undefined, undefined]);
  });

  it("leaves the page alone", () => {
    expect(statuses([{ do: fail }], [post("/"), post("/search")])).toEqual([undefined, undefined]);
  });
});

describe("what a fault does", () => {
  const ingestion = "/api/svc-api/ingestion";
  async function startWith(...rules: FaultRule[]) {
    return await start({ faults: { rules } });
  }

  it("answers instead, storing nothing", async () => {
    const headers = { "retry-after": "7" };
    const sandbox = await startWith({
      when: { nth: 1 },
      do: { status: 429, headers, body: { error: "slow" } },
    });
    const answer = await sandbox.ingest(documentOf());
    expect([answer.status, answer.headers.get("retry-after"), answer.json()]).toEqual([
      429,
      "7",
      { error: "slow" },
    ]);
    expect((await sandbox.ingest(documentOf())).json()).toMatchObject({ already_existed: false });
    expect(sandbox.ledger.attempts.get("a.md")).toBe(2);
    expect(sandbox.ledger.documents.get("a.md")).toHaveLength(1);
    const [refused, accepted] = sandbox.ledger.requests;
    expect(refused).toMatchObject({ status: 429 });
    expect(refused?.stored).toBeUndefined();
    expect(accepted).toMatchObject({ status: 200, stored: { document: { id: "a.md" } } });
  });

  it.each([
    ["reset-before-store", 0],
    ["reset-after-store", 1],
  ] as const)("%s", async (action, stored) => {
    const sandbox = await startWith({ when: { documentId: "a.md", nth: 1 }, do: action });
    await expect(sandbox.ingest(documentOf())).rejects.toThrow("fetch failed");
    expect(sandbox.ledger.documents.get("a.md")?.length ?? 0).toBe(stored);
    expect((await sandbox.ingest(documentOf())).json()).toMatchObject({
      already_existed: stored === 1,
    });
  });

  it("sends a page, a redirect, an empty body", async () => {
    const sandbox = await startWith(
      { when: { path: "/api/tool" }, do: "html" },
      { when: { path: "/api/manage" }, do: { redirect: "http://127.0.0.1:1/app" } },
      { when: { path: ingestion }, do: { body: "" } },
    );
    const page = await sandbox.get("/api/tool");
    expect([page.status, page.headers.get("content-type")]).toEqual([
      200,
      "text/html; charset=utf-8",
    ]);
    const redirect = await sandbox.get("/api/manage/admin/connector/status");
    expect([redirect.status, redirect.headers.get("location")]).toEqual([
      302,
      "http://127.0.0.1:1/app",
    ]);
    expect([(await sandbox.ingest(documentOf())).text, sandbox.ledger.documents.size]).toEqual([
      "",
      0,
    ]);
  });

  it.each([0, 1, 40, 1_000])("cuts a stream after %i bytes", async (cutAfterBytes) => {
    const sandbox = await startWith({ do: { cutAfterBytes } });
    const response = await fetch(`${sandbox.url}/api/chat/send-chat-message`, {
      method: "POST",
      headers: { authorization: "Bearer a-key-of-the-test", "content-type": "application/json" },
      body: JSON.stringify({ message: "hello" }),
    }).catch(() => undefined);
    let received = 0;
    const read = async (): Promise<void> => {
      for await (const chunk of response!.body!) received += (chunk as Uint8Array).length;
    };
    // With nothing sent, the reset may come before the head is seen.
    if (response) await expect(read()).rejects.toThrow();
    expect(received).toBeLessThanOrEqual(cutAfterBytes);
    if (cutAfterBytes > 0) expect(received).toBe(cutAfterBytes);
  });

  it("drips without changing a byte", async () => {
    const waits: number[] = [];
    const recording = { ...clock, sleep: (ms: number) => (waits.push(ms), Promise.resolve()) };
    const plain = await (await start()).get("/api/tool");
    const rules = [{ do: { delayMs: 70, dripMs: 3, chunkBytes: 100 } }];
    const dripped = await (await start({ clock: recording, faults: { rules } })).get("/api/tool");
    expect(dripped.text).toBe(plain.text);
    expect(waits).toEqual([70, ...Array(Math.ceil(plain.text.length / 100)).fill(3)]);
  });

  it("plays any stream", async () => {
    const body = 'data: {"error":"gone"}';
    const headers = { "content-type": "text/event-stream" };
    const sandbox = await startWith({ do: { body, headers } });
    expect(await sandbox.ask("x")).toEqual([{ error: "gone" }]);
  });

  it("hangs until the client gives up", async () => {
    const sandbox = await startWith({ do: "hang" });
    const abort = new AbortController();
    const headers = { authorization: "Bearer a-key-of-the-test" };
    const answered = fetch(`${sandbox.url}/api/tool`, { signal: abort.signal, headers });
    await expect.poll(() => sandbox.ledger.requestCount).toBe(1);
    abort.abort();
    await expect(answered).rejects.toThrow(/aborted/i);
  });
});

describe("--fault", () => {
  it("parses", () => {
    expect(
      parseFaults("latency=200ms, 429=0.1,500=.05,cut=0.02,reset=1,html=0,hang=0.5,seed=7"),
    ).toEqual({
      seed: 7,
      rates: {
        latencyMs: 200,
        statuses: { 429: 0.1, 500: 0.05 },
        cut: 0.02,
        reset: 1,
        html: 0,
        hang: 0.5,
      },
    });
    expect(parseFaults("latency=2s").rates).toEqual({ latencyMs: 2000 });
  });

  it("parses faults of the index and of endpoints", () => {
    const text = "swallow=0.1,swallow-row=0.2,old-version=1,private=0,hidden=.5,unlisted=1";
    const rates = {
      swallow: 0.1,
      swallowRow: 0.2,
      oldVersion: 1,
      private: 0,
      hidden: 0.5,
      unlisted: 1,
    };
    expect(parseFaults(text).index).toEqual(rates);
    expect(parseFaults("index-delay=5s").index).toEqual({ delayMs: 5_000 });
    expect(parseFaults("index-delay=3").index).toEqual({ delayRequests: 3 });
    expect(parseFaults("deny=/admin/search,deny=/search,missing=/query/valid-tags")).toMatchObject({
      denied: ["/admin/search", "/search"],
      missing: ["/query/valid-tags"],
    });
  });

  it.each([
    "deny=/chat",
    "missing=/chat/send-chat-message/x",
    "deny=/admin/search?x",
    "missing=/..",
  ])("refuses %s: no request has this path", async (text) => {
    await expect(start({ faults: parseFaults(text) })).rejects.toThrow(/no endpoint \/api\//);
  });

  it.each(["standard", "onyx"] as const)(
    "accepts the endpoints of both dialects (%s)",
    async (dialect) => {
      const text =
        "deny=/admin/search,missing=/chat/send-chat-message,deny=/manage/admin/cc-pair/2";
      await start({ dialect, faults: parseFaults(text) });
    },
  );

  it("draws faults of the index for uploads alone, as often as asked for", () => {
    const next = createFaults(parseFaults("swallow=0.1,private=0.2,index-delay=3,seed=1"), clock);
    expect(next(post("/api/x")).index).toBeUndefined();
    const drawn = Array.from({ length: 2_000 }, () => next(post("/api/x", "a")).index!);
    const share = (test: (each: (typeof drawn)[number]) => boolean): number =>
      drawn.filter(test).length / drawn.length;
    expect(share(({ keeps }) => keeps === "nothing")).toBeCloseTo(0.1, 1);
    expect(share((each) => each.private === true)).toBeCloseTo(0.2, 1);
    expect(share(({ delayRequests }) => delayRequests === 3)).toBe(1);
  });

  it.each([
    "swallow=2",
    "hang=0.5,hang=0.2",
    "429=0.1,429=0.1",
    "latency=1s,latency=2s",
    "swallow=0.1s",
    "deny=admin",
    "deny=",
    "missing=0.1",
    "",
    "429",
    "429=",
    "429=2",
    "429=-1",
    "429=10%",
    "200=0.1",
    "600=1",
    "cut=0.1s",
    "slow=1",
    "__proto__=1",
    "constructor=1",
  ])("refuses %j", (text) => {
    expect(() => parseFaults(text)).toThrow(CliError);
  });

  it("comes as often as asked for, and the same again with a seed", () => {
    const draw = (): string[] => {
      const next = createFaults(parseFaults("429=0.1,500=0.2,reset=0.1,seed=42"), clock);
      return Array.from({ length: 5_000 }, () => {
        const plan = next(post("/api/x"));
        return String(plan.reset ?? plan.status ?? "fine");
      });
    };
    const drawn = draw();
    const share = (name: string): number => drawn.filter((each) => each === name).length / 5_000;
    expect(share("429")).toBeCloseTo(0.1, 1);
    expect(share("500")).toBeCloseTo(0.2, 1);
    expect(share("before") + share("after")).toBeCloseTo(0.1, 1);
    expect(share("fine")).toBeCloseTo(0.6, 1);
    expect(draw()).toEqual(drawn);
  });
});
