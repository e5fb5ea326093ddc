import type { Secrets } from "../../output/terminal/redact.ts";
import type { AcceptedRecord, FailureRecord, FileRecord } from "../../sync/state/records.ts";
import type { State } from "../../sync/state/state.ts";

/**
 * The state, for a run that knows secrets: none of them goes into it, wherever the service says
 * one. The state is kept in caches and carried to other machines, and whoever lists it later
 * may not have the secrets to look for.
 *
 * A file or document whose name holds a key is not recorded: it counts as new in each run. Its
 * failure is recorded under a redacted name. A shorter secret stays in a name: it may be an
 * ordinary word, and under another name the document would not be found again.
 */
export function withoutSecrets(state: State, { redact, holdsKey }: Secrets): State {
  const { options, unfinished } = state;
  const failure = (each: FailureRecord): FailureRecord => {
    const reason = redact(each.reason);
    if (!holdsKey(each.path) && !holdsKey(each.id)) return { ...each, reason };
    return { ...each, path: redact(each.path), id: redact(each.id), reason };
  };
  const accepted = (each: AcceptedRecord): AcceptedRecord =>
    each.storedId === undefined ? each : { ...each, storedId: redact(each.storedId) };
  const file = (each: FileRecord): FileRecord =>
    each.skipped === undefined ? each : { ...each, skipped: redact(each.skipped) };
  const isFit = ({ path = "", id = "" }: { path?: string | undefined; id?: string }): boolean =>
    !holdsKey(path) && !holdsKey(id);
  return {
    ...state,
    options: {
      ...options,
      // Options without their secret would make other documents: then nobody knows them.
      store: (json) => (holdsKey(json) ? undefined : options.store(json)),
      find: (json) => (holdsKey(json) ? undefined : options.find(json)),
    },
    unfinished: {
      ...unfinished,
      begin: (run) => unfinished.begin({ ...run, inputs: run.inputs.map(redact) }),
      end: (run) => unfinished.end({ ...run, inputs: run.inputs.map(redact) }),
    },
    openParts(path, ours, others) {
      if (!holdsKey(path)) state.openParts(path, ours, others);
    },
    save({ files = [], accepted: taken = [], failures = [] }, synchronous) {
      const kept = {
        files: files.filter((each) => isFit({ path: each.path, id: each.document?.id ?? "" })),
        accepted: taken.filter(isFit),
      };
      const batch = { files: kept.files.map(file), accepted: kept.accepted.map(accepted) };
      state.save({ ...batch, failures: failures.map(failure) }, synchronous);
    },
  };
}
