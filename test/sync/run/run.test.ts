import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import type {
  Inspector,
  Looked,
  Prepared,
  ReadyDocument,
} from "../../../src/documents/inspect/inspection.ts";
import { bumpUpdatedAt, createDates, createImages } from "../../../src/sync/run/bodies.ts";
import { openTestState } from "../open-state.ts";
import { imagePlaceholder } from "../../../src/documents/map/images/image-sections.ts";
import type { LocalImage } from "../../../src/documents/map/images/images.ts";
import type { State } from "../../../src/sync/state/state.ts";
import {
  type Pending,
  readAgain,
  readPending,
  takeInOrder,
} from "../../../src/sync/run/pending.ts";
import type { PlannedDocument } from "../../../src/sync/plan/plan-table.ts";
import { type Recorder, createRecorder } from "../../../src/sync/run/recorder.ts";
import type { AcceptedRecord } from "../../../src/sync/state/records.ts";
import { createRetryQueue } from "../../../src/sync/run/run.ts";

describe("bump updated at", () => {
  const day = "2024-01-01T00:00:00Z";
  const sentAtMs = Date.parse("2026-01-01T00:00:00Z");

  function sentDate(updatedAt: string | undefined, lastDate: string | undefined, nowMs: number) {
    const document = { id: "a", ...(updatedAt === undefined ? {} : { doc_updated_at: updatedAt }) };
    const body = Buffer.from(JSON.stringify({ document }));
    const ready = { body, updatedAt } as Partial<ReadyDocument> as ReadyDocument;
    const sent = bumpUpdatedAt(ready, { updatedAt: lastDate, sentAtMs }, nowMs);
    const { document: told } = JSON.parse(Buffer.from(sent.body).toString()) as {
      document: { doc_updated_at?: string };
    };
    expect(told.doc_updated_at).toBe(sent.updatedAt);
    return sent.updatedAt;
  }

  describe("advanceDate()", () => {
    it.each<[string, string | undefined, string | undefined, string | undefined]>([
      ["leaves a later date", "2024-01-02T00:00:00Z", day, "2024-01-02T00:00:00Z"],
      ["moves the same date", day, day, "2024-01-01T00:00:01.000Z"],
      ["moves an earlier date", "2020-01-01T00:00:00Z", day, "2024-01-01T00:00:01.000Z"],
      ["leaves the service's clock", undefined, undefined, undefined],
      ["leaves the service's clock after a date", undefined, day, undefined],
      ["passes a future date", undefined, "2040-01-01T00:00:00Z", "2040-01-01T00:00:01.000Z"],
      ["passes the service's clock", day, undefined, "2026-01-01T00:05:01.000Z"],
    ])("%s", (_, date, lastDate, expected) => {
      expect(sentDate(date, lastDate, sentAtMs)).toBe(expected);
    });

    it("takes another date than an attempt whose answer was not recorded", () => {
      const first = sentDate(day, day, sentAtMs + 60_000) ?? "";
      const second = sentDate(day, day, sentAtMs + 90_000) ?? "";
      expect(Date.parse(second)).toBeGreaterThan(Date.parse(first));
    });
  });

  describe("createDates()", () => {
    const ready = (id: string, updatedAt: string | undefined): ReadyDocument => {
      const body = Buffer.from(JSON.stringify({ document: { id, doc_updated_at: updatedAt } }));
      return { id, body, updatedAt } as Partial<ReadyDocument> as ReadyDocument;
    };
    const record = { path: undefined, part: 0, whole: "w", fields: "", storedId: undefined };

    it("goes beyond what any pair of the same service got last", async () => {
      const state = await openTestState();
      onTestFinished(() => state.close());
      const accepted = [
        { ...record, target: "https://a#2", id: "x", updatedAt: day, sentAtMs },
        {
          ...record,
          target: "https://a#7",
          id: "x",
          updatedAt: "2024-02-01T00:00:00Z",
          sentAtMs: sentAtMs + 1,
        },
        {
          ...record,
          target: "https://b#7",
          id: "x",
          updatedAt: "2024-03-01T00:00:00Z",
          sentAtMs: sentAtMs + 2,
        },
      ];
      state.save({ accepted });
      const now = (): number => sentAtMs + 1;
      const dates = createDates({ state, baseUrl: "https://a", force: false, now });
      for (const last of [accepted[0], undefined]) {
        expect(dates.adapt(ready("x", day), last).updatedAt).toBe("2024-02-01T00:00:01.000Z");
      }
      expect(dates.adapt(ready("other", day), undefined).updatedAt).toBe(day);
      expect(dates.unknown()).toBe(0);
    });

    it("goes with force beyond the clock of a service that got no date before", async () => {
      const state = await openTestState();
      onTestFinished(() => state.close());
      const nowMs = Date.parse("2026-06-01T00:00:00Z");
      const lost = { state, baseUrl: "https://a", now: () => nowMs };
      const forced = createDates({ ...lost, force: true }).adapt(ready("x", day), undefined);
      // The clock of the service may be five minutes ahead.
      expect(Date.parse(forced.updatedAt ?? "")).toBeGreaterThan(nowMs + 5 * 60_000);
      const there = createDates({ ...lost, force: false }).adapt(ready("x", day), undefined);
      expect(Date.parse(there.dateIfThere?.() ?? "")).toBeGreaterThanOrEqual(nowMs + 5 * 60_000);
    });

    it("goes with force, or once it is known to be there, beyond what years of changes made of a date", async () => {
      const state = await openTestState();
      onTestFinished(() => state.close());
      let nowMs = Date.parse(day);
      let sent: { updatedAt: string | undefined } = { updatedAt: day };
      const now = (): number => nowMs;
      for (let change = 0; change < 50; change++) {
        const last = { updatedAt: sent.updatedAt, sentAtMs: nowMs };
        nowMs += change * 1_000_000_000;
        sent = bumpUpdatedAt(ready("x", day), last, nowMs);
      }
      const reached = Date.parse(sent.updatedAt ?? "");
      const lost = { state, baseUrl: "https://a", now };
      const forced = createDates({ ...lost, force: true }).adapt(ready("x", day), undefined);
      expect(Date.parse(forced.updatedAt ?? "")).toBeGreaterThan(reached);
      nowMs += 1000;
      const again = createDates({ ...lost, force: true }).adapt(ready("x", day), undefined);
      expect(Date.parse(again.updatedAt ?? "")).toBeGreaterThan(Date.parse(forced.updatedAt ?? ""));
      const dates = createDates({ ...lost, force: false });
      const asItIs = dates.adapt(ready("x", day), undefined);
      expect(asItIs.updatedAt).toBe(day);
      expect(Date.parse(asItIs.dateIfThere?.() ?? "")).toBeGreaterThan(reached);
      expect(dates.unknown()).toBe(1);
      expect(dates.adapt(ready("x", undefined), undefined).dateIfThere).toBeUndefined();
    });
  });
});

describe("images", () => {
  function imageOf(sha256: string): LocalImage {
    const path = `${sha256}.png`;
    return { path, absolutePath: `/${path}`, sha256, mime: "image/png", sizeBytes: 1, name: path };
  }

  function bodyOf(...hashes: string[]): Uint8Array {
    const sections = hashes.map((sha256) => ({
      image_file_id: imagePlaceholder(sha256),
      link: "l",
    }));
    const text = { text: `"image_file_id":"${imagePlaceholder("a")}"` };
    const metadata = { image_file_id: imagePlaceholder("a") };
    const document = { id: "d", sections: [text, ...sections], metadata };
    return Buffer.from(JSON.stringify({ document, cc_pair_id: 2 }));
  }

  function idsIn(body: Uint8Array): unknown[] {
    const { document } = JSON.parse(Buffer.from(body).toString()) as {
      document: { sections: { image_file_id?: string }[] };
    };
    return document.sections.map(({ image_file_id }) => image_file_id);
  }

  interface Setup {
    state: State;
    uploads: string[];
  }

  function open(
    { state, uploads }: Setup,
    change: { force?: boolean; service?: string; behave?: () => Promise<void> } = {},
  ): ReturnType<typeof createImages> {
    return createImages({
      state,
      service: change.service ?? "https://a",
      force: change.force === true,
      now: Date.now,
      async upload({ sha256 }) {
        uploads.push(sha256);
        await change.behave?.();
        return `id-${sha256}-${uploads.length}`;
      },
    });
  }

  describe("images of documents on their way", () => {
    it("only sections get the service's id, and only of the document's own images", async () => {
      const setup = { state: await openTestState(), uploads: [] };
      const images = open(setup);
      const body = await images.place(bodyOf("a", "b"), [imageOf("a")]);
      expect(idsIn(body)).toEqual([undefined, "id-a-1", imagePlaceholder("b")]);
      const parsed = JSON.parse(Buffer.from(body).toString()) as { document: { metadata: object } };
      expect(parsed.document.metadata).toEqual({ image_file_id: imagePlaceholder("a") });
      const untouched = bodyOf("a");
      expect(await images.place(untouched, [])).toBe(untouched);
    });

    it("documents at the same time share one upload; a failed one is tried again", async () => {
      const setup = { state: await openTestState(), uploads: [] };
      let failures = 1;
      const images = open(setup, {
        behave: () => (failures-- > 0 ? Promise.reject(new Error("no")) : Promise.resolve()),
      });
      const both = [
        images.place(bodyOf("a"), [imageOf("a")]),
        images.place(bodyOf("a"), [imageOf("a")]),
      ];
      expect((await Promise.allSettled(both)).map(({ status }) => status)).toEqual([
        "rejected",
        "rejected",
      ]);
      expect(setup.uploads).toHaveLength(1);
      expect(idsIn(await images.place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-2");
    });

    it("remembers for each service; force forgets what was before the run", async () => {
      const setup: Setup = { state: await openTestState(), uploads: [] };
      await open(setup).place(bodyOf("a"), [imageOf("a")]);
      expect(idsIn(await open(setup).place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-1");
      await open(setup, { service: "https://b" }).place(bodyOf("a"), [imageOf("a")]);
      const forced = open(setup, { force: true });
      for (let count = 0; count < 2; count++) {
        expect(idsIn(await forced.place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-3");
      }
      expect(idsIn(await open(setup).place(bodyOf("a"), [imageOf("a")]))[1]).toBe("id-a-3");
      expect(setup.uploads).toHaveLength(3);
    });
  });
});

describe("pending", () => {
  const batch = 64;

  /** A plan of documents. */
  function tableOf(documents: readonly [path: string, part: number][]) {
    const all = documents.map(([path, part], index): PlannedDocument => ({
      number: index + 1,
      path,
      part,
      id: part === 0 ? path : `${path}#${part}`,
      absolutePath: undefined,
    }));
    return {
      planned: (numbers?: readonly number[]) =>
        numbers ? all.filter(({ number }) => numbers.includes(number)) : all,
    };
  }

  /** A plan of so many files, and the numbers of files read at a time. */
  function start(files: number) {
    const table = tableOf(Array.from({ length: files }, (_, index) => [`${index}.md`, 0]));
    const read: number[] = [];
    const looked = ({ path }: { path: string }): Looked => ({
      kind: "failed",
      path,
      part: 0,
      reason: "",
    });
    const inspector: Inspector = {
      look: (items) => {
        read.push(items.length);
        return Promise.resolve(items.map(looked));
      },
      async *readRows() {},
    };
    const source = { table, inspector };
    return { source, documents: readPending(source), read };
  }

  it("reads one batch ahead of the one in use, and none for a reader that has left", async () => {
    const { documents, read } = start(4 * batch);
    expect(read).toEqual([]);
    expect((await documents.next()).value).toHaveLength(batch);
    expect(read).toEqual([batch, batch]);
    expect((await documents.next()).value).toHaveLength(batch);
    expect(read).toEqual([batch, batch, batch]);
    await documents.return(undefined);
    expect(read).toHaveLength(3);
  });

  it("takes the documents of a shared plan one batch after the other, and reads none ahead", async () => {
    const { source, read } = start(2 * batch);
    const documents = takeInOrder(source.table);
    const asked: number[] = [];
    const take = (most: number): Promise<PlannedDocument[]> => {
      asked.push(most);
      return Promise.resolve(documents(10));
    };
    const pending = readPending({ ...source, take });
    expect((await pending.next()).value).toHaveLength(10);
    expect({ asked, read }).toEqual({ asked: [batch], read: [10] });
    let count = 10;
    for await (const each of pending) count += each.length;
    expect(count).toBe(2 * batch);
  });

  it("gives every file once, in order", async () => {
    const { documents } = start(3 * batch + 1);
    const paths: string[] = [];
    for await (const each of documents) for (const { prepared } of each) paths.push(prepared.path);
    expect(paths).toEqual(Array.from({ length: 3 * batch + 1 }, (_, index) => `${index}.md`));
  });

  /** Rows of several files; how many of their readers are open. */
  function startRows(files: readonly string[], rows: number) {
    const parts = Array.from({ length: rows }, (_, index) => index + 1);
    const table = tableOf(
      files.flatMap((path) => parts.map((part): [string, number] => [path, part])),
    );
    const open = new Set<string>();
    const inspector: Inspector = {
      look: () => Promise.resolve([]),
      async *readRows({ path }) {
        open.add(path);
        try {
          for (let part = 1; ; part++) yield { kind: "failed", path, part, reason: "" };
        } finally {
          open.delete(path);
        }
      },
    };
    return { table, inspector, open };
  }

  it("reads a file of rows once, and closes it before the next one and at the end", async () => {
    const { table, inspector, open } = startRows(["a.csv", "b.csv"], 2 * batch);
    let most = 0;
    let count = 0;
    for await (const each of readPending({ table, inspector })) {
      most = Math.max(most, open.size);
      count += each.length;
    }
    expect({ count, most, open: open.size }).toEqual({ count: 4 * batch, most: 1, open: 0 });
  });

  it("closes a file of rows for a reader that leaves", async () => {
    const { table, inspector, open } = startRows(["a.csv"], 4 * batch);
    const documents = readPending({ table, inspector });
    await documents.next();
    expect(open.size).toBe(1);
    await documents.return(undefined);
    expect(open.size).toBe(0);
    for await (const _ of readAgain([1], { table, inspector })) {
      expect(open.size).toBe(1);
    }
    expect(open.size).toBe(0);
  });
});

describe("recorder", () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  function fail(error: unknown): never {
    throw error;
  }

  function recordOf(id: string): AcceptedRecord {
    const rest = { path: `${id}.md`, part: 0, whole: "w", fields: "f", sentAtMs: 1 };
    return { target: "t", id, updatedAt: undefined, storedId: undefined, ...rest };
  }

  interface Opened {
    accept: (count: number) => void;
    /** How many documents each save made durable. */
    saves: number[];
    /** How many saves there were each time the disk was waited for. */
    syncs: number[];
    faults: unknown[];
    recorder: Recorder;
  }

  function open(behave: () => void = () => {}): Opened {
    const saves: number[] = [];
    const syncs: number[] = [];
    const faults: unknown[] = [];
    const save: State["save"] = ({ accepted = [] }, synchronous) => {
      behave();
      expect(synchronous).toBe("NORMAL");
      saves.push(accepted.length);
    };
    const sync = (): void => void syncs.push(saves.length);
    const recorder = createRecorder({ save, sync } as State, (error) => faults.push(error));
    let made = 0;
    const accept = (count: number): void => {
      for (let left = count; left > 0; left--) recorder.accept(undefined, recordOf(`d${made++}`));
    };
    return { accept, saves, syncs, faults, recorder };
  }

  describe("what the service has accepted", () => {
    it("is made durable at once where 64 documents would be sent again", () => {
      const { accept, saves } = open();
      accept(200);
      expect(saves).toEqual([64, 64, 64]);
    });

    it("is saved once, and so are files and failures", () => {
      const saves: unknown[] = [];
      const save: State["save"] = (batch) => void saves.push(batch);
      const recorder = createRecorder({ save, sync: () => {} } as unknown as State, fail);
      const file = { path: "a.md", part: 0, seen: "s", content: "c" };
      const seen = { ...file, document: undefined, skipped: "empty", target: undefined };
      const failure = { target: "t", path: "b.md", part: 0, id: "b", reason: "no" };
      const failed = { ...failure, retryable: false, status: 422, failedAtMs: 1 };
      recorder.accept(undefined, recordOf("c"));
      recorder.skip(seen);
      recorder.fail(failed);
      recorder.save();
      recorder.skip({ ...seen, path: "d.md" });
      recorder.save();
      expect(saves).toEqual([
        { accepted: [recordOf("c")], files: [seen], failures: [failed] },
        { accepted: [], files: [{ ...seen, path: "d.md" }], failures: [] },
      ]);
    });

    it("is on disk a quarter of a second later, and at the end", () => {
      const { accept, saves, syncs, recorder } = open();
      accept(128);
      vi.advanceTimersByTime(249);
      accept(64);
      expect(syncs).toEqual([]);
      vi.advanceTimersByTime(1);
      // All that was saved before, whenever that was.
      expect(syncs).toEqual([3]);
      vi.advanceTimersByTime(10_000);
      accept(64);
      recorder.save();
      expect(syncs).toEqual([3, 4]);
      accept(1);
      recorder.save();
      expect([saves.length, syncs.at(-1)]).toEqual([5, 5]);
      recorder.save();
      vi.advanceTimersByTime(10_000);
      expect(syncs).toEqual([3, 4, 5]);
    });

    it("is saved a quarter of a second after it came where others come slowly", () => {
      const { accept, saves } = open();
      accept(1);
      vi.advanceTimersByTime(200);
      accept(1);
      expect(saves).toEqual([]);
      vi.advanceTimersByTime(50);
      expect(saves).toEqual([2]);
      vi.advanceTimersByTime(10_000);
      expect(saves).toEqual([2]);
    });

    it("tells of a fault in a save that nobody waits for, and throws that of all others", () => {
      const full = new Error("disk full");
      const { accept, faults } = open(() => {
        throw full;
      });
      accept(32);
      vi.advanceTimersByTime(250);
      expect(faults).toEqual([full]);
      expect(() => accept(64)).toThrow(full);
    });
  });
});

describe("retry queue", () => {
  function pending(bytes: number, number?: number): Pending {
    const prepared = { kind: "document", path: "", body: new Uint8Array(bytes) } as Prepared;
    return { number, known: undefined, prepared };
  }

  const event = { status: "failed", path: "", id: "a", ms: 0 } as const;

  it.each([
    [10, 300, 256],
    [5 * 1024 * 1024, 10, 3],
    [17 * 1024 * 1024, 1, 0],
  ])("of documents of %i bytes from stdin, %i of them, keeps %i", (bytes, count, kept) => {
    const later = createRetryQueue();
    for (let index = 0; index < count; index++) later.add(pending(bytes), event);
    expect(later.count()).toBe(kept);
  });

  it("keeps a bounded number of those that can be read again", () => {
    const later = createRetryQueue();
    const kept = Array.from({ length: 10_001 }, (_, index) => later.add(pending(1, index), event));
    expect(kept.lastIndexOf(true)).toBe(9999);
    expect(later.count()).toBe(10_000);
  });
});
