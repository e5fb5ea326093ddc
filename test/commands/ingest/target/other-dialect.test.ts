import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { startTestService } from "../../../service.ts";
import { runIngest } from "../support.ts";

const files = { "docs/a.md": "# A\n\nText.\n", "docs/b.md": "# B\n\nText.\n" };

describe.each([
  ["onyx", "standard"],
  ["standard", "onyx"],
] as const)("a profile of %s and a service of %s", (profile, dialect) => {
  it("names the missing endpoint and the dialect that answers", async () => {
    const service = await startTestService({ files, dialect });
    service.env["KNOWCTL_DIALECT"] = profile;
    const { error, stderr } = await runIngest(service, ["docs"]);
    expect(error).toMatchObject({ exit: "not-found" });
    expect(error?.message).toMatch(/the service has no .*\/ingestion \(40[45]\)/);
    expect(error?.message).toContain(`it speaks the ${dialect} dialect`);
    expect(error?.hints.join()).toContain(`--dialect ${dialect}`);
    expect(stderr).not.toMatch(/nothing to do|run the same command again/);
    expect(service.sandbox.ledger.documents.size).toBe(0);
  });
});

it("an address that refuses the other ingestion is not taken for a dialect", async () => {
  const server = createServer((request, response) => {
    response.writeHead(request.url?.includes("onyx-api") ? 404 : 403, {
      "content-type": "application/json",
    });
    response.end('{"detail":"no"}');
    request.resume();
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const service = await startTestService({ files });
  service.env["KNOWCTL_BASE_URL"] = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  service.env["KNOWCTL_DIALECT"] = "onyx";
  const { error } = await runIngest(service, ["docs"], { ccPairId: 2 });
  expect(error?.message).toMatch(/its dialect is unknown/);
});

it("an unknown pair stays what the service says", async () => {
  const service = await startTestService({ files });
  const { error } = await runIngest(service, ["docs"], { ccPairId: 4711 });
  expect(error?.message).not.toContain("dialect");
});
