import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import { codeOf } from "../../errors.ts";

/** The result of connecting to one address of a host. */
export interface Knock {
  address: string;
  family: 4 | 6;
  /** Milliseconds until the connection was open; absent if it failed. */
  ms?: number;
  /** Error code of a failed connection: `ECONNREFUSED`, `ETIMEDOUT`. */
  code?: string;
}

export interface Address {
  address: string;
  family: 4 | 6;
}

const plainHost = (host: string): string => host.replace(/^\[|\]$/g, "");

/** The family of a host that is an IP address; undefined for a name. */
export function familyOf(host: string): 4 | 6 | undefined {
  const family = isIP(plainHost(host));
  return family === 4 || family === 6 ? family : undefined;
}

/**
 * All addresses of a host, in the order of the system resolver (hosts file included), which
 * is the order of connection attempts. Throws Node's error (`ENOTFOUND`). Cannot be aborted.
 */
export async function lookUp(host: string): Promise<Address[]> {
  const all = await lookup(plainHost(host), { all: true, verbatim: true });
  return all.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

/** Opens a connection to one address and closes it; sends nothing. Rejects only on an abort. */
export function knock(
  { address, family }: Address,
  port: number,
  limitMs: number,
  signal: AbortSignal,
): Promise<Knock> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason as Error);
    const begun = performance.now();
    const socket = connect({ host: address, port, family });
    const timer = setTimeout(() => settle({ code: "ETIMEDOUT" }), limitMs);
    const stop = (): void => {
      reject(signal.reason as Error);
      settle({ code: "ABORTED" });
    };
    const settle = (result: Pick<Knock, "ms" | "code">): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", stop);
      socket.destroy();
      resolve({ address, family, ...result });
    };
    signal.addEventListener("abort", stop, { once: true });
    socket.once("connect", () => settle({ ms: performance.now() - begun }));
    socket.on("error", (error) => settle({ code: codeOf(error) ?? "unknown failure" }));
  });
}
