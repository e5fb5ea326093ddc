import type { Client } from "../../../api/client.ts";
import type { Context } from "../../../context.ts";
import { ApiError, CliError, messageOf } from "../../../errors.ts";
import { openClient } from "../../connect.ts";
import type { AccessRules } from "./access.ts";
import type { Session } from "../session.ts";
import { placeText } from "./names.ts";
import { createPairCheck } from "./target.ts";

/** Opens the client of a dry run; undefined without a trusted profile or a key. */
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
 * Prints who can read the pairs of a dry run, and refuses pairs that the upload would refuse.
 * Without a trusted profile and a key it sends no request. A failed listing is only a note: a
 * dry run does not need the service. Throws as refuseAccess().
 */
export async function checkPlannedPairs(
  context: Context,
  session: Session,
  ccPairIds: readonly number[],
  rules: AccessRules,
): Promise<void> {
  if (ccPairIds.length === 0) return;
  const { output } = session;
  const place = placeText(session.source.config, session.targets.baseUrl);
  const opened = await clientFor(context, session);
  const required = rules.required.join(" or ");
  const unchecked = required === "" ? "" : `; the upload needs a pair of access type ${required}`;
  if (!opened) {
    if (required !== "") await output.note(`the access type was not checked${unchecked}`);
    return;
  }
  try {
    await createPairCheck(opened.client, rules, { policy: "listOnce", place })(
      ccPairIds,
      output,
      "nothing was sent",
    );
  } catch (error) {
    context.signal.throwIfAborted();
    const isListingFailure = error instanceof Error && error.cause instanceof ApiError;
    if (!isListingFailure && !(error instanceof ApiError)) throw error;
    await output.note(
      `cannot determine who can read the documents${unchecked}: ${messageOf(error)}`,
    );
  } finally {
    await opened.close();
  }
}
