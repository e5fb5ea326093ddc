import type { Client } from "../../api/client.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { loadSettings, openClient } from "../connect.ts";
import type { Session } from "../ingest/session.ts";
import type { VerifyOptions } from "./verify-options.ts";

/**
 * Opens the client of `--reader PROFILE`; undefined without it. Keys of the environment belong to
 * the profile itself, not to the reader. Throws CliError `usage` when the reader has the key of
 * the profile, or another service: then the comparison proves nothing.
 */
export async function openReader(
  context: Context,
  output: Output,
  session: Session,
  options: VerifyOptions,
): Promise<Client | undefined> {
  const { reader } = options;
  if (reader === undefined || !session.connected) return undefined;
  const { KNOWCTL_API_KEY: _key, KNOWCTL_ACCESS_TOKEN: _token, ...env } = context.env;
  const asReader = { ...context, env };
  const flags = { ...options, profile: reader };
  const root = session.source.settings.root;
  const config = await loadSettings(asReader, flags, output, { sends: true, root });
  const { client, connection } = await openClient(asReader, output, config);
  const own = session.connected.connection;
  const problem =
    connection.baseUrl !== own.baseUrl
      ? `--reader ${reader}: the profile has another service, ${connection.baseUrl}`
      : connection.accessToken === own.accessToken
        ? `--reader ${reader}: the profile has the same key as the one that checks`
        : undefined;
  if (problem === undefined) return client;
  await client.close();
  throw new CliError("usage", problem, {
    hints: ["name a profile with the key of another person or account of the same service"],
  });
}
