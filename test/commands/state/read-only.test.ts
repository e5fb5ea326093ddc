import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { denyWritingIn } from "../../file-system.ts";
import { startTestService, type TestService } from "../../service.ts";
import { endUse } from "../../sync/open-state.ts";
import { runIn } from "./support.ts";

/** Two sent documents in a checkout that cannot be written. */
async function startReadOnly(): Promise<TestService> {
  const files = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };
  const service = await startTestService({ dialect: "onyx", files });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  await service.sandbox.idle();
  await endUse(join(service.folder, ".knowctl"));
  denyWritingIn(service.folder);
  return service;
}

// SQLite opens a journal beside a database that it reads: only the folder's time shows it afterwards.
const stateOf = ({ folder }: TestService) => [
  statSync(join(folder, ".knowctl")).mtimeMs,
  readFileSync(join(folder, ".knowctl/state.db")),
];

it.each([
  ["state list --fields path", "docs/a.md\ndocs/b.md\n"],
  ["state export", '"type":"end"'],
  ["explain docs/a.md", "unchanged since it was last read; accepted by"],
  ["ingest docs --dry-run", "2 unchanged"],
  ["retry --dry-run", "nothing to retry"],
  ["prune docs --tombstone --dry-run", "nothing to remove"],
  ["status --remote", "no difference"],
  ["verify", "the state is read-only: the results are not recorded\n2 current"],
])("%s reads a state that it cannot write", async (line, expected) => {
  const service = await startReadOnly();
  const before = stateOf(service);
  const { code, stdout, stderr } = await runIn(service, line);
  expect(stdout + stderr).toContain(expected);
  expect(code).toBe(0);
  expect(stateOf(service)).toEqual(before);
});
