import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { startTestService, testKey } from "../../service.ts";
import { runIn } from "../state/support.ts";

/** What a service says that shows the key which it was asked with. */
const telling = (documentId: string, change: Partial<FaultRule["do"] & object>): FaultRule => ({
  when: { documentId },
  do: { status: 200, ...change } as FaultRule["do"],
});

it("no key that the service echoes reaches the state, or what is told of it", async () => {
  const bearer = `Bearer ${testKey}`;
  const encoded = Buffer.from(bearer).toString("base64");
  const rules = [
    telling("docs/a.md", { status: 422, body: { detail: `no: ${bearer}` } }),
    telling("docs/b.md", { status: 422, body: { detail: `no: ${encoded}` } }),
    telling("docs/c.md", { body: { document_id: `c ${testKey}`, already_existed: false } }),
  ];
  const files = { "docs/a.md": "A\n", "docs/b.md": "B\n", "docs/c.md": "C\n", "docs/d.md": "D\n" };
  const service = await startTestService({ files, faults: { rules } });
  const ran = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(ran).toMatchObject({ code: 10, stderr: expect.stringContaining("2 created, 2 failed") });
  const folder = join(service.folder, ".knowctl");
  const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
  const bare = { ...service.env };
  delete bare["KNOWCTL_API_KEY"];
  const without = { folder: service.folder, env: bare };
  const target = `--base-url ${service.env["KNOWCTL_BASE_URL"]} --cc-pair-id 2`;
  const listed = await runIn(without, `state list --status failed ${target} -o ndjson`);
  const exported = await runIn(without, "state export -");
  expect(listed.stdout).toContain("no: Bearer ***");
  for (const text of [...kept, listed.stdout, exported.stdout, ran.stderr, ran.stdout]) {
    expect(text).not.toContain(testKey);
    expect(text).not.toContain(encoded.slice(4, -4));
  }
});

it("options that hold the key are not recorded with the documents", async () => {
  const service = await startTestService({ files: { "docs/a.md": "# A\n" } });
  const line = `ingest docs --cc-pair-id 2 --allow-secrets --metadata team=${testKey}`;
  expect(await runIn(service, line)).toMatchObject({ code: 0 });
  const state = join(service.folder, ".knowctl");
  for (const name of readdirSync(state)) {
    expect(readFileSync(join(state, name)).includes(testKey), name).toBe(false);
  }
  expect((await runIn(service, "state export")).stdout).not.toContain(testKey);
});

it("an upload from a folder with the key in its name ends as any other", async () => {
  const service = await startTestService({ files: { [`docs/${testKey}/a.md`]: "# A\n" } });
  const upload = ["ingest", `docs/${testKey}`, "--cc-pair-id", "2", "--allow-secrets"];
  expect(await runIn(service, upload)).toMatchObject({ code: 0 });
  // Else it would count as stopped for ever.
  const ran = await runIn(service, "retry --cc-pair-id 2");
  expect(ran).toMatchObject({ code: 0, stderr: expect.stringContaining("nothing to retry") });
});
