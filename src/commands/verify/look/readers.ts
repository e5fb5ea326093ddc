import type { Client } from "../../../api/client.ts";
import type { GlobalFlags } from "../../../config/global-flags.ts";
import type { Connection } from "../../../config/load.ts";
import type { Context } from "../../../context.ts";
import { CliError } from "../../../errors.ts";
import type { Output } from "../../../output/terminal/output.ts";
import { loadSettings, openClient } from "../../connect.ts";
import type { Session } from "../../ingest/session.ts";
import type { VerifyOptions } from "../verify-options.ts";

export interface ReaderRequest {
  /** Name of the reader's profile. */
  profile: string;
  /** Where the profile is named, for messages: `--reader`. */
  given: string;
  /** The connection that the reader's view is compared with. */
  own: Connection;
  flags: GlobalFlags;
  /** Where the upward search for a project file starts. */
  root?: string | undefined;
}

/**
 * Opens the client of another reader of the same service. Keys of the environment belong to the
 * profile of the run, not to the reader. Throws CliError `usage` when the reader has the same key,
 * or another service: then a comparison proves nothing.
 */
export async function openProfile(
  context: Context,
  output: Output,
  { profile, given, own, flags, root }: ReaderRequest,
): Promise<Client> {
  const { KNOWCTL_API_KEY: _key, KNOWCTL_ACCESS_TOKEN: _token, ...env } = context.env;
  const asReader = { ...context, env };
  const settings = loadSettings(asReader, { ...flags, profile }, output, { sends: true, root });
  const config = await settings.catch((error: unknown) => {
    if (!(error instanceof CliError)) throw error;
    const message = error.message.replace(/^--profile(?=: )/, given);
    const { hints, details } = error;
    throw new CliError(error.exit, message, { hints, details, cause: error });
  });
  const { client, connection } = await openClient(asReader, output, config);
  const problem =
    connection.baseUrl !== own.baseUrl
      ? `${given} ${profile}: the profile has another service, ${connection.baseUrl}`
      : connection.accessToken === own.accessToken
        ? `${given} ${profile}: the profile has the same key as the one that checks`
        : undefined;
  if (problem === undefined) return client;
  await client.close();
  throw new CliError("usage", problem, {
    hints: ["name a profile with the key of another person or account of the same service"],
  });
}

/** Opens the client of `--reader PROFILE`; undefined without it. Throws as openProfile(). */
export async function openReader(
  context: Context,
  output: Output,
  session: Session,
  options: VerifyOptions,
): Promise<Client | undefined> {
  const { reader: profile } = options;
  if (profile === undefined || !session.connected) return undefined;
  const own = session.connected.connection;
  const { root } = session.source.settings;
  const request = { profile, given: "--reader", own, flags: options, root };
  return await openProfile(context, output, request);
}
