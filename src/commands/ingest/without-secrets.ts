import type { Secrets } from "../../output/redact.ts";
import type { AcceptedRecord, FailureRecord } from "../../sync/records.ts";
import type { State } from "../../sync/state.ts";

/**
 * The state, for a run that knows secrets: none of them goes into it, wherever the service says
 * one. The state is kept in caches and carried to other machines, and whoever lists it later
 * may not have the secrets to look for.
 */
export function withoutSecrets(state: State, { redact }: Secrets): State {
  const { options } = state;
  const failure = (each: FailureRecord): FailureRecord => ({
    ...each,
    reason: redact(each.reason),
  });
  const accepted = (each: AcceptedRecord): AcceptedRecord =>
    each.storedId === undefined ? each : { ...each, storedId: redact(each.storedId) };
  return {
    ...state,
    options: {
      ...options,
      store: (json) => options.store(redact(json)),
      find: (json) => options.find(redact(json)),
    },
    save(batch, synchronous) {
      const { files = [] } = batch;
      const told = batch.failures?.map(failure) ?? [];
      const taken = batch.accepted?.map(accepted) ?? [];
      state.save({ files, accepted: taken, failures: told }, synchronous);
    },
  };
}
