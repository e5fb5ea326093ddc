import { chmodSync, existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds } from "../support.ts";

/** Runs a command line; `cwd` is relative to the service's folder. */
async function run(service: TestService, args: string, cwd = ".") {
  const env = { ...service.env, HOME: join(service.folder, "nowhere") };
  const context = createTestContext({ cwd: join(service.folder, cwd), env });
  const code = await main(args.split(" "), context);
  return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
}

const files = {
  "notes/a.md": "# A\n",
  "notes/ops/b.md": "# B\n",
  "notes/ops/deep/c.md": "# C\n",
};

async function startPlain(more: Record<string, string> = {}): Promise<TestService> {
  const service = await startTestService({ files: { ...files, ...more } });
  rmSync(join(service.folder, ".git"), { recursive: true });
  return service;
}

const upload = (paths: string): string => `ingest ${paths} --cc-pair-id 2`;

describe("one file has one id", () => {
  it("whichever folder or file is named, once a state marks the root", async () => {
    const service = await startPlain();
    expect(await run(service, upload("notes"))).toMatchObject({ code: 0 });
    const ids = ["notes/a.md", "notes/ops/b.md", "notes/ops/deep/c.md"];
    expect(acceptedIds(service)).toEqual(ids);
    for (const [paths, cwd] of [
      [".", "."],
      ["notes/ops", "."],
      ["notes/ops/deep/c.md", "."],
      ["b.md deep", "notes/ops"],
      [".", "notes/ops/deep"],
    ] as const) {
      const again = await run(service, upload(paths), cwd);
      expect(again).toMatchObject({ code: 0 });
      expect(again.stderr).toContain("unchanged");
      expect(again.stderr).not.toContain("project root:");
    }
    mkdirSync(join(service.folder, ".git"));
    expect((await run(service, upload("ops"), "notes")).stderr).toContain("2 unchanged");
    expect(acceptedIds(service)).toEqual(ids);
    expect(existsSync(join(service.folder, "notes/ops/.knowctl"))).toBe(false);
  });

  it("though a first run failed before it recorded anything elsewhere", async () => {
    const service = await startPlain();
    expect(await run(service, "ingest a.md --root ..", "notes")).toMatchObject({ code: 2 });
    expect(await run(service, upload("a.md"), "notes")).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["a.md"]);
    expect((await run(service, upload("ops"), "notes")).code).toBe(0);
    expect(acceptedIds(service)).toEqual(["a.md", "ops/b.md", "ops/deep/c.md"]);
  });

  it("and a root that nothing marks is named, with the flag that keeps it", async () => {
    const service = await startPlain();
    for (const args of [upload("notes --no-state"), "convert notes", "explain notes/a.md"]) {
      const { code, stderr } = await run(service, args);
      expect(code).toBe(0);
      expect(stderr).toContain(
        `project root: ${service.folder}. No git repository or project file marks it`,
      );
      expect(stderr).toContain("--root");
    }
    const named = await run(service, upload("notes --no-state --root ."));
    expect(named.stderr).not.toContain("project root:");
  });

  it("and a mark in a folder that others can write to is not used, which is said", async () => {
    const service = await startPlain();
    expect(await run(service, upload("notes"))).toMatchObject({ code: 0 });
    chmodSync(service.folder, 0o777);
    const { stderr } = await run(service, upload(". --dry-run"), "notes/ops");
    expect(stderr).toContain(`project root: ${join(service.folder, "notes/ops")}.`);
    expect(stderr).toContain(`Other users can write to ${service.folder}`);
  });

  it("so a state below the root is refused, with the ways out", async () => {
    const service = await startPlain();
    expect(await run(service, upload("notes/ops --root notes/ops"))).toMatchObject({ code: 0 });
    const both = await run(service, upload("notes"));
    expect(both).toMatchObject({ code: 2 });
    expect(both.stderr).toContain("notes/ops is a project root of its own: it holds .knowctl");
    expect(both.stderr).toContain("--root 'notes/ops'");
    const within = await run(service, upload(`. --root ${service.folder}`), "notes/ops");
    expect(within.stderr).toContain(`${join(service.folder, "notes/ops")} is a project root`);
    expect(both.stderr).toContain("--exclude 'notes/ops/**'");
    expect(acceptedIds(service)).toEqual(["b.md", "deep/c.md"]);
    expect(await run(service, upload("notes --exclude notes/ops/**"))).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["b.md", "deep/c.md", "notes/a.md"]);
    const apart = await run(service, upload("notes/a.md notes/ops"));
    expect(apart).toMatchObject({ code: 2 });
    expect(apart.stderr).toContain("different project roots");
  });

  it("so a first upload from a root below a state is a warning, with the way to keep the ids", async () => {
    const service = await startPlain();
    expect(await run(service, upload("notes"))).toMatchObject({ code: 0 });
    mkdirSync(join(service.folder, "notes/ops/.git"));
    const above = `--root ${service.folder}`;
    for (const [args, cwd] of [
      [". --dry-run", "notes/ops"],
      ["notes/ops/deep --root notes/ops/deep", "."],
    ] as const) {
      expect((await run(service, upload(args), cwd)).stderr).toContain(above);
    }
    const again = await run(service, upload("notes/ops/deep --root notes/ops/deep"));
    expect(again.stderr).not.toContain(above);
    rmSync(join(service.folder, "notes/ops/deep/.knowctl"), { recursive: true });
    const kept = await run(service, upload(`. ${above}`), "notes/ops");
    expect(kept.stderr).toContain("2 unchanged");
    expect(kept.stderr).not.toContain("stores them twice");
  });

  it("so --state makes no other folder a root", async () => {
    const service = await startPlain();
    for (const [state, cwd] of [
      ["notes/.knowctl", "."],
      ["../.knowctl", "notes"],
    ] as const) {
      const refused = await run(service, upload(`. --state ${state}`), cwd);
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.stderr).toContain("a project root");
      expect(existsSync(join(service.folder, cwd, state))).toBe(false);
    }
    expect(await run(service, upload(". --state ../kept"), "notes")).toMatchObject({ code: 0 });
  });
});

describe("links", () => {
  it("out of the project are refused, and nothing is made at their end", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n" } });
    const outside = join(dirname(service.folder), "outside");
    writeFiles(outside, { "sub/secret.md": "# Secret\n", ".git/HEAD": "" });
    symlinkSync(outside, join(service.folder, "docs"));
    for (const path of ["docs", "docs/sub", "docs/sub/secret.md", "docs/**/*.md"]) {
      const refused = await run(service, upload(path));
      expect(refused).toMatchObject({ code: 2 });
      expect(refused.stderr).toContain(`${path} lies outside the project root`);
    }
    expect(existsSync(join(outside, ".knowctl"))).toBe(false);
    expect(service.sandbox.ledger.requests).toEqual([]);
  });
});

describe("a state", () => {
  it("of which no file is there is a warning", async () => {
    const service = await startPlain();
    expect((await run(service, upload("notes"))).stderr).not.toContain("none of the files");
    expect((await run(service, upload("notes"))).stderr).not.toContain("none of the files");
    rmSync(join(service.folder, "notes/a.md"));
    expect((await run(service, upload("notes"))).stderr).not.toContain("none of the files");
    renameSync(join(service.folder, "notes"), join(service.folder, "pages"));
    const { stderr } = await run(service, upload("pages --dry-run"));
    expect(stderr).toContain(`recorded in ${join(service.folder, ".knowctl")} exists under `);
    expect(stderr).toContain("the first is notes/a.md");
    expect(stderr).toContain("moved");
    expect(stderr).toContain("another root");
  });

  it("that was imported is judged by its documents", async () => {
    const service = await startPlain();
    await run(service, upload("notes"));
    const { stdout } = await run(service, "state export");
    writeFiles(service.folder, { "other/x.md": "# X\n", "state.ndjson": stdout });
    await run(service, "state import ../state.ndjson --yes --root . --state kept", "other");
    const { stderr } = await run(service, upload("x.md --root . --state kept"), "other");
    expect(stderr).toContain("none of the files recorded");
  });
});
