import { accessSync, constants } from "node:fs";
import { CliError, codeOf, type ExitName, fileProblem } from "../../errors.ts";
import { checkPrivate } from "../file/files.ts";
import { expandPath, type Environment, type Machine } from "../find/folders.ts";
import type { Layer, Merged } from "./layers.ts";
import type { Profile } from "./schema.ts";
import { resolveSecret } from "./secrets.ts";
import { AddressProblem, isLoopback, parseProxy } from "./url.ts";

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

interface NetworkRequest {
  merged: Merged;
  machine: Machine;
  warn: (message: string) => void;
}

// A wrong flag is a usage error; a wrong value of any other source is a configuration error.
export function exitFor(layer: Layer | undefined): ExitName {
  return layer?.source === "flag" ? "usage" : "not-configured";
}

export function unreadable(path: string): string | undefined {
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
    throw new CliError(exit, `${where}: ${error.message}`, {
      hints: [
        "write it like http://proxy.example.com:8080, or unset it",
        ...(/^\s*socks/i.test(address)
          ? [
              "keep the SOCKS proxy for other programs, and name an http one: HTTPS_PROXY or --proxy",
            ]
          : []),
      ],
    });
  }
}

/**
 * The proxy for an address: `given` (flag, variable or profile), else the
 * conventional variable of its scheme, else ALL_PROXY. Loopback ignores the
 * conventional variables. NO_PROXY is returned for the client to apply. Throws
 * CliError for an invalid proxy address, and never repeats that address.
 */
export function proxyOf(
  service: { isHttps: boolean; hostname: string },
  given: { proxy: string; where: string; exit: ExitName } | undefined,
  env: Environment,
): Pick<Network, "proxy" | "noProxy"> {
  const noProxy = env["no_proxy"] ?? env["NO_PROXY"];
  const rest = noProxy ? { noProxy } : {};
  if (given) return { proxy: checkedProxy(given.proxy, given.where, given.exit), ...rest };
  const name = proxyVariables(service.isHttps).find((each) => env[each]);
  if (!name) return {};
  const isHere = isLoopback(service.hostname);
  // Skip the check: ALL_PROXY often names a kind of proxy that this tool does not support.
  if (isHere && name.toLowerCase() === "all_proxy") return {};
  const found = checkedProxy(env[name] ?? "", name, "not-configured");
  return isHere ? {} : { proxy: found, ...rest };
}

type FileMember = "caFile" | "clientCert" | "clientKey";
const fileWords: Record<FileMember, string> = {
  caFile: "the CA file",
  clientCert: "the client certificate",
  clientKey: "the key of the client certificate",
};

function fileOf(member: FileMember, { merged, machine }: NetworkRequest): string | undefined {
  const given = merged.values[member];
  const layer = merged.winners.get(member);
  if (given === undefined || !layer) return undefined;
  const path = expandPath(given, layer.folder, machine.home);
  const problem = unreadable(path);
  if (!problem) return path;
  const message = `${layer.where([member])}: cannot read ${fileWords[member]} ${path} (${problem})`;
  throw new CliError(exitFor(layer), message, { hints: ["check the path and the permissions"] });
}

async function passphraseOf(request: NetworkRequest): Promise<string | undefined> {
  const { merged, machine, warn } = request;
  const secret = merged.values.clientKeyPassphrase;
  const layer = merged.winners.get("clientKeyPassphrase");
  if (secret === undefined || !layer) return undefined;
  const resolved = await resolveSecret(secret, ["clientKeyPassphrase"], layer, machine, warn);
  if ("key" in resolved) return resolved.key;
  throw new CliError("not-configured", `no passphrase for the client key: ${resolved.missing}`, {
    hints: ["set it, or remove clientKeyPassphrase if the key has no passphrase"],
  });
}

async function clientOf(request: NetworkRequest): Promise<Network> {
  const { merged, machine, warn } = request;
  const clientCert = fileOf("clientCert", request);
  const own = fileOf("clientKey", request);
  if (clientCert === undefined) {
    const layer = merged.winners.get("clientKey");
    if (own === undefined || !layer) return {};
    const where = layer.where(["clientKey"]);
    throw new CliError(exitFor(layer), `${where}: a key without a client certificate`, {
      hints: ["name the certificate as well: --client-cert (clientCert)"],
    });
  }
  const clientKey = own ?? clientCert;
  checkPrivate(clientKey, {
    uid: machine.uid,
    holdsKey: true,
    rootToo: true,
    warn,
  });
  const clientKeyPassphrase = await passphraseOf(request);
  return { clientCert, clientKey, ...(clientKeyPassphrase && { clientKeyPassphrase }) };
}

/**
 * The TLS files of flags, variables and the profile. Checks that they are readable,
 * and that the key of a client certificate is private. Throws CliError
 * `not-configured` (or `usage` for a wrong flag).
 */
export async function tlsFilesOf(request: NetworkRequest): Promise<Network> {
  const caFile = fileOf("caFile", request);
  return { ...(caFile && { caFile }), ...(await clientOf(request)) };
}

/** The proxy of a flag, its variable or the profile, with its source. */
export function givenProxy(merged: Merged): Parameters<typeof proxyOf>[1] {
  const proxy: Profile["proxy"] = merged.values.proxy;
  const layer = merged.winners.get("proxy");
  if (proxy === undefined || !layer) return undefined;
  return { proxy, where: layer.where(["proxy"]), exit: exitFor(layer) };
}
