import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { SessionPlace } from "../chat/session/find-session.ts";
import { withConnection, type Connected } from "../connect.ts";

/** A connection, and the session index of this machine. */
export interface Place extends SessionPlace, Connected {}

/** Connects for one command, and closes the connection after `use`. */
export async function withPlace(
  context: Context,
  options: GlobalFlags,
  use: (place: Place) => Promise<void>,
): Promise<void> {
  await withConnection(context, options, async (connected) => {
    const owner = { profile: connected.config.profile, baseUrl: connected.connection.baseUrl };
    await use({ ...connected, env: context.env, owner });
  });
}
