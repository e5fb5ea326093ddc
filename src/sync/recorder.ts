import type { Synchronous } from "../database.ts";
import type { AcceptedRecord, FailureRecord, FileRecord } from "./records.ts";
import type { State } from "./state.ts";

// So many acknowledged documents are sent again at most when the process is killed.
const mostUnsaved = 64;
// With so many, or after so long, they are made durable at the next quiet moment: a
// transaction takes as long as twenty answers, which all would wait for it.
const enoughToSave = 32;
const saveIntervalMs = 250;
const quietMs = 2;
// What is saved survives the end of this process at once. That the machine ends is so rare
// that the disk, which takes from 0.2 to 30 ms, is waited for only so often: what is lost
// then is sent once more.
const diskIntervalMs = 250;

/** Collects what is to be recorded and saves it batch by batch. */
export interface Recorder {
  accept(file: FileRecord | undefined, record: AcceptedRecord): void;
  /** A file that was read and gives nothing to send. */
  see(file: FileRecord): void;
  fail(record: FailureRecord): void;
  save(): void;
}

/**
 * `onFault` takes what goes wrong in a save that nobody waits for; all others throw.
 * At the end the caller saves what is left.
 */
export function createRecorder(
  state: State,
  now: () => number,
  onFault: (error: unknown) => void,
): Recorder {
  let files: FileRecord[] = [];
  let accepted: AcceptedRecord[] = [];
  let failures: FailureRecord[] = [];
  let savedAt = now();
  let onDiskAt = savedAt;
  let timer: NodeJS.Timeout | undefined;
  const unsaved = (): number => Math.max(accepted.length, files.length, failures.length);
  const save = (synchronous?: Synchronous): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = { files, accepted, failures };
    [files, accepted, failures] = [[], [], []];
    savedAt = now();
    const isForDisk = synchronous === "FULL" || savedAt - onDiskAt >= diskIntervalMs;
    if (isForDisk) onDiskAt = savedAt;
    state.save(batch, isForDisk ? "FULL" : "NORMAL");
  };
  const saveWhenQuiet = (before: number): void => {
    timer = setTimeout(() => {
      const count = unsaved();
      if (count > before) return saveWhenQuiet(count);
      try {
        save();
      } catch (error) {
        onFault(error);
      }
    }, quietMs);
  };
  const saveWhenDue = (): void => {
    const count = unsaved();
    if (count >= mostUnsaved) return save();
    if (timer) return;
    if (count >= enoughToSave || now() - savedAt >= saveIntervalMs) saveWhenQuiet(count);
  };
  return {
    save: () => save("FULL"),
    accept(file, record) {
      if (file) files.push(file);
      accepted.push(record);
      saveWhenDue();
    },
    see(file) {
      files.push(file);
      saveWhenDue();
    },
    fail(record) {
      failures.push(record);
      saveWhenDue();
    },
  };
}
