import type { Config } from "../../config/load.ts";
import type { Context } from "../../context.ts";
import { type CliError, reasonOf } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { SharedRecord } from "../../sync/shared/record.ts";
import type { State } from "../../sync/state/state.ts";
import { recordedServices } from "../../sync/state/target.ts";
import type { SharedFlags } from "../state/shared.ts";
import type { DocumentSource } from "./options/settings.ts";

/** How a session uses a shared record. */
export interface RecordRequest extends SharedFlags {
  /** Sends and records nothing; needs no service unless a connector is named. */
  dryRun?: boolean;
  /** Removes documents: no other run of the project may send meanwhile. */
  removes?: boolean;
  /** Records something, although it sends nothing. */
  records?: boolean;
}

/** Whether a command line or the configuration names a shared record. */
export const namesShared = (request: RecordRequest, { values }: Config): boolean =>
  (request.sharedState ?? request.stateProject ?? values.state?.shared) !== undefined;

interface OpenedRecord {
  record: SharedRecord | undefined;
  /** Throws for a run of another repository, and takes the lock of a run that sends or removes. */
  start(own: readonly string[]): Promise<void>;
  settle(): Promise<CliError | undefined>;
  close(): Promise<void>;
}

/** Opens the shared record behind a state, where there is one. Pushes nothing in a dry run. */
export async function openRecordFor(
  context: Context,
  output: Output,
  state: State,
  { config }: DocumentSource,
  request: RecordRequest,
): Promise<OpenedRecord> {
  const { dryRun = false, removes = false, records = !dryRun } = request;
  const shared = await import("../state/shared.ts");
  const wasEmpty = recordedServices(state.database).length === 0;
  const record = await shared.openRecordOf(context, output, config, request, state);
  let settled: Promise<CliError | undefined> | undefined;
  const settle = (): Promise<CliError | undefined> =>
    (settled ??= record && records ? record.finish() : Promise.resolve(undefined));
  return {
    record,
    async start(own) {
      if (!record) return;
      shared.checkProject(record, own, wasEmpty);
      if (removes) await record.lockToRemove();
      else if (!dryRun) await record.lockToSend();
      if (records) record.kick();
    },
    settle,
    async close() {
      const problem = settled ? undefined : await settle();
      await record?.close();
      if (problem) await output.warn(reasonOf(problem));
    },
  };
}
