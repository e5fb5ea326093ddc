import { copyFileSync, existsSync, readFileSync } from "node:fs";
import { platform } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService } from "../service.ts";
import { projectFolder, runCli } from "../support.ts";

const fixtures = join(projectFolder, "test", "fixtures");

// Elsewhere a priority is the whole process's.
it.runIf(platform() === "linux")(
  "lets the thread that reads come second in an upload, and in nothing else",
  async () => {
    const service = await startTestService({ files: { "docs/a.md": "A\n" } });
    // Read in a thread however few there are.
    const pdf = join(fixtures, "documents", "office", "ghostscript.pdf");
    copyFileSync(pdf, join(service.folder, "docs", "b.pdf"));
    const list = join(service.folder, "priorities.txt");
    const preload = join(fixtures, "threads", "list-priorities.cjs");
    const env = { ...service.env, NODE_OPTIONS: `--require ${preload}`, PRIORITIES_LIST: list };
    const run = async (...args: string[]): Promise<void> => {
      const result = await runCli(["ingest", ...args], { cwd: service.folder, env });
      expect(result, result.stderr).toMatchObject({ code: 0 });
    };

    await run("docs", "--cc-pair-id", "2", "--dry-run");
    await run("documents", "docs");
    expect(existsSync(list)).toBe(false);

    await run("docs", "--cc-pair-id", "2");
    expect(readFileSync(list, "utf8")).toMatch(/^\d+\n$/);
  },
  30_000,
);
