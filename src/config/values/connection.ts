import { CliError } from "../../errors.ts";
import { userFolder, type Machine } from "../find/folders.ts";
import { resolveHeaders } from "./headers.ts";
import { resolveKeys, type KeyRequest } from "./keys.ts";
import type { ConfigFile, Merged } from "./layers.ts";
import { exitFor, givenProxy, proxyOf, tlsFilesOf, unreadable, type Network } from "./network.ts";
import { AddressProblem, addressHint, isLoopback, parseBaseUrl, type BaseUrl } from "./url.ts";

/** Address, keys and network settings of every request. */
export interface Connection extends Network {
  /** Origin and optional path prefix; no trailing slash, no `/api`. */
  baseUrl: string;
  accessToken: string;
  apiKey: string;
  /** Where each key is set: a variable, or a place in a file. */
  keyOrigins: Readonly<Record<"accessToken" | "apiKey", string>>;
  /** Further headers of every request, by lower-case name. */
  headers?: Readonly<Record<string, string>>;
  allowInsecureTls: boolean;
}

export interface ConnectionRequest {
  merged: Merged;
  files: readonly ConfigFile[];
  machine: Machine;
  profile: string;
  /** Why no request may be sent, see refusedTrust(). */
  refused: CliError | undefined;
  warn: (message: string) => void;
}

function nothingConfigured(request: ConnectionRequest): CliError {
  const known = request.files.some((file) => file.content.profiles);
  return new CliError(
    "not-configured",
    known ? `profile "${request.profile}" has no base URL` : "no service is configured yet",
    {
      hints: [
        known
          ? "see the settings: knowctl config show --origin"
          : "connect to a service: knowctl config init",
        "or pass one: --base-url URL (KNOWCTL_BASE_URL) with the key in KNOWCTL_API_KEY",
        "or try it without an account: knowctl try",
      ],
    },
  );
}

function baseUrlOf(request: ConnectionRequest): BaseUrl {
  const { values, winners } = request.merged;
  if (values.baseUrl === undefined) throw nothingConfigured(request);
  const layer = winners.get("baseUrl");
  try {
    return parseBaseUrl(values.baseUrl);
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError(exitFor(layer), `${layer?.where(["baseUrl"])}: ${error.message}`, {
      hints: [`${addressHint(values.baseUrl)}, with a path only if the service has one`],
    });
  }
}

function checkHttp(base: BaseUrl, request: ConnectionRequest): void {
  if (base.isHttps || isLoopback(base.hostname) || request.merged.values.allowHttp === true) return;
  const where = request.merged.winners.get("baseUrl")?.where(["baseUrl"]);
  throw new CliError(
    "not-configured",
    `${where}: a key is not sent to ${base.origin} over plain http`,
    {
      hints: [
        "use https://",
        `or, where the network is safe, "allowHttp": true in profile "${request.profile}" of your user file (${userFolder(request.machine)}); a project file cannot set it`,
      ],
    },
  );
}

function checkTls(request: ConnectionRequest): boolean {
  const { env } = request.machine;
  const extra = env["NODE_EXTRA_CA_CERTS"];
  const problem = extra ? unreadable(extra) : undefined;
  if (problem)
    request.warn(
      `NODE_EXTRA_CA_CERTS names ${extra}, which cannot be read (${problem}): it adds no certificates`,
    );
  if (env["NODE_TLS_REJECT_UNAUTHORIZED"] !== "0") return false;
  if (request.merged.values.allowInsecureTls !== true) {
    throw new CliError(
      "not-configured",
      "NODE_TLS_REJECT_UNAUTHORIZED=0 would send keys to anyone who answers",
      {
        hints: [
          "unset it, and add your certificate authority with --ca-file or NODE_EXTRA_CA_CERTS",
          `to accept it anyway: "allowInsecureTls": true in profile "${request.profile}" of your user file`,
        ],
      },
    );
  }
  request.warn(
    "certificates are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0): keys can be stolen in transit",
  );
  return true;
}

async function headersOf(request: KeyRequest): Promise<Pick<Connection, "headers">> {
  return request.merged.values.headers ? { headers: await resolveHeaders(request) } : {};
}

/**
 * Resolves the address, the keys and the headers of requests, after every safety rule. Reads the
 * variables, files and commands that hold keys; nothing reads them earlier.
 * Throws CliError `not-configured` (or `usage` for a wrong flag).
 */
export async function openConnection(request: ConnectionRequest): Promise<Connection> {
  if (request.refused) throw request.refused;
  const base = baseUrlOf(request);
  const allowInsecureTls = checkTls(request);
  checkHttp(base, request);
  if (isLoopback(base.hostname) && request.merged.winners.get("proxy")?.source === "flag") {
    request.warn(`--proxy is ignored: ${base.hostname} is this machine`);
  }
  const proxy = proxyOf(base, givenProxy(request.merged), request.machine.env);
  const files = await tlsFilesOf(request);
  const keys = await resolveKeys({ ...request, origin: base.origin });
  const headers = await headersOf({ ...request, origin: base.origin });
  return { baseUrl: base.baseUrl, ...keys, ...headers, ...proxy, ...files, allowInsecureTls };
}
