import type { Secrets } from "../../output/terminal/redact.ts";
import { pathsInParts } from "../../documents/inspect/part-stamps.ts";
import type { AcceptedRecord, FailureRecord, FileRecord } from "../../sync/state/records.ts";
import type { State } from "../../sync/state/state.ts";

/**
 * Wraps the state so that no secret is stored, even if a response contains one. The state is
 * copied to caches and other machines, and `state list` there cannot redact unknown secrets.
 *
 * A file or document with a key in its name is not recorded, so it is new in each run. Its
 * failure is recorded under a redacted name. A shorter secret is not redacted in names: it may
 * be an ordinary word, and the document could not be found under another name.
 */
export function withoutSecrets(state: State, { redact, holdsKey }: Secrets): State {
  const { options, uploads, verified } = state;
  const redactFailure = (each: FailureRecord): FailureRecord => {
    const reason = redact(each.reason);
    if (!holdsKey(each.path) && !holdsKey(each.id)) return { ...each, reason };
    return { ...each, path: redact(each.path), id: redact(each.id), reason };
  };
  const redactAccepted = (each: AcceptedRecord): AcceptedRecord => {
    const storedId = each.storedId === undefined ? undefined : redact(each.storedId);
    // Most ids hold no secret: a copy of each record takes longer than the search.
    return storedId === each.storedId ? each : { ...each, storedId };
  };
  const redactFile = (each: FileRecord): FileRecord =>
    each.skipped === undefined ? each : { ...each, skipped: redact(each.skipped) };
  const hasNoKey = ({ path = "", id = "" }: { path?: string | undefined; id?: string }): boolean =>
    !holdsKey(path) && (id === path || !holdsKey(id));
  return {
    ...state,
    options: {
      ...options,
      // Options without their secret would make other documents: then nobody knows them.
      store: (json) => (holdsKey(json) ? undefined : options.store(json)),
      find: (json) => (holdsKey(json) ? undefined : options.find(json)),
    },
    uploads: {
      ...uploads,
      begin: (run) => uploads.begin({ ...run, inputs: run.inputs.map(redact) }),
      end: (run) => uploads.end({ ...run, inputs: run.inputs.map(redact) }),
    },
    verified: {
      ...verified,
      save: (checks) => verified.save(checks.filter(({ id }) => !holdsKey(id))),
      leaveOpen: (documents, atMs, synchronous) =>
        verified.leaveOpen(
          documents.filter(({ id }) => !holdsKey(id)),
          atMs,
          synchronous,
        ),
      suspect: (documents) => verified.suspect(documents.filter(({ id }) => !holdsKey(id))),
    },
    openParts(path, ours, others) {
      if (!holdsKey(path)) state.openParts(path, ours, others);
    },
    save({ files = [], accepted: acceptedRecords = [], failures = [] }, synchronous) {
      const kept = {
        files: files.filter(
          ({ path, document, parts }) =>
            hasNoKey({ path, id: document?.id ?? "" }) &&
            (parts === undefined || !pathsInParts(parts).some(holdsKey)),
        ),
        accepted: acceptedRecords.filter(hasNoKey),
      };
      const batch = {
        files: kept.files.map(redactFile),
        accepted: kept.accepted.map(redactAccepted),
      };
      state.save({ ...batch, failures: failures.map(redactFailure) }, synchronous);
    },
  };
}
