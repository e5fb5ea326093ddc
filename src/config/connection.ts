import { accessSync, constants } from "node:fs";
import { CliError, codeOf, type ExitName } from "../errors.ts";
import { expandPath, userFolder, type Machine } from "./folders.ts";
import { resolveKeys } from "./keys.ts";
import type { ConfigFile, Layer, Merged } from "./layers.ts";
import { claimsOf, untrusted } from "./trust.ts";
import { AddressProblem, isLoopback, parseBaseUrl, parseProxy, type BaseUrl } from "./url.ts";

/** Everything that a request needs to know about where it goes. */
export interface Connection {
  /** Origin and optional path prefix; no trailing slash, no `/api`. */
  baseUrl: string;
  accessToken: string;
  apiKey: string;
  proxy?: string;
  noProxy?: string;
  /** Absolute path. */
  caFile?: string;
  allowInsecureTls: boolean;
}

export interface ConnectionRequest {
  merged: Merged;
  files: readonly ConfigFile[];
  machine: Machine;
  profile: string;
  warn: (message: string) => void;
}

// What a flag says wrongly is a usage error; everywhere else it is the configuration.
function exitFor(layer: Layer | undefined): ExitName {
  return layer?.source === "flag" ? "usage" : "not-configured";
}

function nothingConfigured(request: ConnectionRequest): CliError {
  const known = request.files.some((file) => file.content.profiles);
  return new CliError(
    "not-configured",
    known ? `profile "${request.profile}" has no base URL` : "no service is configured yet",
    {
      hints: [
        known
          ? "see what is set: knowctl config show --origin"
          : "connect to a service: knowctl config init",
        "or give one: --base-url URL (KNOWCTL_BASE_URL) with the key in KNOWCTL_API_KEY",
        "or try everything without an account: knowctl sandbox",
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
      hints: [
        "give it like https://assistant.example.com, with a path only if the service has one",
      ],
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
        `or, where the network is safe, "allowHttp": true in profile "${request.profile}" of your user file (${userFolder(request.machine)}); in a project file it does not count`,
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
          `to accept it all the same: "allowInsecureTls": true in profile "${request.profile}" of your user file`,
        ],
      },
    );
  }
  request.warn(
    "certificates are not checked (NODE_TLS_REJECT_UNAUTHORIZED=0): keys can be stolen on the way",
  );
  return true;
}

function unreadable(path: string): string | undefined {
  try {
    accessSync(path, constants.R_OK);
    return undefined;
  } catch (error) {
    return codeOf(error) ?? "unknown failure";
  }
}

function caFileOf(request: ConnectionRequest): string | undefined {
  const { caFile } = request.merged.values;
  const layer = request.merged.winners.get("caFile");
  if (caFile === undefined || !layer) return undefined;
  const path = expandPath(caFile, layer.folder, request.machine.home);
  const problem = unreadable(path);
  if (!problem) return path;
  throw new CliError(
    exitFor(layer),
    `${layer.where(["caFile"])}: cannot read the CA file ${path} (${problem})`,
  );
}

function checkedProxy(address: string, where: string, exit: ExitName): string {
  try {
    return parseProxy(address);
  } catch (error) {
    if (!(error instanceof AddressProblem)) throw error;
    throw new CliError(exit, `${where}: ${error.message}`, {
      hints: ["give it like http://proxy.example.com:8080, or unset it"],
    });
  }
}

/**
 * The proxy: flag, variable or profile; else the conventional variable of the
 * scheme, in lower case first as curl reads it, and never for loopback. ALL_PROXY
 * is not read. NO_PROXY is passed on for the client to apply.
 */
function proxyOf(base: BaseUrl, request: ConnectionRequest): { proxy?: string; noProxy?: string } {
  const { env } = request.machine;
  const noProxy = env["no_proxy"] ?? env["NO_PROXY"];
  const rest = noProxy ? { noProxy } : {};
  const layer = request.merged.winners.get("proxy");
  const { proxy } = request.merged.values;
  if (proxy !== undefined && layer) {
    return { proxy: checkedProxy(proxy, layer.where(["proxy"]), exitFor(layer)), ...rest };
  }
  const names = base.isHttps ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy", "HTTP_PROXY"];
  const name = names.find((each) => env[each]);
  if (!name) return {};
  const found = checkedProxy(env[name] ?? "", name, "not-configured");
  return isLoopback(base.hostname) ? {} : { proxy: found, ...rest };
}

/**
 * Decides where requests go and with which keys, after every safety rule.
 * Variables, files and commands that hold keys are read here and nowhere before.
 * Throws CliError `not-configured` (or `usage` for what a flag says).
 */
export async function openConnection(request: ConnectionRequest): Promise<Connection> {
  const foreign = request.files.find((file) => !file.trusted && claimsOf(file.content).length > 0);
  if (foreign) throw untrusted(foreign);
  const base = baseUrlOf(request);
  const allowInsecureTls = checkTls(request);
  checkHttp(base, request);
  const proxy = proxyOf(base, request);
  const caFile = caFileOf(request);
  const keys = await resolveKeys({ ...request, origin: base.origin });
  return { baseUrl: base.baseUrl, ...keys, ...proxy, ...(caFile && { caFile }), allowInsecureTls };
}
