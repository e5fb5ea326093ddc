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

/** Says why the access type was not checked; false where the service did not answer. */
async function checkAccess(
  context: Context,
  { output, source, targets }: Session,
  client: Client,
  ccPairIds: readonly number[],
  rules: AccessRules,
): Promise<boolean> {
  const place = placeText(source.config, targets.baseUrl);
  const check = createPairCheck(client, rules, { policy: "listOnce", place });
  try {
    await check(ccPairIds, output, "nothing was sent");
    return true;
  } catch (error) {
    context.signal.throwIfAborted();
    const isListingFailure = error instanceof Error && error.cause instanceof ApiError;
    if (!isListingFailure && !(error instanceof ApiError)) throw error;
    await output.note(
      `cannot determine who can read the documents${uncheckedText(rules)}: ${messageOf(error)}`,
    );
    return false;
  }
}

function uncheckedText({ required }: AccessRules): string {
  return required.length === 0
    ? ""
    : `; the upload needs a pair of access type ${required.join(" or ")}`;
}

/**
 * Prints who can read the pairs of a dry run, and refuses pairs that the upload would refuse; then
 * calls `withClient`. Without a trusted profile and a key it sends no request. A failed listing is
 * only a note: a dry run does not need the service. Throws as refuseAccess().
 */
export async function checkPlannedPairs(
  context: Context,
  session: Session,
  ccPairIds: readonly number[],
  rules: AccessRules,
  withClient: (client: Client) => Promise<void> = async () => {},
): Promise<void> {
  if (ccPairIds.length === 0) return;
  const opened = await clientFor(context, session);
  if (!opened) {
    if (rules.required.length === 0) return;
    return await session.output.note(`the access type was not checked${uncheckedText(rules)}`);
  }
  try {
    if (await checkAccess(context, session, opened.client, ccPairIds, rules)) {
      await withClient(opened.client);
    }
  } finally {
    await opened.close();
  }
}
