import type { Client } from "../../api/client.ts";
import { listConnectors } from "../../api/connectors.ts";
import { dialects, type DialectName } from "../../api/dialects.ts";
import { ServiceVersion } from "../../api/service-version.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { loadConfig } from "../../config/load.ts";
import { keyWithoutScheme, type KeyOrigin } from "../../config/values/secrets.ts";
import type { Context } from "../../context.ts";
import { ApiError, CliError, reworded } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { whileWaiting } from "../../output/terminal/spinner.ts";
import type { Prompt } from "../prompt.ts";

/** Says where a person gets a key: of this dialect, or of each if it is not known yet. */
export async function noteKeyOrigin(
  output: Output,
  dialect: DialectName | undefined,
): Promise<void> {
  if (dialect !== undefined) return await output.note(`A key: ${dialects[dialect].keyOrigin}`);
  await output.note("Where a key is made:");
  for (const { name, keyOrigin } of Object.values(dialects)) {
    await output.note(`  ${name}: ${keyOrigin}`);
  }
}

/**
 * Returns a key that a header can hold, after a question without a copied `Bearer ` prefix. Throws
 * CliError `not-configured` for any other text.
 */
export async function checkKeyText(prompt: Prompt, text: string): Promise<string> {
  const bare = keyWithoutScheme(text);
  const prefix = 'begins with "Bearer ", which is not part of';
  if (bare !== undefined && !(await prompt.confirm(`The key ${prefix} it. Remove it?`))) {
    throw new CliError("not-configured", `the key ${prefix} it`, {
      hints: ["enter the key without the prefix; nothing was saved"],
    });
  }
  const key = bare ?? text;
  if (/^[\u0021-\u007e]+$/.test(key)) return key;
  const why =
    key === ""
      ? "the key is empty"
      : "this is not a key: it holds spaces, line breaks or other invalid characters";
  throw new CliError("not-configured", why, { hints: ["a key is one word; nothing was saved"] });
}

// Only an `onyx` deployment answers this request, even without a key (observed-service.md 5).
async function isOnyx(client: Client): Promise<boolean> {
  const path = client.dialect.paths.version;
  if (path === undefined) return false;
  try {
    await client.call(
      { what: "read the version", policy: "list", method: "GET", path, key: "accessToken" },
      ServiceVersion,
    );
    return true;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Status 200 is a page of the web interface instead of JSON: the path does not exist.
    if (error.exit === "not-found" || error.status === 200) return false;
    if (error.exit !== "auth" && error.exit !== "server-error") throw error;
    // A refused or failed request does not identify the dialect.
    const hints = ["set it: --dialect standard, or --dialect onyx", ...error.hints];
    throw reworded(error, `cannot detect the dialect of the service: ${error.message}`, hints);
  }
}

export interface TestOptions extends GlobalFlags {
  /** False for `--no-check`: no request is sent. */
  check?: boolean;
}

/** What a profile gets. */
export interface Answers {
  baseUrl: string;
  dialect: DialectName | undefined;
  /** Used for every request, except chat and administration if `accessToken` is set. */
  apiKey: string;
  accessToken: string | undefined;
  /** Where the keys come from, if not from variables. */
  keyOrigin?: KeyOrigin | undefined;
  /** Undefined while it is not chosen: no settings of a profile apply. */
  profile: string | undefined;
}

export const fromStdin: KeyOrigin = { name: "stdin", remedy: "pipe another one" };
export const fromTerminal: KeyOrigin = { name: "your input", remedy: "enter another one" };

// No profile can have this name.
const noProfile = "(none yet)";

/** Applies every safety rule to the answers and, unless `--no-check`, sends a request. Returns the dialect. */
export async function testConnection(
  context: Context,
  options: TestOptions,
  { profile = noProfile, baseUrl, dialect, apiKey, accessToken, keyOrigin }: Answers,
  output: Output,
): Promise<DialectName> {
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
  const connection = await config.connection();
  if (keyOrigin) connection.keyOrigins = { accessToken: keyOrigin, apiKey: keyOrigin };
  for (const warning of warnings) await output.warn(warning);
  if (options.check === false) return dialect ?? "standard";
  const { openClient } = await import("../connect.ts");
  const { client } = await openClient(context, output, {
    ...config,
    connection: () => Promise.resolve(connection),
  });
  try {
    const label = `testing the connection to ${baseUrl}`;
    const [{ length }, found] = await whileWaiting(
      output,
      label,
      async () =>
        [
          // The listing has the same path in both dialects, so a wrong key or address fails here.
          await listConnectors(client),
          dialect ?? ((await isOnyx(client)) ? "onyx" : "standard"),
        ] as const,
    );
    const how = dialect ? "as set" : "detected";
    await output.note(`connected to ${baseUrl}: ${length} connectors, dialect ${found} (${how})`);
    return found;
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
