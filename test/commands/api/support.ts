import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { main } from "../../main.ts";
import { cleanEnvironment, createTestContext, type TestContextOptions } from "../../support.ts";

export const key = "CANARY-key-7d21aa90";

export interface Seen {
  method: string;
  url: string;
  headers: IncomingMessage["headers"];
  body: string;
}

/** A server that answers everything as told, and notes what it was asked. */
export async function startServer(answer: (seen: Seen, response: ServerResponse) => void) {
  const seen: Seen[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { method = "", url = "", headers } = request;
      const each = { method, url, headers, body: Buffer.concat(chunks).toString() };
      seen.push(each);
      answer(each, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => server.close().closeAllConnections());
  const { port } = server.address() as { port: number };
  return { url: `http://127.0.0.1:${port}`, seen };
}

export function json(response: ServerResponse, value: unknown, status = 200): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(typeof value === "string" ? value : JSON.stringify(value));
}

/** Runs `api` with these arguments against an address. */
export async function runApi(
  url: string,
  args: readonly string[],
  options: TestContextOptions & { variables?: Record<string, string> } = {},
) {
  const { variables, ...rest } = options;
  const context = createTestContext(rest);
  const env = cleanEnvironment(context.cwd, {
    KNOWCTL_BASE_URL: url,
    KNOWCTL_API_KEY: key,
    NO_COLOR: "1",
    ...variables,
  });
  const code = await main(["api", ...args], { ...context, env });
  return { code, out: context.stdoutText(), err: context.stderrText() };
}
