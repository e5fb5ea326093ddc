import { getEventListeners } from "node:events";
import { rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished, vi } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { serveHere } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { startTestService, testKey, type TestServiceOptions } from "../../service.ts";
import { acceptedIds, runIngest } from "../ingest/support.ts";

const uploads = "/onyx-api/ingestion";
const files = { "docs/a.md": "# A\n\nalpha\n", "docs/b.md": "# B\n\nbeta\n" };
const allowed = ["--allow-ingest", "docs", "--cc-pair-id", "2"];

interface Result {
  isError?: boolean;
  content: { text: string }[];
  structuredContent?: Record<string, unknown>;
}

/** What waits for a signal: its listeners, and the signals that AbortSignal.any() made of it. */
function waitersOf(signal: AbortSignal): number {
  const dependants = Object.getOwnPropertySymbols(signal)
    .filter((each) => String(each) === "Symbol(kDependantSignals)")
    .map((each) => (signal as unknown as Record<symbol, Set<unknown> | undefined>)[each]?.size);
  const made = dependants.reduce<number>((sum, count) => sum + (count ?? 0), 0);
  return getEventListeners(signal, "abort").length + made;
}

/** The server in this process, and a client that writes its messages itself. */
async function open(args: readonly string[], options: TestServiceOptions = {}) {
  const service = await startTestService({ files, dialect: "onyx", ...options });
  const env = { ...service.env, KNOWCTL_TRUST_PROJECT: "1" };
  const served = serveHere(["mcp", ...args], { cwd: service.folder, env });
  const { input: stream, context } = served;
  const answers = new Map<number, Result>();
  let rest = "";
  served.onText((text) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      const { id, result } = JSON.parse(line) as { id?: number; result: Result };
      if (id !== undefined) answers.set(id, result);
    }
  });
  let last = 0;
  const write = (message: object): void =>
    void stream.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  /** Sends a call; returns its number. */
  const send = (name: string, input: object = {}): number => {
    const _meta = { progressToken: ++last };
    write({ id: last, method: "tools/call", params: { name, arguments: input, _meta } });
    return last;
  };
  const answerOf = async (id: number): Promise<Result> => {
    await vi.waitFor(() => expect(answers.has(id)).toBe(true), patienceMs);
    return answers.get(id)!;
  };
  const { ledger } = service.sandbox;
  return {
    service,
    answers,
    send,
    answerOf,
    call: async (name: string, input: object = {}) => await answerOf(send(name, input)),
    cancel: (requestId: number) =>
      write({ method: "notifications/cancelled", params: { requestId, reason: "enough" } }),
    /** Uploads that have arrived, by document. */
    posts: () =>
      ledger.requests.filter(({ method, path }) => method === "POST" && path.includes(uploads))
        .length,
    waiters: () => waitersOf(context.signal),
    out: () => served.seen.out,
  };
}

it("shows no key that the id of a document holds", async () => {
  const id = `docs/${testKey}.md`;
  const { service, call, out } = await open([], { files: { [id]: "# Named\n" } });
  await runIngest(service, ["docs"], { allowSecrets: true, dialect: "onyx" });
  rmSync(join(service.folder, id));
  const structuredContent = { from: "index", id: "docs%2F***.md" };
  expect(await call("read_document", { id })).toMatchObject({ structuredContent });
  expect(out()).not.toContain(testKey);
});

it("sends the uploads of one call at a time, while other calls are answered", async () => {
  const rules: FaultRule[] = [
    { when: { method: "POST", path: `/api${uploads}`, first: 2 }, do: "hang" },
  ];
  const { send, call, answers, answerOf, cancel, posts, service } = await open(allowed, {
    faults: { rules },
  });
  const first = send("ingest");
  await vi.waitFor(() => expect(posts()).toBe(2), patienceMs);
  const others = Array.from({ length: 8 }, () => send("ingest"));
  for (let round = 0; round < 3; round++) await call("plan");
  expect(posts()).toBe(2);
  expect(others.filter((id) => answers.has(id))).toEqual([]);
  cancel(first);
  const all = await Promise.all(others.map(answerOf));
  expect(all.filter(({ isError }) => isError)).toEqual([]);
  expect(acceptedIds(service).toSorted()).toEqual(["docs/a.md", "docs/b.md"]);
  expect(answers.has(first)).toBe(false);
});

it("sends nothing more for a call that is cancelled, and does the same work again when asked", async () => {
  const many = Object.fromEntries(
    Array.from({ length: 40 }, (_, at) => [`docs/p${at}.md`, `# Page ${at}\n`]),
  );
  const rules: FaultRule[] = [{ when: { method: "POST", path: `/api${uploads}` }, do: "hang" }];
  const { send, call, answers, cancel, posts, service, waiters, out } = await open(allowed, {
    files: many,
    faults: { rules },
  });
  const cancelled = send("ingest");
  const waiting = send("ingest");
  await vi.waitFor(() => expect(posts()).toBeGreaterThan(0), patienceMs);
  cancel(waiting);
  cancel(cancelled);
  expect((await call("connectors")).isError).toBe(false);
  const sent = posts();
  expect(sent).toBeLessThan(40);
  for (let round = 0; round < 3; round++) await call("plan");
  expect(posts()).toBe(sent);
  expect([answers.has(cancelled), answers.has(waiting)]).toEqual([false, false]);
  expect(out()).not.toMatch(/unexpected|bug/);
  rules.length = 0;
  expect((await call("ingest")).structuredContent).toMatchObject({ counts: { created: 40 } });
  expect(acceptedIds(service)).toHaveLength(40);
  expect(waiters()).toBe(1);
});

it("says of a cancelled upload that it was interrupted, where it notifies of it", async () => {
  const hangs = { when: { method: "POST", path: `/api${uploads}` }, do: "hang" } as const;
  let told = "";
  const hook = createServer((request, response) => {
    request.on("data", (part) => (told += String(part)));
    request.on("end", () => response.end());
  });
  await new Promise<void>((resolve) => hook.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void hook.close());
  const url = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`;
  const config = JSON.stringify({ notify: [{ url, on: "always" }] });
  const { send, cancel, posts } = await open(allowed, {
    files: { ...files, ".cliconfig.json": config },
    faults: { rules: [hangs] },
  });
  const id = send("ingest");
  await vi.waitFor(() => expect(posts()).toBeGreaterThan(0), patienceMs);
  cancel(id);
  await vi.waitFor(() => expect(told).toContain("}"), patienceMs);
  expect(JSON.parse(told)).toMatchObject({ exit: { code: 130 } });
});

it("refuses the key of a tag that would be another filter", async () => {
  const { call } = await open([]);
  expect((await call("search", { query: "a", tags: { "a=b": "c" } })).isError).toBe(true);
  expect((await call("search", { query: "a", tags: { a: "b=c" } })).isError).toBe(false);
});

it("takes no model call for a question of an unknown session, which is not asked", async () => {
  const { call } = await open(["--allow-tokens", "1"]);
  const question = { question: "alpha?" };
  expect((await call("ask", { ...question, session_id: "none" })).isError).toBe(true);
  expect((await call("ask", question)).isError).toBe(false);
  expect((await call("ask", question)).isError).toBe(true);
});

it("leaves nothing behind after hundreds of calls", async () => {
  const { send, call, answers, answerOf, waiters } = await open([]);
  const work = ["read_document", "plan", "connectors", "check"] as const;
  const inputs = { read_document: { path: "docs/a.md" }, check: { what: "lint" } };
  const workAll = async (): Promise<void> => {
    for (const name of work) {
      const input = name in inputs ? inputs[name as keyof typeof inputs] : {};
      expect((await call(name, input)).isError).toBe(false);
    }
  };
  await workAll();
  // Timers are also those of the waiting in this file.
  const resources = (): number =>
    process.getActiveResourcesInfo().filter((each) => each !== "Timeout").length;
  const before = resources();
  for (let round = 0; round < 3; round++) {
    // Refused: only the server itself works.
    const ids = Array.from({ length: 100 }, (_, at) => send(at % 2 === 0 ? "ingest" : "none"));
    await answerOf(ids.at(-1)!);
    expect(ids.filter((id) => answers.get(id)?.isError !== true)).toEqual([]);
    answers.clear();
    await workAll();
  }
  // That of the server.
  expect(waiters()).toBe(1);
  // Sockets close a moment later.
  await expect.poll(resources, { timeout: patienceMs }).toBeLessThanOrEqual(before);
});
