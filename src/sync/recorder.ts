import type { AcceptedRecord, FailureRecord, FileRecord } from "./records.ts";
import type { State } from "./state.ts";

// Acknowledged documents are made durable in batches of this size, or when this much time has passed.
const saveBatch = 64;
const saveIntervalMs = 250;

/** Collects what is to be recorded and saves it batch by batch. */
export interface Recorder {
  accept(file: FileRecord | undefined, record: AcceptedRecord): void;
  /** A file that was read and gives nothing to send. */
  see(file: FileRecord): void;
  fail(record: FailureRecord): void;
  save(): void;
}

export function createRecorder(state: State, now: () => number): Recorder {
  let files: FileRecord[] = [];
  let accepted: AcceptedRecord[] = [];
  let failures: FailureRecord[] = [];
  let savedAt = now();
  const save = (): void => {
    const batch = { files, accepted, failures };
    [files, accepted, failures] = [[], [], []];
    savedAt = now();
    state.save(batch);
  };
  const saveWhenDue = (): void => {
    const count = Math.max(accepted.length, files.length, failures.length);
    if (count >= saveBatch || now() - savedAt >= saveIntervalMs) save();
  };
  return {
    save,
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
