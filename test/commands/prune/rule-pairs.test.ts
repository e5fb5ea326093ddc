import { rmSync, renameSync, appendFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestServiceOptions } from "../../service.ts";
import { runIn } from "../state/support.ts";

const config = {
  ingest: {
    include: ["docs/**/*.md"],
    ccPairId: 2,
    rules: [{ match: "docs/hr/**", ccPairId: 7 }],
  },
};

/** A service, and a project whose configuration is trusted. */
async function startTrusted(options: TestServiceOptions) {
  const service = await startTestService(options);
  return { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "1" } };
}

async function startWithRule() {
  const service = await startTrusted({
    dialect: "onyx",
    files: {
      ".cliconfig.json": JSON.stringify(config),
      "docs/a.md": "# A\n\nOne.\n",
      "docs/hr/h.md": "# H\n\nTwo.\n",
    },
  });
  expect((await runIn(service, "ingest")).code).toBe(0);
  return service;
}

it("orphans of a pair that only a rule names are told by each command", async () => {
  const service = await startWithRule();
  expect((await runIn(service, "prune")).stderr).toContain("nothing to remove of pair 2\n");
  rmSync(join(service.folder, "docs/hr"), { recursive: true });
  expect((await runIn(service, "ingest --dry-run --verbose")).stdout).toContain("docs/hr/h.md");
  expect((await runIn(service, "ingest")).stderr).toContain("1 uploaded file is no longer found");
  const listed = await runIn(service, "prune");
  expect(listed.stderr).toContain(
    "1 document of pair 7, which a rule names, has no file: see `knowctl prune --cc-pair-id 7 --dry-run`",
  );
  const own = "prune --cc-pair-id 7 --dry-run";
  expect((await runIn(service, own)).stdout).toContain("docs/hr/h.md");
  for (const line of ["status", "status --remote"]) {
    const { stdout, stderr } = await runIn(service, line);
    expect(stdout).toBe("gone: 1 document\n  docs/hr/h.md (gone, pair 7)\n");
    expect(stderr).not.toContain("no difference");
  }
  // A pair from a flag overrides the rule: only that pair is looked at.
  const other = await runIn(service, "prune --cc-pair-id 2");
  expect(other.stderr).not.toContain("pair 7");
});

it("orphans of a pair that only a rule names are told after a removal from another pair", async () => {
  const service = await startWithRule();
  writeFiles(service.folder, { "docs/kept.md": "# Kept\n\nThree.\n" });
  expect((await runIn(service, "ingest")).code).toBe(0);
  rmSync(join(service.folder, "docs/hr"), { recursive: true });
  rmSync(join(service.folder, "docs/a.md"));
  const { code, stderr } = await runIn(service, "prune --yes --max-delete 90%");
  expect(code).toBe(0);
  expect(stderr).toContain("1 document deleted");
  expect(stderr).toContain("1 document of pair 7, which a rule names");
});

it("a file with an id of its own that moved and changed is not told as gone", async () => {
  const service = await startTestService({
    dialect: "onyx",
    files: { "docs/a.md": "---\nid: own\n---\n# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" },
  });
  await runIn(service, "ingest docs --cc-pair-id 2");
  renameSync(join(service.folder, "docs/a.md"), join(service.folder, "docs/y.md"));
  appendFileSync(join(service.folder, "docs/y.md"), "more\n");
  const ran = await runIn(service, "ingest docs --cc-pair-id 2");
  expect(ran.stderr).toContain("1 updated");
  expect(ran.stderr).not.toContain("no longer found");
});

it("a dry run of a retry names what failed, and no orphans", async () => {
  const service = await startTrusted({
    files: {
      ".cliconfig.json": JSON.stringify({ ingest: { include: ["docs/**/*.md"] } }),
      "docs/a.md": "# A\n\nOne.\n",
      "docs/z.md": "---\ndate: nope\n---\n# Z\n\nTwo.\n",
    },
  });
  expect((await runIn(service, "ingest --cc-pair-id 2")).code).toBe(10);
  writeFiles(service.folder, { "docs/z.md": "# Z\n\nTwo.\n" });
  const { code, stdout, stderr } = await runIn(service, "retry --dry-run");
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^create\s+docs\/z\.md\s.*\n$/),
  });
  expect(stderr).not.toContain("gone");
});
