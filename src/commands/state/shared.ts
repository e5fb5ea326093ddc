import type { Config } from "../../config/load.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { countOf } from "../../output/terminal/progress.ts";
import { holdsPassword, sharedSecrets, type SharedDatabase } from "../../sync/shared/address.ts";
import { countUnpushed, emptyState, hasSentTo, otherProject } from "../../sync/shared/bond.ts";
import { connectShared } from "../../sync/shared/connect.ts";
import { openRecord, type SharedRecord } from "../../sync/shared/record.ts";
import type { State } from "../../sync/state/state.ts";
import { listTargets } from "../../sync/state/target.ts";

/** Flags of commands that use the shared record. */
export interface SharedFlags extends GlobalFlags {
  /** Its URL. */
  sharedState?: string;
  /** Name of the project in it. */
  stateProject?: string;
  /** Use the local state alone. */
  offlineState?: boolean;
}

/** A shared record, and the name of this project in it. */
export interface SharedPlace {
  url: string;
  project: string;
}

const names = "--shared-state and --state-project, or state.shared in a configuration file";

function refusePassword(): never {
  throw new CliError("usage", "--shared-state: a password must not stand in an argument", {
    hints: [
      "other users of this machine see arguments: set KNOWCTL_SHARED_STATE, or use a passfile (~/.pgpass)",
    ],
  });
}

/**
 * The shared record that flags, variables or the configuration name; undefined for none. Registers
 * its URL as a secret. Throws CliError `usage` for a password in an argument, and for a record
 * without a project.
 */
async function sharedPlace(
  config: Pick<Config, "sharedState">,
  flags: SharedFlags,
  output: Output,
): Promise<SharedPlace | undefined> {
  const { sharedState, stateProject } = flags;
  for (const secret of sharedState === undefined ? [] : sharedSecrets(sharedState)) {
    output.secrets.add(secret);
  }
  const isFlag = sharedState !== undefined && flags.flagSources?.["sharedState"] !== "env";
  if (isFlag && holdsPassword(sharedState)) refusePassword();
  // The configured URL is not read where a flag or variable gives one.
  const configured = sharedState === undefined ? await config.sharedState() : undefined;
  const url = sharedState ?? configured?.url;
  const project = stateProject ?? configured?.project;
  if (url === undefined) {
    if (project === undefined) return undefined;
    throw new CliError("usage", `--state-project ${project} without a shared record`, {
      hints: [`name both: ${names}`],
    });
  }
  for (const secret of sharedSecrets(url)) output.secrets.add(secret);
  if (project === undefined) {
    throw new CliError("usage", "the shared record needs the name of a project", {
      hints: [`name both: ${names}`],
    });
  }
  return { url, project };
}

/** The same; throws CliError `not-configured` for none. */
export async function neededPlace(
  config: Pick<Config, "sharedState">,
  flags: SharedFlags,
  output: Output,
): Promise<SharedPlace> {
  const place = await sharedPlace(config, flags, output);
  if (place) return place;
  throw new CliError("not-configured", "no shared record is configured", { hints: [names] });
}

/** Opens the database of a shared record; the caller closes it. Throws as connectShared(). */
export async function openShared(context: Context, { url }: SharedPlace): Promise<SharedDatabase> {
  const { env, uid, sleep, random, signal } = context;
  return await connectShared(url, { env, uid, sleep, random, signal });
}

interface RecordRequest {
  place: SharedPlace;
  /** Push everything again. */
  isWhole?: boolean;
}

/**
 * Opens the shared record behind a local state, and fetches what is new there; the caller closes it.
 * Throws CliError as connectShared() and openRecord().
 */
export async function openRecordAt(
  context: Context,
  state: State,
  { place, isWhole }: RecordRequest,
): Promise<SharedRecord> {
  const shared = await openShared(context, place);
  try {
    return await openRecord(shared, state, place.project, context, isWhole);
  } catch (error) {
    await shared.close();
    throw error;
  }
}

/** The shared record of a command; undefined where none is named, or the local state is to do alone. */
export async function openRecordOf(
  context: Context,
  output: Output,
  config: Pick<Config, "sharedState">,
  flags: SharedFlags,
  state: State,
): Promise<SharedRecord | undefined> {
  const place = await sharedPlace(config, flags, output);
  if (!place) return undefined;
  if (flags.offlineState) {
    const count = countUnpushed(state.database);
    const what = count > 0 ? `${countOf(count, "row")} wait` : "what it records waits";
    await output.note(
      `the shared record is not asked: the state of this machine counts; ${what} for \`knowctl state push\``,
    );
    return undefined;
  }
  return await openRecordAt(context, state, { place });
}

/**
 * Checks that a run is of the repository that its project belongs to: one of its targets is that of
 * the first document, or is known, or this folder has files that were sent there. Throws CliError `usage`; a state that had only what came from there is emptied.
 */
export function checkProject(
  { project, state }: SharedRecord,
  own: readonly string[],
  wasEmpty: boolean,
): void {
  if (project.target === undefined || own.length === 0 || own.includes(project.target)) return;
  const known = listTargets(state.database);
  if (own.some((each) => known.includes(each)) || hasSentTo(state.database, project.target)) return;
  if (wasEmpty) emptyState(state.database);
  throw otherProject(project, own[0] ?? "");
}
