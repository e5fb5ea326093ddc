import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { Output } from "../../output/terminal/output.ts";
import type { SessionPlace } from "../chat/session/find-session.ts";
import { connect, type Connected } from "../connect.ts";

/** A connection, and the session index of this machine. */
export interface Place extends SessionPlace, Connected {
  output: Output;
}

/** Connects for one command, and closes the connection after `use`. */
export async function withPlace(
  context: Context,
  options: GlobalFlags,
  use: (place: Place) => Promise<void>,
): Promise<void> {
  const connected = await connect(context, options);
  const { client, config, connection } = connected;
  const owner = { profile: config.profile, baseUrl: connection.baseUrl };
  try {
    await use({ ...connected, env: context.env, owner });
  } finally {
    await client.close();
  }
}
