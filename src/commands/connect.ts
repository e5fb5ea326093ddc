import { createClient, type Client, type ClientOptions, type RequestTrace } from "../api/client.ts";
import type { GlobalFlags } from "../config/global-flags.ts";
import { loadConfig, type Config, type Connection, type LoadRequest } from "../config/load.ts";
import type { Context } from "../context.ts";
import { createOutput, type Output } from "../output/terminal/output.ts";
import { publicKey } from "../output/terminal/redact.ts";
import { rowsWhileWaiting, whileWaiting } from "../output/terminal/spinner.ts";
import { dim } from "../output/terminal/text.ts";
import type { Certificates } from "./certificates.ts";
import { headerSecrets, proxySecrets } from "./secrets.ts";

export interface ConnectRequest {
  /** Where the upward search for a project file starts (default: the working directory). */
  root?: string | undefined;
  connections?: number | undefined;
  /** Aborts requests in flight (default: the context's signal). */
  signal?: AbortSignal | undefined;
}

export interface Connected {
  output: Output;
  config: Config;
  connection: Connection;
  client: Client;
  /** The options of `client`; they hold the keys. */
  options: ClientOptions;
  /** Creates another client of the service; `signal` aborts its requests. The caller closes it. */
  clientUntil(signal: AbortSignal): Client;
}

/** Loads the configuration; warnings go to `output`. */
export async function loadSettings(
  context: Context,
  flags: GlobalFlags,
  output: Output,
  request: Pick<LoadRequest, "sends" | "needsProfile" | "root">,
): Promise<Config> {
  return await loadConfig({
    cwd: context.cwd,
    env: context.env,
    uid: context.uid,
    flags,
    ...request,
    askTrust: async (question) => {
      const { trustPrompt } = await import("./prompt.ts");
      return (await trustPrompt(context, flags, output)?.(question)) ?? false;
    },
    // Warnings occur while the configuration loads and the connection opens; none is awaited.
    warn: (message) => void output.warn(message).catch(() => {}),
  });
}

/** Loaded on demand: most connections name no certificates. */
async function certificatesOf(
  connection: Connection,
  context: Context,
  output: Output,
): Promise<Certificates> {
  if (connection.caFile === undefined && connection.clientCert === undefined) return {};
  const { readCertificates } = await import("./certificates.ts");
  return await readCertificates(connection, context, (message) => {
    void output.warn(message).catch(() => {});
  });
}

function traceLine(trace: RequestTrace): string {
  const result = trace.status === undefined ? (trace.code ?? "no response") : String(trace.status);
  const id = trace.requestId === undefined ? "" : ` request-id=${trace.requestId}`;
  return `${trace.method} ${trace.url} ${result} ${Math.round(trace.ms)} ms attempt ${trace.attempt}${id}`;
}

/** Opens the connection to the configured service. */
export async function openClient(
  context: Context,
  output: Output,
  config: Config,
  request: ConnectRequest = {},
): Promise<Connected> {
  const connection = await config.connection();
  for (const secret of [connection.accessToken, connection.apiKey]) {
    if (secret !== publicKey) output.secrets.add(secret);
  }
  for (const secret of proxySecrets(connection.proxy)) output.secrets.add(secret);
  for (const secret of headerSecrets(connection.headers)) output.secrets.add(secret);
  if (connection.clientKeyPassphrase) output.secrets.add(connection.clientKeyPassphrase);
  const certificates = await certificatesOf(connection, context, output);
  const options: ClientOptions = {
    baseUrl: connection.baseUrl,
    dialect: config.dialect,
    accessToken: connection.accessToken,
    apiKey: connection.apiKey,
    keyOrigins: connection.keyOrigins,
    ...(connection.headers && { headers: connection.headers }),
    secrets: output.secrets,
    ...(config.timeoutSeconds === undefined ? {} : { timeoutMs: config.timeoutSeconds * 1000 }),
    ...(connection.proxy === undefined ? {} : { proxy: connection.proxy }),
    ...(connection.noProxy === undefined ? {} : { noProxy: connection.noProxy }),
    ...certificates,
    allowInsecureTls: connection.allowInsecureTls,
    ...(request.connections === undefined ? {} : { connections: request.connections }),
    clock: context,
    signal: request.signal ?? context.signal,
    ...(output.verbose
      ? {
          onTrace(trace: RequestTrace): void {
            const headers = output.debug ? ` ${JSON.stringify(trace.headers ?? {})}` : "";
            void output.problem(dim(traceLine(trace) + headers)).catch(() => {});
          },
        }
      : {}),
  };
  const clientUntil = (signal: AbortSignal): Client => createClient({ ...options, signal });
  const client = createClient(options);
  return { output, config, connection, options, client, clientUntil };
}

interface Waiting {
  output: Output;
  connection: Pick<Connection, "baseUrl">;
}

const waitText = ({ connection }: Waiting): string => `waiting for ${connection.baseUrl}`;

/** Runs `work`, which waits for the service and writes nothing; a terminal shows that it waits. */
export async function whileAsking<T>(place: Waiting, work: () => Promise<T>): Promise<T> {
  return await whileWaiting(place.output, waitText(place), work);
}

/** Yields the rows that the service lists page by page; a terminal shows that it waits. */
export function rowsWhileAsking<Row>(
  place: Waiting,
  rows: AsyncIterable<Row>,
): AsyncGenerator<Row> {
  return rowsWhileWaiting(place.output, waitText(place), rows);
}

/** Configuration, gate and client for a command that talks to the service. */
export async function connect(
  context: Context,
  flags: GlobalFlags,
  request: ConnectRequest = {},
): Promise<Connected> {
  const output = createOutput(context, flags);
  const config = await loadSettings(context, flags, output, { sends: true, root: request.root });
  return await openClient(context, output, config, request);
}

/** Connects for one command, and closes the connection after `use`. */
export async function withConnection<T>(
  context: Context,
  flags: GlobalFlags,
  use: (connected: Connected) => Promise<T>,
  request: ConnectRequest = {},
): Promise<T> {
  const connected = await connect(context, flags, request);
  try {
    return await use(connected);
  } finally {
    await connected.client.close();
  }
}
