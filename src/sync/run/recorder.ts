import type { AcceptedRecord, FailureRecord, FileRecord } from "../state/records.ts";
import type { State } from "../state/state.ts";

// So many acknowledged documents are sent again at most when the process is killed.
const mostUnsaved = 64;
// Fewer than that are saved after so long.
const saveIntervalMs = 250;
// What is saved survives the end of this process at once. The disk, which takes from 0.2 to
// 30 ms, is waited for only so long after: should the machine stop before, what was saved in
// between is sent once more.
const diskIntervalMs = 250;

/** Collects what is to be recorded and saves it batch by batch. */
export interface Recorder {
  accept(file: FileRecord | undefined, record: AcceptedRecord): void;
  /** A file that was read and gives nothing to send. */
  see(file: FileRecord): void;
  fail(record: FailureRecord): void;
  /** Saves what is left, and waits until the disk has all of it. */
  save(): void;
}

/**
 * `onFault` takes what goes wrong in a save that nobody waits for; all others throw.
 * At the end the caller saves what is left.
 */
export function createRecorder(state: State, onFault: (error: unknown) => void): Recorder {
  const files: FileRecord[] = [];
  const accepted: AcceptedRecord[] = [];
  const failures: FailureRecord[] = [];
  let timer: NodeJS.Timeout | undefined;
  let diskTimer: NodeJS.Timeout | undefined;
  const unsaved = (): number => Math.max(accepted.length, files.length, failures.length);
  const orFault = (work: () => void): void => {
    try {
      work();
    } catch (error) {
      onFault(error);
    }
  };
  const sync = (): void => {
    clearTimeout(diskTimer);
    diskTimer = undefined;
    state.sync();
  };
  const save = (): void => {
    clearTimeout(timer);
    timer = undefined;
    const batch = {
      files: files.splice(0),
      accepted: accepted.splice(0),
      failures: failures.splice(0),
    };
    state.save(batch, "NORMAL");
    diskTimer ??= setTimeout(() => orFault(sync), diskIntervalMs);
  };
  const saveWhenDue = (): void => {
    if (unsaved() >= mostUnsaved) return save();
    timer ??= setTimeout(() => orFault(save), saveIntervalMs);
  };
  return {
    save() {
      if (unsaved() > 0) save();
      if (diskTimer) sync();
    },
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
