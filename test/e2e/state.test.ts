import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService } from "../service.ts";
import { runCli } from "../support.ts";

const count = 120;
const files = Object.fromEntries(
  Array.from({ length: count }, (_, index) => [`docs/${index}.md`, `# ${index}\n\nText.\n`]),
);

describe("state", () => {
  it("takes an import and a merge while an upload runs, and loses nothing", async () => {
    const service = await startTestService({ files });
    const run = (...args: string[]) => runCli(args, { cwd: service.folder, env: service.env });
    // What another machine has sent to another pair.
    const other = ["--state", join(service.folder, "other")];
    expect(await run("ingest", "docs", "--cc-pair-id", "3", ...other)).toMatchObject({ code: 0 });
    expect(await run("state", "export", "other.ndjson", ...other)).toMatchObject({ code: 0 });
    const ran = await Promise.all([
      run("ingest", "docs", "--cc-pair-id", "2"),
      run("state", "import", "other.ndjson"),
      run("state", "merge", "other.ndjson", "other.ndjson"),
    ]);
    expect(ran.map(({ code, stderr }) => (code === 0 ? 0 : stderr))).toEqual([0, 0, 0]);
    for (const pair of ["2", "3"]) {
      const { stdout } = await run("state", "list", "--cc-pair-id", pair, "-o", "ndjson");
      expect(stdout.split("\n").filter(Boolean)).toHaveLength(count);
      const again = await run("ingest", "docs", "--cc-pair-id", pair);
      expect(again.stderr).toContain(`${count} unchanged`);
    }
  });
});
