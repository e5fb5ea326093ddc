import { expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";

const files = {
  "docs/a.md": "# A\n\nText.\n",
  "docs/b.md": "# B\n\nText.\n",
  "docs/own.json":
    '{"id":"own","title":"Own","source":"nonsens","sections":[{"text":"Text."}],"metadata":{}}',
};

it("stops at a source type of --source that the service does not know: no document is at fault", async () => {
  const { folder: cwd, env } = await startTestService({ dialect: "onyx", files });
  const run = (...args: string[]) => runHere(args, { cwd, env });
  const wrong = await run("ingest", "docs", "--cc-pair-id", "2", "--source", "confluense");
  expect(wrong.stderr).toMatch(
    /error: --source: the service refuses it: "confluense" is unknown; the nearest of \d+ valid names: confluence,/,
  );
  expect(wrong.code).toBe(2);
  expect((await run("state", "list", "--status", "failed")).stdout).toBe("");
  expect(await run("ingest", "docs", "--cc-pair-id", "2", "--source", "confluence")).toMatchObject({
    code: 0,
  });
});

it("fails only the document that names such a source type itself", async () => {
  const { folder: cwd, env } = await startTestService({ dialect: "onyx", files });
  const paths = ["docs/a.md", "docs/own.json"];
  const { code, stderr } = await runHere(["ingest", ...paths, "--cc-pair-id", "2"], { cwd, env });
  expect(stderr).toContain("1 created, 1 failed");
  expect(stderr).toMatch(/failed docs\/own\.json:1: .*"nonsens" is unknown/);
  expect(code).toBe(10);
});
