import type { Client } from "../../../../api/client.ts";
import { createGate, type Gate } from "../../../../api/retry/gate.ts";
import type { EvalCase } from "../../../../checks/eval/suite/suite.ts";
import type { GlobalFlags } from "../../../../config/global-flags.ts";
import type { Context } from "../../../../context.ts";
import type { Output } from "../../../../output/terminal/output.ts";
import type { Connected } from "../../../connect.ts";
import { openProfile } from "../../../verify/look/readers.ts";

/** A client with the gate of its requests: the key of one reader does not stop the others. */
export interface Asking {
  client: Client;
  gate: Gate;
}

export interface Clients {
  /** The profile of the run. */
  own: Asking;
  /** The client that asks a case: the reader's, or the own one. */
  of(evalCase: EvalCase): Asking;
  close(): Promise<void>;
}

/**
 * Opens a client for each profile that the cases name. Throws CliError `usage` for a profile with
 * the key of the run, or of another service, and the errors of the configuration.
 */
export async function openClients(
  context: Context,
  { client, connection, output }: Connected & { output: Output },
  cases: readonly EvalCase[],
  { flags, concurrency }: { flags: GlobalFlags; concurrency: number },
): Promise<Clients> {
  const asking = (each: Client): Asking => ({
    client: each,
    gate: createGate({ ceiling: concurrency, clock: context, signal: context.signal }),
  });
  const own = asking(client);
  const readers = new Map<string, Asking>();
  const close = async (): Promise<void> => {
    for (const each of readers.values()) await each.client.close();
  };
  try {
    for (const { profile, place } of cases) {
      if (profile === undefined || readers.has(profile)) continue;
      const given = `${place.file}:${place.line}: profile`;
      const request = { profile, given, own: connection, flags };
      readers.set(profile, asking(await openProfile(context, output, request)));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { own, of: ({ profile = "" }) => readers.get(profile) ?? own, close };
}
