import type { DialectName } from "../../api/dialects.ts";
import { loadConfig } from "../../config/load.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { whileWaiting } from "../../output/terminal/spinner.ts";
import type { Answers, InitOptions } from "./init-questions.ts";

/** Applies every safety rule to the answers and, unless `--no-check`, sends a request. Returns the dialect. */
export async function testConnection(
  context: Context,
  options: InitOptions,
  answers: Answers,
  output: Output,
): Promise<DialectName> {
  const { profile, baseUrl, dialect, apiKey, accessToken } = answers;
  const warnings: string[] = [];
  const config = await loadConfig({
    cwd: context.cwd,
    uid: context.uid,
    // The keys have the same limits as keys from the environment.
    env: { ...context.env, KNOWCTL_API_KEY: apiKey, KNOWCTL_ACCESS_TOKEN: accessToken },
    flags: { ...options, profile, baseUrl, dialect: dialect ?? "onyx" },
    sends: true,
    userOnly: true,
    mayBeNew: true,
    warn: (message) => warnings.push(message),
  });
  await config.connection();
  for (const warning of warnings) await output.warn(warning);
  if (options.check === false) return dialect ?? "standard";
  const { openClient } = await import("../connect.ts");
  const { detectService } = await import("./detect.ts");
  const { client } = await openClient(context, output, config);
  try {
    const label = `testing the connection to ${baseUrl}`;
    const found = await whileWaiting(output, label, () => detectService(client, dialect));
    const how = dialect ? "as set" : "detected";
    await output.note(
      `connected to ${baseUrl}: ${found.connectors.length} connectors, dialect ${found.dialect} (${how})`,
    );
    return found.dialect;
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    throw new CliError(error.exit, error.message, {
      details: error.details,
      hints: [...error.hints, "nothing was saved; to save without a test: --no-check"],
      cause: error,
    });
  } finally {
    await client.close();
  }
}
