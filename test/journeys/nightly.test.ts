import { rmSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles } from "../service.ts";
import { pages, run, startAgain, takenBy } from "./support.ts";

const upload = "ingest docs --cc-pair-id 2 --report report.json";

it("a nightly job survives a broken network, a busy service and a lost state", async () => {
  const first = await startTestService({ files: pages(0, 20) });
  const env = { ...first.env, CI: "1" };
  const night = { ...first, env };

  // The first night sends everything. Nobody is asked and nothing moves.
  const one = await run(night, upload);
  expect(one).toMatchObject({ code: 0, stdout: "" });
  expect(one.stderr).toMatch(
    /^done: 20 created in \S+ · Handbook uploads \(pair 2\) at \S+, profile default$/m,
  );
  expect(one.stderr).not.toMatch(/next:|\u001b/);

  // The second night the service is down: the job fails, says why, and sends nothing.
  await first.sandbox.close();
  writeFiles(first.folder, { "docs/3.md": "# Page 3\n\nMended.\n" });
  const two = await run(night, upload);
  expect(two.code).toBe(5);
  expect(two.stderr).toMatch(/^error: .*127\.0\.0\.1/m);

  // The third night it is back, and busy at first: what the second night missed is sent.
  const when = { documentId: "docs/3.md", first: 2 };
  const rules = [{ when, do: { status: 503 } }];
  const third = { ...(await startAgain(night, { faults: { rules } })), env };
  const three = await run(third, upload);
  expect(three.code).toBe(0);
  expect(three.stderr).toMatch(/^done: 1 updated, 19 unchanged in /m);
  expect(takenBy(third.sandbox)).toEqual({ "docs/3.md": 1 });
  expect(third.sandbox.ledger.attempts.get("docs/3.md")).toBe(3);

  // Then the cache with the state is lost. Everything is sent again, to the same ids, and the log
  // says why.
  rmSync(join(first.folder, ".knowctl"), { recursive: true });
  const fourth = { ...(await startAgain(third)), env };
  const four = await run(fourth, upload);
  expect(four.code).toBe(0);
  expect(four.stderr).toMatch(/^done: 20 updated in /m);
  expect(four.stderr).toMatch(/the service already had docs\/\d+\.md, which has no record here/);
  expect(takenBy(fourth.sandbox)).toEqual(
    Object.fromEntries(Object.keys(pages(0, 20)).map((id) => [id, 1])),
  );

  // From then on it is a quiet job again.
  const five = await run(fourth, `${upload} --quiet`);
  expect(five).toMatchObject({ code: 0, stdout: "", stderr: "" });
  const plan = await run(fourth, "ingest docs --cc-pair-id 2 --dry-run --exit-code");
  expect(plan).toMatchObject({ code: 0, stderr: expect.stringContaining("20 unchanged") });
});
