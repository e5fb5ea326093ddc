import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";
import { runIndexed } from "./support.ts";

const files = Object.fromEntries(
  ["a", "b", "c"].map((name) => [`docs/${name}.md`, `# ${name}\n\nThe code is W${name}X.\n`]),
);
const upload = "ingest docs --cc-pair-id 2 --verify --wait 1s";

/** A service that loses the first upload of docs/a.md. */
async function startLosing(): Promise<TestService> {
  const rules = [
    { when: { documentId: "docs/a.md", first: 1 }, do: { index: { keeps: "nothing" as const } } },
  ];
  return await startTestService({ dialect: "onyx", files, faults: { rules } });
}

/** Another checkout of the project, as the next job of a pipeline has it. */
function nextJob({ env, sandbox }: TestService): Pick<TestService, "folder" | "env" | "sandbox"> {
  const home = temporaryFolder();
  const folder = join(home, "elsewhere");
  writeFiles(folder, { ".git/HEAD": "", ...files });
  const { KNOWCTL_BASE_URL = "", KNOWCTL_API_KEY = "", KNOWCTL_DIALECT = "" } = env;
  return {
    folder,
    sandbox,
    env: cleanEnvironment(home, { KNOWCTL_BASE_URL, KNOWCTL_API_KEY, KNOWCTL_DIALECT }),
  };
}

it("an exported state brings the checks: what was missing stays so on another machine", async () => {
  const service = await startLosing();
  expect((await runIndexed(service, upload)).code).toBe(13);
  const { stdout: missing } = await runIndexed(service, "state export");
  const job = nextJob(service);
  expect((await runIndexed(job, "state import - --yes", missing)).code).toBe(0);
  expect((await runIndexed(job, upload)).code).toBe(13);
  expect((await runIndexed(job, "retry --missing")).code).toBe(0);
  const { stdout: sent } = await runIndexed(job, "state export");
  const last = nextJob(service);
  expect((await runIndexed(last, "state import - --yes", sent)).code).toBe(0);
  await service.sandbox.idle();
  const checked = await runIndexed(last, upload);
  expect(checked.stderr).toContain("checking 1 document that an earlier run sent");
  expect(checked.code).toBe(0);
  expect((await runIndexed(last, "verify --since-last")).stderr).toContain(
    "3 documents found current",
  );
});

it("of two checks of a document the last one is kept, in any order", async () => {
  const service = await startLosing();
  expect((await runIndexed(service, `${upload} --shard 1/2`)).code).not.toBe(2);
  expect((await runIndexed(service, `${upload} --shard 2/2`)).code).not.toBe(2);
  const before = (await runIndexed(service, "state export")).stdout;
  await runIndexed(service, "retry --missing");
  await service.sandbox.idle();
  expect((await runIndexed(service, "verify")).code).toBe(0);
  const after = (await runIndexed(service, "state export")).stdout;
  for (const order of [
    [before, after],
    [after, before],
  ]) {
    const job = nextJob(service);
    writeFiles(job.folder, { "1.ndjson": order[0]!, "2.ndjson": order[1]! });
    expect((await runIndexed(job, "state import 1.ndjson --yes 2.ndjson")).code).toBe(0);
    expect((await runIndexed(job, upload)).code).toBe(0);
  }
  const old = nextJob(service);
  expect((await runIndexed(old, "state import - --yes", after)).code).toBe(0);
  expect((await runIndexed(old, "state import - --yes", before)).code).toBe(0);
  expect((await runIndexed(old, upload)).code).toBe(0);
});
