import { type Listed, trustedStamp } from "../../src/documents/files/source-file.ts";
import type { PlanRequest } from "../../src/sync/plan/merge.ts";
import type { DocumentEvent, RunRequest } from "../../src/sync/run/run-request.ts";
import { describe, expect, it } from "vitest";
import type { IngestionRequest } from "../../src/api/schemas.ts";
import type { PlanInspector, Looked, Prepared } from "../../src/documents/inspect/inspection.ts";
import { ApiError, type CliError, type ExitName } from "../../src/errors.ts";
import { buildPlan, type Plan } from "../../src/sync/plan/plan.ts";
import { readAgain, readPending } from "../../src/sync/run/pending.ts";
import { runDocuments } from "../../src/sync/run/run.ts";
import type { State } from "../../src/sync/state/state.ts";
import { holdTime } from "../held-time.ts";
import { openTestState } from "./open-state.ts";

const longAgoNs = 1_600_000_000_123_456_789n;

interface FakeFile {
  text: string;
  id?: string;
  stamp?: string;
  pair?: number;
  error?: string;
}

interface Fake {
  files: Map<string, FakeFile>;
  /** When files are read; the present without it. */
  nowMs?: number;
  /** Files whose content was looked at for a plan. */
  reads: string[];
  sent: IngestionRequest[];
}

function fakeFiles(texts: Record<string, string>): Fake {
  const entries = Object.entries(texts).map(([path, text]) => [path, { text }] as const);
  return { files: new Map(entries), reads: [], sent: [] };
}

function* listed(fake: Fake): Generator<Listed> {
  for (const path of [...fake.files.keys()].toSorted()) {
    yield { kind: "file", path, absolutePath: `/project/${path}` };
  }
}

function stampOf({ text, stamp }: FakeFile): string {
  return stamp ?? `${text.length}:${longAgoNs}:${longAgoNs}:1`;
}

function prepare(fake: Fake, path: string): Prepared {
  const file = fake.files.get(path);
  if (!file || file.error !== undefined) {
    return { kind: "failed", path, part: 0, reason: `${path}:1:1: ${file?.error ?? "gone"}` };
  }
  const stamp = trustedStamp(stampOf(file), fake.nowMs ?? Date.now());
  const base = { path, part: 0, stamp, content: file.text };
  if (file.text === "") return { ...base, kind: "skipped", reason: "empty" };
  const id = file.id ?? path;
  const document = { id, semantic_identifier: path, sections: [{ text: file.text }] };
  const body = Buffer.from(JSON.stringify({ document, cc_pair_id: file.pair ?? 7 }));
  const fingerprint = { whole: `${id} ${file.text}`, fields: `sections:${file.text}` };
  const pair = { ccPairId: file.pair ?? 7, ownPair: file.pair };
  const rest = { updatedAt: undefined, warnings: [], images: 0 };
  return { ...base, ...rest, ...pair, kind: "document", id, body, fingerprint };
}

/** Looks at the fake's files as the inspector does at real ones. */
function inspect(fake: Fake): PlanInspector {
  const look = (path: string, known: string | undefined): Looked => {
    const file = fake.files.get(path);
    if (file && stampOf(file) === known) return { kind: "same" };
    fake.reads.push(path);
    return prepare(fake, path);
  };
  return {
    look: (items) => Promise.resolve(items.map(({ path, stamp }) => look(path, stamp))),
    identify: (items) => Promise.resolve(items.map(() => undefined)),
    readRows: () => {
      throw new Error("no rows in these tests");
    },
  };
}

const targets = { baseUrl: "https://host", pair: { ccPairId: 7, fromFlag: false } };
const everything = [{ from: "", to: "\u{10ffff}" }];

async function plan(fake: Fake, state: State, change: Partial<PlanRequest> = {}): Promise<Plan> {
  return await buildPlan({
    root: "/project",
    list: () => listed(fake),
    ranges: everything,
    isInScope: () => true,
    isSelected: undefined,
    state,
    targets,
    options: { number: undefined, differenceFrom: () => "" },
    mappingKey: () => "m1",
    idPrefix: "",
    inspector: inspect(fake),
    checksum: false,
    force: false,
    isDry: false,
    shard: undefined,
    isCurrent: () => true,
    signal: new AbortController().signal,
    elapsed: () => performance.now(),
    ...change,
  });
}

type UploadBehaviour = (request: IngestionRequest, number: number) => Promise<void> | void;

function runRequest(
  fake: Fake,
  state: State,
  { table }: Plan,
  behave: UploadBehaviour,
): RunRequest {
  const source = { inspector: inspect(fake), table };
  return {
    pending: readPending(source),
    again: (numbers) => readAgain(numbers, source),
    state,
    targets,
    options: undefined,
    idPrefix: "",
    sharedTargets: [],
    mappingKey: () => "m1",
    renamedFrom: (content) => table.renamedFrom(content),
    force: false,
    wasUnanswered: () => false,
    async upload(body) {
      const request = JSON.parse(Buffer.from(body).toString()) as IngestionRequest;
      fake.sent.push(request);
      await behave(request, fake.sent.length);
      return { already_existed: false };
    },
    adapt: ({ body, updatedAt }) => ({ body, updatedAt }),
    documentMs: 600_000,
    isGivenUp: () => false,
    concurrency: 3,
    maxFailures: undefined,
    signal: new AbortController().signal,
    now: Date.now,
  };
}

async function sync(
  fake: Fake,
  state: State,
  behave: UploadBehaviour = () => {},
  change: Partial<RunRequest> = {},
): Promise<{ events: DocumentEvent[]; error: unknown }> {
  fake.reads = [];
  fake.sent = [];
  const made = await plan(fake, state);
  const request = { ...runRequest(fake, state, made, behave), ...change };
  const events: DocumentEvent[] = [];
  try {
    for await (const batch of runDocuments(request)) events.push(...batch);
    return { events, error: undefined };
  } catch (error) {
    return { events, error };
  }
}

const apiError = (exit: ExitName, status: number | undefined, retryable = false): ApiError =>
  new ApiError(exit, `refused with ${status}`, {
    method: "POST",
    url: "http://host/x",
    status,
    retryable,
  });

const ids = (fake: Fake): string[] => fake.sent.map(({ document }) => document.id).toSorted();

describe("incremental upload", () => {
  it("sends everything once, then nothing, and does not even read", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A", "b.md": "B", "empty.md": "" });
    await sync(fake, state);
    expect(ids(fake)).toEqual(["a.md", "b.md"]);
    await sync(fake, state);
    expect({ sent: ids(fake), reads: fake.reads }).toEqual({ sent: [], reads: [] });
    state.close();
  });

  it("says once, and in time, that many documents are to be sent", async () => {
    const state = await openTestState();
    const fake = fakeFiles(
      Object.fromEntries(Array.from({ length: 6000 }, (_, index) => [`${index}.md`, "A"])),
    );
    const readAt: number[] = [];
    const onManyPending = (): void => void readAt.push(fake.reads.length);
    await plan(fake, state, { onManyPending });
    expect(readAt).toHaveLength(1);
    expect(readAt[0]).toBeLessThan(6000);
    for (const path of [...fake.files.keys()].slice(999)) fake.files.delete(path);
    await plan(fake, state, { onManyPending });
    expect(readAt).toHaveLength(1);
    state.close();
  });

  it("sends only what changed, also when size and mtime are the same", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A", "b.md": "B" });
    await sync(fake, state);
    // As an editor that keeps the mtime: only the ctime differs.
    fake.files.set("b.md", { text: "C", stamp: `1:${longAgoNs}:${longAgoNs + 1n}:1` });
    await sync(fake, state);
    // By the plan and by the run.
    expect({ sent: ids(fake), reads: fake.reads }).toEqual({
      sent: ["b.md"],
      reads: ["b.md", "b.md"],
    });
    state.close();
  });

  it("reads but does not send a file that was only touched", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    await sync(fake, state);
    fake.files.set("a.md", { text: "A", stamp: `1:${longAgoNs + 5n}:${longAgoNs + 5n}:1` });
    await sync(fake, state);
    expect({ sent: ids(fake), reads: fake.reads }).toEqual({ sent: [], reads: ["a.md"] });
    await sync(fake, state);
    expect(fake.reads).toEqual([]);
    state.close();
  });

  it("does not trust a file that changed in the tick in which it was seen", async () => {
    const state = await openTestState();
    const nowMs = Date.now();
    const freshNs = BigInt(nowMs) * 1_000_000n + 1n;
    const fake = { ...fakeFiles({}), nowMs };
    fake.files.set("a.md", { text: "A", stamp: `1:${freshNs}:${freshNs}:1` });
    await sync(fake, state);
    fake.files.set("a.md", { text: "B", stamp: `1:${freshNs}:${freshNs}:1` });
    await sync(fake, state);
    expect(ids(fake)).toEqual(["a.md"]);
    state.close();
  });

  it("sends again when the mapping changed what is sent, and only then", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    await sync(fake, state);
    fake.reads = [];
    const same = await plan(fake, state, { mappingKey: () => "m2" });
    expect({ reads: fake.reads, unchanged: same.table.count("unchanged") }).toEqual({
      reads: ["a.md"],
      unchanged: 1,
    });
    state.close();
  });

  it("skips nothing for another target", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    await sync(fake, state);
    const other = { ...targets, pair: { ccPairId: 8, fromFlag: false } };
    expect((await plan(fake, state, { targets: other })).table.count("new")).toBe(1);
    state.close();
  });

  it("gives a document back to its file after it came from stdin", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    await sync(fake, state);
    const key = "https://host#7";
    const sent = state.accepted(key, "a.md");
    if (!sent) throw new Error("not recorded");
    state.save({ accepted: [{ ...sent, path: undefined }] });
    await sync(fake, state);
    expect(ids(fake)).toEqual([]);
    expect(state.accepted(key, "a.md")?.path).toBe("a.md");
    state.close();
  });

  it("sends everything with force, and leaves the state alone in a dry run", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    await plan(fake, state, { isDry: true });
    expect(state.file("a.md")).toBeUndefined();
    await sync(fake, state);
    const forced = await plan(fake, state, { force: true, isDry: true });
    expect(forced.table.count("changed")).toBe(1);
    state.close();
  });
});

describe("before anything is sent", () => {
  it("refuses two files with one id and names both", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A", "z.md": "Z" });
    for (const path of ["b.md", "y.md"]) fake.files.set(path, { text: path, id: "same" });
    const error = (await plan(fake, state).catch((thrown: unknown) => thrown)) as CliError;
    expect(error.exit).toBe("usage");
    expect(error.details).toEqual(["same: b.md and y.md"]);
    // One of them sent already: still refused.
    fake.files.delete("y.md");
    await sync(fake, state);
    fake.files.set("y.md", { text: "y.md", id: "same" });
    await expect(plan(fake, state)).rejects.toThrow("the same document id");
    // Unless the other is gone: then it was renamed.
    fake.files.delete("b.md");
    expect((await plan(fake, state)).table.count("changed")).toBe(1);
    state.close();
  });

  it("refuses two ids that the service stores as one", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "my doc.md": "A", "my_doc.md": "B" });
    const storedId = (id: string): string => id.replaceAll(" ", "_");
    expect((await plan(fake, state)).table.count("new")).toBe(2);
    const error = (await plan(fake, state, { storedId }).catch(
      (thrown: unknown) => thrown,
    )) as CliError;
    expect(error.exit).toBe("usage");
    expect(error.details).toEqual([
      'my doc.md and my_doc.md: the service stores "my doc.md" and "my_doc.md" as one',
    ]);
    state.close();
  });

  it("finds two files with one id among any number that differ in space and underscore", async () => {
    const state = await openTestState();
    const names = Array.from({ length: 256 }, (_, bits) =>
      Array.from({ length: 8 }, (_each, bit) => ((bits >> bit) & 1 ? "_x" : " x")).join(""),
    );
    const fake = fakeFiles(Object.fromEntries(names.map((name) => [`p${name}.md`, name])));
    await sync(fake, state);
    const named = { details: ["same: y.md and z.md"] };
    fake.files.set("y.md", { text: "Y", id: "same" });
    fake.files.set("z.md", { text: "Z", id: "same" });
    await expect(plan(fake, state, { force: true })).rejects.toMatchObject(named);
    fake.files.delete("z.md");
    await sync(fake, state);
    fake.files.set("z.md", { text: "Z", id: "same" });
    await expect(plan(fake, state)).rejects.toMatchObject(named);
    const mappingKey = (): string => "m2";
    await expect(plan(fake, state, { mappingKey })).rejects.toMatchObject(named);
    state.close();
  });

  it("counts a broken file as failed and goes on", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    fake.files.set("broken.md", { text: "x", error: "bad front matter" });
    const { events } = await sync(fake, state);
    expect(events).toMatchObject([{ status: "created", id: "a.md" }]);
    const failures = [...(await plan(fake, state)).table.entries(["failed"])];
    expect(failures).toMatchObject([
      { path: "broken.md", detail: "broken.md:1:1: bad front matter" },
    ]);
    state.close();
  });
});

describe("failures of the service", () => {
  const texts = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`${n + 10}.md`, `${n}`]));
  const cases: [string, ApiError, "goes on" | "stops"][] = [
    ["a document's own 422", apiError("server-error", 422), "goes on"],
    ["500 after all retries", apiError("server-error", 500, true), "goes on"],
    ["a connection fault after all retries", apiError("unreachable", undefined, true), "goes on"],
    ["401", apiError("auth", 401), "stops"],
    ["403", apiError("auth", 403), "stops"],
    ["404", apiError("not-found", 404), "stops"],
    ["a redirect", apiError("server-error", 302), "stops"],
    ["a page instead of JSON", apiError("server-error", 200), "stops"],
  ];
  it.each(cases)("%s", async (_name, failure, outcome) => {
    const state = await openTestState();
    const fake = fakeFiles(texts);
    const { events, error } = await sync(fake, state, (request) => {
      if (request.document.id === "15.md") throw failure;
    });
    const failed = events.filter(({ status }) => status === "failed");
    if (outcome === "goes on") {
      expect(error).toBeUndefined();
      expect(failed).toMatchObject([{ id: "15.md", reason: failure.message }]);
      // What may succeed later is attempted once more at the end.
      expect(ids(fake)).toHaveLength(failure.retryable ? 21 : 20);
    } else {
      expect(error).toBe(failure);
      // Only what was in flight beside it may still go out.
      expect(fake.sent.length).toBeLessThanOrEqual(6 + 3);
    }
    // Whatever was accepted is recorded, the failed one is not.
    const accepted = events.filter(({ status }) => status === "created").map(({ id }) => id);
    const recorded = [...state.listAccepted("https://host#7")].map(({ id }) => id);
    expect(recorded).toEqual(accepted.toSorted());
    expect(recorded).not.toContain("15.md");
    state.close();
  });

  it.each([
    [true, "refused with undefined; the service may have stored it nevertheless"],
    [false, "refused with undefined"],
  ])("says of a document without an answer that it may be stored: %s", async (sent, reason) => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    const behave = (): void => {
      throw apiError("unreachable", undefined, true);
    };
    const { events } = await sync(fake, state, behave, { wasUnanswered: () => sent });
    expect(events[0]).toMatchObject({ status: "failed", reason });
    state.close();
  });

  it("stops when the service is given up, and blames no document for it", async () => {
    const state = await openTestState();
    const fake = fakeFiles(texts);
    const failure = apiError("unreachable", undefined, true);
    let isGivenUp = false;
    const behave = (_request: IngestionRequest, number: number): void => {
      if (number <= 5) return;
      isGivenUp = true;
      throw failure;
    };
    const { events, error } = await sync(fake, state, behave, { isGivenUp: () => isGivenUp });
    expect(error).toBe(failure);
    expect(events.map(({ status }) => status)).toEqual(Array(5).fill("created"));
    expect(fake.sent.length).toBeLessThanOrEqual(5 + 3);
    state.close();
  });

  it.each([
    [599_900, []],
    [240_000, [240_000]],
  ])("gives a document one time limit: after %i ms, %j is spent", async (ms, spent) => {
    const pass = holdTime();
    const state = await openTestState();
    const seen: number[] = [];
    const fake = fakeFiles({ "a.md": "one" });
    const { events } = await sync(fake, state, () => {}, {
      async upload(_body, _document, spentMs) {
        if (spentMs > 0) seen.push(spentMs);
        pass(ms);
        throw apiError("timeout", undefined, true);
      },
    });
    expect(seen).toEqual(spent);
    expect(events).toMatchObject([{ status: "failed", retryable: true }]);
    state.close();
  });

  it.each([
    [4, "stopped after 4 failed documents"],
    [1, "stopped after 1 failed document"],
  ])("stops after --max-failures %i", async (maxFailures, message) => {
    const state = await openTestState();
    const fake = fakeFiles(texts);
    const behave = (): never => {
      throw apiError("server-error", 422);
    };
    const { error } = await sync(fake, state, behave, { maxFailures, concurrency: 1 });
    expect(error).toMatchObject({ exit: "partial", message });
    expect(fake.sent).toHaveLength(maxFailures);
    state.close();
  });

  it("takes no new document after the signal, and records what was in flight", async () => {
    const state = await openTestState();
    const fake = fakeFiles(texts);
    const abort = new AbortController();
    const { events } = await sync(
      fake,
      state,
      async (_request, number) => {
        if (number === 3) abort.abort();
        await new Promise((resolve) => setImmediate(resolve));
      },
      { signal: abort.signal },
    );
    expect(fake.sent).toHaveLength(3);
    expect(events).toHaveLength(3);
    expect([...state.listAccepted("https://host#7")]).toHaveLength(3);
    state.close();
  });

  it("takes no new document when nobody listens any more, and records what was in flight", async () => {
    const state = await openTestState();
    const names = Array.from({ length: 40 }, (_, index) => `${String(index).padStart(2, "0")}.md`);
    const fake = fakeFiles(Object.fromEntries(names.map((name) => [name, name])));
    const request = runRequest(fake, state, await plan(fake, state), async () => {
      await new Promise((resolve) => setImmediate(resolve));
    });
    // As a reader does whose disk is full.
    for await (const _ of runDocuments(request)) break;
    const sent = fake.sent.map(({ document }) => document.id ?? "");
    expect(sent.length).toBeLessThan(40);
    for (const id of sent) expect(state.accepted("https://host#7", id)).toBeDefined();
    await new Promise((resolve) => setImmediate(resolve));
    expect(fake.sent).toHaveLength(sent.length);
    state.close();
  });

  it("throws to a busy reader what goes wrong at the end", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    const request = runRequest(fake, state, await plan(fake, state), () => {});
    const failure = new Error("cannot be closed");
    const source = request.pending[Symbol.asyncIterator]();
    const pending = {
      [Symbol.asyncIterator]: () => ({
        next: () => source.next(),
        return: () => Promise.reject(failure),
      }),
    };
    const reading = (async () => {
      for await (const _ of runDocuments({ ...request, pending })) {
        // Several turns: a rejection that nobody holds would end the process.
        for (let turn = 0; turn < 5; turn++) await new Promise((next) => setImmediate(next));
      }
    })();
    await expect(reading).rejects.toBe(failure);
    state.close();
  });

  it("records nothing before the service has answered", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    const recorded: number[] = [];
    await sync(fake, state, () => {
      recorded.push([...state.listAccepted("https://host#7")].length);
    });
    expect(recorded).toEqual([0]);
    expect([...state.listAccepted("https://host#7")]).toHaveLength(1);
    state.close();
  });

  it("fails a file whose id changed after the plan", async () => {
    const state = await openTestState();
    const fake = fakeFiles({ "a.md": "A" });
    const made = await plan(fake, state);
    fake.files.set("a.md", { text: "A", id: "other" });
    const events: DocumentEvent[] = [];
    for await (const batch of runDocuments(runRequest(fake, state, made, () => {})))
      events.push(...batch);
    expect(events).toMatchObject([
      { status: "failed", reason: expect.stringContaining("changed during the run") as string },
    ]);
    expect(fake.sent).toEqual([]);
    state.close();
  });

  it("sends others while documents wait for a retry, up to four times the number", async () => {
    const state = await openTestState();
    let hold: (change: 1 | -1) => void = () => {};
    let [waiting, most] = [0, 0];
    const behave = async (): Promise<void> => {
      most = Math.max(most, ++waiting);
      hold(1);
      for (let turns = 0; turns < 20; turns++) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      hold(-1);
      waiting--;
    };
    const fake = fakeFiles(Object.fromEntries(Array.from({ length: 30 }, (_, n) => [`${n}`, "t"])));
    const { events } = await sync(fake, state, behave, {
      concurrency: 2,
      followHeld: (change) => void (hold = change),
    });
    expect(most).toBe(8);
    expect(new Set(ids(fake)).size).toBe(30);
    expect(events).toHaveLength(30);
    state.close();
  });

  it("uses at most the given number in flight", async () => {
    const state = await openTestState();
    let [inFlight, most] = [0, 0];
    const behave = async (): Promise<void> => {
      most = Math.max(most, ++inFlight);
      await new Promise((resolve) => setImmediate(resolve));
      inFlight--;
    };
    await sync(fakeFiles(texts), state, behave, { concurrency: 5 });
    expect(most).toBe(5);
    state.close();
  });
});
