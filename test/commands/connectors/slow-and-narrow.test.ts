import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished, vi } from "vitest";
import { main } from "../../main.ts";
import { patienceMs } from "../../patience.ts";
import { startTestService } from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { pair, run } from "../pairs.ts";

/** A service that holds its response until the test sends it. */
async function startSlowService() {
  let waiting: ServerResponse | undefined;
  const server = createServer((_request, response) => void (waiting = response));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    respond(body: unknown): void {
      waiting?.writeHead(200, { "content-type": "application/json" });
      waiting?.end(JSON.stringify(body));
    },
  };
}

const listing = "waiting for the connectors of";

it.each([
  ["connectors list", listing],
  ["connectors get 7", listing],
  ["connectors find Handbook", listing],
  ["config init --profile p --dialect standard", "testing the connection to"],
])("%s shows life on a terminal while the service is slow", async (line, label) => {
  const service = await startSlowService();
  const home = temporaryFolder();
  const env = { KNOWCTL_BASE_URL: service.url, KNOWCTL_API_KEY: "key-1", NO_COLOR: "1" };
  const context = createTestContext({
    cwd: home,
    env: cleanEnvironment(home, env),
    isTTY: true,
  });
  const ended = main(line.split(" "), context);
  const waiting = `${label} ${service.url}`;
  await vi.waitFor(() => expect(context.stderrText()).toContain(waiting), patienceMs);
  expect(context.stdoutText()).toBe("");
  service.respond([pair({ id: 7, name: "Handbook" })]);
  expect(await ended).toBe(0);
  // The line is erased before anything else is written.
  const [, after] = context.stderrText().split(/\u001b\[1G\u001b\[K(?![^]*\u001b\[1G)/);
  expect(after).not.toContain(label);
});

it("keeps the columns one chooses by on 80 columns, and hides age and owner", async () => {
  const name = "Confluence space of the customer support department in Rotterdam";
  const pairs = [
    pair({ id: 243, name, source: "google_cloud_storage", email: "someone@example.com" }),
    pair({ id: 2, name: "Handbook uploads", source: "ingestion_api", access: "private" }),
  ];
  const service = await startTestService({ pairs });
  const { code, out, err } = await run(service, ["connectors", "list"], { isTTY: true });
  expect(code).toBe(0);
  for (const line of out.trimEnd().split("\n")) expect(line.length).toBeLessThanOrEqual(80);
  expect(out).toMatch(/^ {7}243 {2}Confluence space .*… {2}google_cloud_storage {2}public/m);
  expect(out).toMatch(/^ {9}2 {2}Handbook uploads +ingestion_api +private/m);
  expect(out).not.toContain("last_update");
  expect(err).toContain("columns that do not fit:");
  expect(err).toContain("last_update");
});
