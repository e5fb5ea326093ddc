import type { Client } from "../../../api/client.ts";
import type { Context } from "../../../context.ts";
import { ApiError, CliError, messageOf } from "../../../errors.ts";
import { openClient } from "../../connect.ts";
import type { AccessRules } from "./access.ts";
import type { Session } from "../session.ts";
import { createPairCheck } from "./target.ts";

/** The client of a run that sends nothing; undefined without a trusted profile or a key. */
async function clientFor(
  context: Context,
  { source, output, connected }: Session,
): Promise<{ client: Client; close(): Promise<void> } | undefined> {
  if (connected) return { client: connected.client, close: () => Promise.resolve() };
  try {
    const { client } = await openClient(context, output, source.config, { connections: 1 });
    return { client, close: () => client.close() };
  } catch (error) {
    if (error instanceof CliError) return undefined;
    throw error;
  }
}

/**
 * Says who can read the pairs of a dry run, and refuses those that the upload would
 * refuse, where a trusted profile and a key are there. Without them nobody is
 * contacted, and a listing that does not answer is a note: a dry run needs neither.
 * Throws as refuseAccess().
 */
export async function checkPlannedPairs(
  context: Context,
  session: Session,
  ccPairIds: readonly number[],
  rules: AccessRules,
): Promise<void> {
  if (ccPairIds.length === 0) return;
  const { output } = session;
  const opened = await clientFor(context, session);
  const required = rules.required.join(" or ");
  const unchecked = required === "" ? "" : `; the upload needs a pair of access type ${required}`;
  if (!opened) {
    if (required !== "") await output.note(`the access type was not checked${unchecked}`);
    return;
  }
  try {
    await createPairCheck(opened.client, rules, "listOnce")(ccPairIds, output, "nothing was sent");
  } catch (error) {
    context.signal.throwIfAborted();
    const isOfListing = error instanceof Error && error.cause instanceof ApiError;
    if (!isOfListing && !(error instanceof ApiError)) throw error;
    await output.note(`cannot tell who can read the documents${unchecked}: ${messageOf(error)}`);
  } finally {
    await opened.close();
  }
}
