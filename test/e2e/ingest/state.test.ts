import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";
import { runCli } from "../../support.ts";

const count = 120;
const files = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`docs/${index}.md`, `# ${index}\n\nText.\n`]),
);

describe("state", () => {
  it("takes two imports while an upload runs, and loses nothing", async () => {
    const service = await startTestService({ files });
    const options = { cwd: service.folder, env: service.env };
    const run = (...args: string[]) => runHere(args, options);
    // What another machine has sent to another pair.
    const other = ["--state", join(service.folder, "other")];
    expect(await run("ingest", "docs", "--cc-pair-id", "7", ...other)).toMatchObject({ code: 0 });
    expect(await run("state", "export", "other.ndjson", ...other)).toMatchObject({ code: 0 });
    copyFileSync(join(service.folder, "other.ndjson"), join(service.folder, "copy.ndjson"));
    const atOnce = [
      ["ingest", "docs", "--cc-pair-id", "2"],
      ["state", "import", "other.ndjson", "--yes"],
      ["state", "import", "other.ndjson", "copy.ndjson", "--yes"],
    ];
    const ran = await Promise.all(atOnce.map((args) => runCli(args, options)));
    expect(ran.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0]);
    for (const pair of ["2", "7"]) {
      const { stdout } = await run("state", "list", "--cc-pair-id", pair, "-o", "ndjson");
      expect(stdout.split("\n").filter(Boolean)).toHaveLength(count);
      const again = await run("ingest", "docs", "--cc-pair-id", pair);
      expect(again.stderr).toContain(`${count} unchanged`);
    }
  });

  // Node's recursive mkdir never returned here; a process of its own can be ended.
  it.runIf(process.platform === "linux")("ends where no folder can be made", async () => {
    const { folder, env } = await startTestService({ files: { "a.md": "Text.\n" } });
    const args = ["ingest", "a.md", "--cc-pair-id", "2", "--state", "/proc/knowctl/state"];
    const { code, stderr } = await runCli(args, { cwd: folder, env });
    expect(code).toBe(14);
    expect(stderr).toContain("cannot create the state folder /proc/knowctl/state");
    expect(stderr).toContain("--no-state");
  });

  it.runIf(process.platform === "linux").each([
    [["ingest", "a.md", "--cc-pair-id", "2", "--report", "/proc/knowctl/r.json"], 2],
    [["sandbox", "--port", "0", "--data", "/proc/knowctl/data"], 14],
    [["config", "set", "baseUrl", "http://127.0.0.1:1"], 14],
  ])("ends where no folder can be made: %j", async (args, code) => {
    const { folder, env } = await startTestService({ files: { "a.md": "Text.\n" } });
    const noHome = { ...env, HOME: "/proc/knowctl", XDG_CONFIG_HOME: "/proc/knowctl/config" };
    const ran = await runCli(args, { cwd: folder, env: code === 2 ? env : noHome });
    expect(ran).toMatchObject({ code, stderr: expect.stringContaining("/proc/knowctl") });
  });
});
