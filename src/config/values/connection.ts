import { accessSync, constants } from "node:fs";
import { CliError, codeOf, type ExitName, fileProblem } from "../../errors.ts";
import { checkPrivate } from "../file/files.ts";
import { expandPath, userFolder, type Environment } from "../find/folders.ts";
import type { ConfigFile, Layer, Merged } from "./layers.ts";
import {
  resolveHeaders,
  resolveKeys,
  resolveSecret,
  type KeyRequest,
  type Keys,
  type SecretRequest,
} from "./secrets.ts";
import {
  AddressProblem,
  addressHint,
  isLoopback,
  parseBaseUrl,
  parseProxy,
  type BaseUrl,
} from "./url.ts";

/** How connections are opened. Paths are absolute. */
export interface Network {
  proxy?: string;
  noProxy?: string;
  caFile?: string;
  clientCert?: string;
  /** Equals `clientCert` if that file holds both. */
  clientKey?: string;
  clientKeyPassphrase?: string;
}

// A wrong flag is a usage error; a wrong value of any other source is a configuration error.
function exitFor(layer: Layer | undefined): ExitName {
  return layer?.source === "flag" ? "usage" : "not-configured";
}

function unreadable(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return fileProblem(codeOf(error));
  }
}

/** Variables that name a proxy; the first set one wins. Lower case comes before upper case, as in curl. */
export function proxyVariables(isHttps: boolean): string[] {
  const own = isHttps ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  return [...own, "all_proxy", "ALL_PROXY"];
}

function checkedProxy(address: string, where: string, exit: ExitName): string {
  try {
    return parseProxy(address);
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    const other =
      "keep the SOCKS proxy for other programs, and name an http one: HTTPS_PROXY or --proxy";
    throw new CliError(exit, `${where}: ${error.message}`, {
      hints: [
        "write it like http://proxy.example.com:8080, or unset it",
        ...(/^\s*socks/i.test(address) ? [other] : []),
      ],
    });
  }
}

/**
 * The proxy for an address: that of a flag, its variable or the profile, else the conventional
 * variable of its scheme, else ALL_PROXY. Loopback ignores the conventional variables. NO_PROXY is
 * returned for the client to apply. Throws CliError for an invalid proxy address, and never repeats
 * that address.
 */
export function proxyOf(
  service: { isHttps: boolean; hostname: string },
  merged: Merged,
  env: Environment,
): Pick<Network, "proxy" | "noProxy"> {
  const noProxy = env["no_proxy"] ?? env["NO_PROXY"];
  const rest = noProxy ? { noProxy } : {};
  const given = merged.values.proxy;
  const layer = merged.winners.get("proxy");
  if (given !== undefined && layer)
    return { proxy: checkedProxy(given, layer.where(["proxy"]), exitFor(layer)), ...rest };
  const name = proxyVariables(service.isHttps).find((each) => env[each]);
  if (!name) return {};
  const isHere = isLoopback(service.hostname);
  // Skip the check: ALL_PROXY often names a kind of proxy that this tool does not support.
  if (isHere && name.toLowerCase() === "all_proxy") return {};
  const found = checkedProxy(env[name] ?? "", name, "not-configured");
  return isHere ? {} : { proxy: found, ...rest };
}

const fileWords = {
  caFile: "the CA file",
  clientCert: "the client certificate",
  clientKey: "the key of the client certificate",
};

function fileOf(
  member: keyof typeof fileWords,
  { merged, machine }: SecretRequest,
): string | undefined {
  const given = merged.values[member];
  const layer = merged.winners.get(member);
  if (given === undefined || !layer) return undefined;
  const path = expandPath(given, layer.folder, machine.home);
  const problem = unreadable(path);
  if (!problem) return path;
  const message = `${layer.where([member])}: cannot read ${fileWords[member]} ${path} (${problem})`;
  throw new CliError(exitFor(layer), message, { hints: ["check the path and the permissions"] });
}

/**
 * The TLS files of flags, variables and the profile. Checks that they are readable,
 * and that the key of a client certificate is private. Throws CliError
 * `not-configured` (or `usage` for a wrong flag).
 */
export async function tlsFilesOf(request: SecretRequest): Promise<Network> {
  const { merged, machine, warn } = request;
  const caFile = fileOf("caFile", request);
  const network = caFile === undefined ? {} : { caFile };
  const clientCert = fileOf("clientCert", request);
  const own = fileOf("clientKey", request);
  if (clientCert === undefined) {
    if (own === undefined) return network;
    const layer = merged.winners.get("clientKey");
    const where = layer?.where(["clientKey"]);
    throw new CliError(exitFor(layer), `${where}: a key without a client certificate`, {
      hints: ["name the certificate as well: --client-cert (clientCert)"],
    });
  }
  const clientKey = own ?? clientCert;
  checkPrivate(clientKey, { uid: machine.uid, holdsKey: true, rootToo: true, warn });
  const passphrase = await resolveSecret(request, ["clientKeyPassphrase"]);
  if (passphrase && "missing" in passphrase) {
    const message = `no passphrase for the client key: ${passphrase.missing}`;
    throw new CliError("not-configured", message, {
      hints: ["set it, or remove clientKeyPassphrase if the key has no passphrase"],
    });
  }
  const secret = passphrase && { clientKeyPassphrase: passphrase.key };
  return { ...network, clientCert, clientKey, ...secret };
}

/** Address, keys and network settings of every request. */
export interface Connection extends Network {
  /** Origin and optional path prefix; no trailing slash, no `/api`. */
  baseUrl: string;
  accessToken: string;
  apiKey: string;
  keyOrigins: Keys["keyOrigins"];
  /** Further headers of every request, by lower-case name. */
  headers?: Readonly<Record<string, string>>;
  allowInsecureTls: boolean;
}

export interface ConnectionRequest extends Omit<KeyRequest, "origin"> {
  files: readonly ConfigFile[];
  /** Why no request may be sent, see refusedTrust(). */
  refused: CliError | undefined;
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
  const proxy = proxyOf(base, request.merged, request.machine.env);
  const files = await tlsFilesOf(request);
  const keyRequest = { ...request, origin: base.origin };
  const keys = await resolveKeys(keyRequest);
  const headers = request.merged.values.headers && { headers: await resolveHeaders(keyRequest) };
  return { baseUrl: base.baseUrl, ...keys, ...headers, ...proxy, ...files, allowInsecureTls };
}
