import { createServer, type IncomingMessage } from "node:http";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { main } from "../../main.ts";
import { writeFiles } from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { pair } from "../pairs.ts";

interface Answer {
  status: number;
  body: unknown;
}

async function idOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = JSON.parse(Buffer.concat(chunks).toString()) as { document: { id: string } };
  return body.document.id;
}

/** A service whose listing answers as given, and that takes every document. */
async function startService(listing: Answer) {
  const sent: string[] = [];
  const server = createServer((request, response) => {
    const reply = ({ status, body }: Answer): void => {
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    };
    if (request.method === "GET") return reply(listing);
    void idOf(request).then((id) => {
      sent.push(id);
      reply({ status: 200, body: { document_id: id, already_existed: false } });
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  const home = temporaryFolder();
  const cwd = join(home, "work");
  writeFiles(cwd, { ".git/HEAD": "", "docs/a.md": "# A\n\nText.\n" });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = cleanEnvironment(home, { KNOWCTL_BASE_URL: url, KNOWCTL_API_KEY: "CANARY-key" });
  return {
    sent,
    async run(...args: string[]) {
      const context = createTestContext({ cwd, env: { ...env, NO_COLOR: "1" } });
      const code = await main(args, context);
      return { code, out: context.stdoutText(), err: context.stderrText() };
    },
  };
}

const ok = (...body: unknown[]): Answer => ({ status: 200, body });
const upload = ["ingest", "docs", "--cc-pair-id", "5"];

describe("one odd record of the listing", () => {
  it.each<[string, unknown]>([
    ["no connector", { ...pair({ id: 9 }), connector: null }],
    ["no credential", { ...pair({ id: 9 }), credential: null }],
    [
      "members of other types",
      { cc_pair_id: 9, name: 7, connector: "x", credential: [], groups: {} },
    ],
    ["no id", { ...pair({ id: 9 }), cc_pair_id: "nine" }],
    ["null", null],
  ])("does not hide the others: %s", async (_, odd) => {
    const service = await startService(ok(odd, pair({ id: 5, name: "Good" })));
    const list = await service.run("connectors", "list");
    expect(list).toMatchObject({ code: 0, err: "" });
    expect(list.out.split("\n")).toHaveLength(3);
    expect(list.out).toContain("5\tGood\tweb");
    for (const flags of [["--json"], ["--sort", "source"], ["--source", "web"]]) {
      expect(await service.run("connectors", "list", ...flags)).toMatchObject({ code: 0 });
    }
    expect(await service.run("connectors", "get", "5")).toMatchObject({ code: 0 });
    expect(await service.run("connectors", "find", "Good")).toMatchObject({ code: 0, out: "5\n" });
    const sent = await service.run("ingest", "docs", "--connector", "Good");
    expect(sent.err).toContain("1 created");
    expect(sent.code).toBe(0);
  });

  it("is no target when its id cannot be read", async () => {
    const odd = { ...pair({ id: 9, name: "Odd" }), cc_pair_id: null };
    const service = await startService(ok(odd, pair({ id: 5 })));
    expect(await service.run("connectors", "find", "Odd")).toMatchObject({ code: 8, out: "" });
  });
});

it("takes a list of anything else for another answer", async () => {
  const service = await startService(ok({ message: "hello" }, "x"));
  expect(await service.run("connectors", "list")).toMatchObject({ code: 8, out: "" });
});

describe("a listing that fails", () => {
  it.each([500, 501, 429])("with %i is a warning, and the upload goes on", async (status) => {
    const service = await startService({ status, body: { detail: "no vector store" } });
    const { code, err } = await service.run(...upload);
    expect(err).toContain(`warning: pair 5 is not checked beforehand`);
    expect(err).toContain("cannot determine who can read the documents");
    expect({ code, sent: service.sent }).toEqual({ code: 0, sent: ["docs/a.md"] });
  });

  it.each<[number, number]>([
    [403, 4],
    [401, 4],
    [500, 8],
    [501, 8],
    [404, 9],
  ])("with %i ends an upload that requires an access type with %i", async (status, exit) => {
    const service = await startService({ status, body: { detail: "no" } });
    const { code, err } = await service.run(...upload, "--require-access", "private");
    expect(err).toContain("--require-access: the access type of pair 5 cannot be read");
    expect({ code, sent: service.sent }).toEqual({ code: exit, sent: [] });
  });

  it("ends with 8 where the record has no access type that can be read", async () => {
    const service = await startService(ok({ ...pair({ id: 5 }), access_type: 7 }));
    const { code } = await service.run(...upload, "--require-access", "private");
    expect({ code, sent: service.sent }).toEqual({ code: 8, sent: [] });
  });
});
