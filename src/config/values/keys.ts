import { CliError } from "../../errors.ts";
import type { Machine } from "../find/folders.ts";
import type { Layer, Merged } from "./layers.ts";
import { secretMembers } from "./members.ts";
import { resolveSecret, type Resolved } from "./secrets.ts";
import type { Secret } from "./schema.ts";
import { parseBaseUrl } from "./url.ts";

const members = ["accessToken", "apiKey"] as const;
type Member = (typeof members)[number];

export interface KeyRequest {
  merged: Merged;
  machine: Machine;
  profile: string;
  /** Origin of the requests that carry the keys. */
  origin: string;
  warn: (message: string) => void;
}

function ownOrigin(layer: Layer): string | undefined {
  try {
    return layer.values.baseUrl === undefined
      ? undefined
      : parseBaseUrl(layer.values.baseUrl).origin;
  } catch {
    return undefined;
  }
}

/**
 * The error for a stored key that may not go to this origin, or undefined.
 *
 * | the key is            | goes to                                              |
 * |-----------------------|------------------------------------------------------|
 * | in the environment, or `{env}` | any base URL in effect                      |
 * | literal in a file     | the origin of the baseUrl beside it, nowhere else    |
 * | `{file}`, `{command}` | the same; without a baseUrl beside it, anywhere      |
 */
export function misdirected(
  secret: Secret | undefined,
  path: readonly string[],
  layer: Layer,
  request: KeyRequest,
): CliError | undefined {
  if (!layer.file || secret === undefined) return undefined;
  if (typeof secret === "object" && "env" in secret) return undefined;
  const home = ownOrigin(layer);
  if (home === request.origin) return undefined;
  if (home === undefined && typeof secret === "object") return undefined;
  const belongs = home === undefined ? "has no baseUrl beside it" : `belongs to ${home}`;
  return new CliError(
    "not-configured",
    `the stored ${path.join(".")} of profile "${request.profile}" (${layer.where([...path])}) ${belongs}; it is not sent to ${request.origin}`,
    {
      hints: [
        "use the profile of that service: --profile NAME",
        `or store a key for this address, in a profile of its own: knowctl login --profile NAME --base-url ${request.origin}`,
        "a key in KNOWCTL_API_KEY goes to any base URL that you set",
      ],
    },
  );
}

function noKey(request: KeyRequest, missing: readonly string[]): CliError {
  const empty = (["KNOWCTL_ACCESS_TOKEN", "KNOWCTL_API_KEY"] as const).filter(
    (name) => request.machine.env[name]?.trim() === "",
  );
  const reasons = [...missing, ...empty.map((name) => `${name} is empty`)];
  const why = reasons.length > 0 ? reasons.join(", ") : `profile "${request.profile}" has none`;
  return new CliError("not-configured", `no key for ${request.origin}: ${why}`, {
    hints: [
      "store one: knowctl login",
      "or set KNOWCTL_API_KEY (KNOWCTL_ACCESS_TOKEN for a separate chat and admin token)",
    ],
  });
}

/** The keys of a profile that could be read. */
export interface ReadableKeys {
  keys: string[];
  /** Secrets that were not read: `apiKey`. */
  unread: string[];
}

/**
 * Reads the keys of a profile, for commands that send none: from variables, files and literals,
 * without running a program. Skips an unset key. Never throws for a key that cannot be read.
 */
export async function readKeys(request: Omit<KeyRequest, "origin">): Promise<ReadableKeys> {
  const { values, winners } = request.merged;
  const found: ReadableKeys = { keys: [], unread: [] };
  for (const member of secretMembers) {
    const [layer, secret] = [winners.get(member), values[member]];
    if (!layer || secret === undefined) continue;
    if (typeof secret === "object" && "command" in secret) {
      found.unread.push(member);
      continue;
    }
    try {
      const resolved = await resolveSecret(secret, [member], layer, request.machine, () => {});
      if ("key" in resolved) found.keys.push(resolved.key);
    } catch (error) {
      if (!(error instanceof CliError)) throw error;
      found.unread.push(member);
    }
  }
  return found;
}

interface Outcome {
  resolved?: Resolved;
  refused?: CliError;
  fromEnvironment: boolean;
  /** Where the key is set: a variable, or a place in a file. */
  where?: string;
}

async function outcomeOf(member: Member, request: KeyRequest): Promise<Outcome> {
  const layer = request.merged.winners.get(member);
  const secret = request.merged.values[member];
  if (!layer || secret === undefined) return { fromEnvironment: false };
  const refused = misdirected(secret, [member], layer, request);
  if (refused) return { refused, fromEnvironment: false };
  const resolved = await resolveSecret(secret, [member], layer, request.machine, request.warn);
  return { resolved, fromEnvironment: layer.source === "env", where: layer.where([member]) };
}

/** Both keys of requests, and where each is set. */
export interface Keys extends Record<Member, string> {
  keyOrigins: Record<Member, string>;
}

/**
 * The two keys of a request; a single key serves as both. Throws CliError
 * `not-configured` when there is no key, or when a stored key belongs to another
 * origin and the environment sets no key.
 */
export async function resolveKeys(request: KeyRequest): Promise<Keys> {
  const accessToken = await outcomeOf("accessToken", request);
  const apiKey = await outcomeOf("apiKey", request);
  const both = [accessToken, apiKey];
  const keyOf = ({ resolved }: Outcome): string | undefined =>
    resolved && "key" in resolved ? resolved.key : undefined;
  // The user set an environment key for this address: it may replace a stored key of another origin.
  const refused = both.find((each) => each.refused)?.refused;
  if (refused && !both.some((each) => each.fromEnvironment && keyOf(each))) throw refused;
  const first = both.find((each) => keyOf(each) !== undefined);
  if (first === undefined) {
    const missing = both.flatMap(({ resolved }) =>
      resolved && "missing" in resolved ? [resolved.missing] : [],
    );
    throw noKey(request, missing);
  }
  const own = (outcome: Outcome): Outcome => (keyOf(outcome) === undefined ? first : outcome);
  const used = { accessToken: own(accessToken), apiKey: own(apiKey) };
  return {
    accessToken: keyOf(used.accessToken) ?? "",
    apiKey: keyOf(used.apiKey) ?? "",
    keyOrigins: { accessToken: used.accessToken.where ?? "", apiKey: used.apiKey.where ?? "" },
  };
}
