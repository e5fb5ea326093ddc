import type { AcceptedRecord, FailureRecord, FileRecord } from "../state/records.ts";
import type { State } from "../state/state.ts";

// After a kill, at most this many accepted documents are sent again.
const mostUnsaved = 64;
// A smaller batch is saved after this time.
const saveIntervalMs = 250;
// A save survives the end of this process at once, but a power loss only after a disk sync.
// A sync takes 0.2 to 30 ms, so it runs at this interval. Documents saved since the last sync
// are sent again after a power loss.
const diskIntervalMs = 250;

/** Collects records and saves them in batches. */
export interface Recorder {
  accept(file: FileRecord | undefined, record: AcceptedRecord): void;
  /** A file that was read and has no document to send. */
  skip(file: FileRecord): void;
  fail(record: FailureRecord): void;
  /** Saves the remaining records and syncs the disk. */
  save(): void;
}

/**
 * `onFault` receives errors of saves by timer; other saves throw. The caller calls save()
 * at the end.
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
  const scheduleSave = (): void => {
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
      scheduleSave();
    },
    skip(file) {
      files.push(file);
      scheduleSave();
    },
    fail(record) {
      failures.push(record);
      scheduleSave();
    },
  };
}
