import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createRecorder, type Recorder } from "../../../src/sync/run/recorder.ts";
import type { AcceptedRecord } from "../../../src/sync/state/records.ts";
import type { State } from "../../../src/sync/state/state.ts";

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
