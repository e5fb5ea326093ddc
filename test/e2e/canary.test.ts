import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpTexts } from "../../src/cli/program.ts";
import { runHere } from "../main.ts";
import { startTestService } from "../service.ts";
import { cleanEnvironment, runCli, temporaryFolder } from "../support.ts";

const names = [
  ".cliconfig .cliconfigrc cliconfig.config .config/cliconfig .config/cliconfigrc",
  ".knowctlrc knowctl.config .config/knowctlrc",
  ".config/config .cosmiconfigrc cosmiconfig.config .config/cosmiconfig",
].flatMap((line) => line.split(" "));

/** A folder full of what a configuration library might run or follow; whatever runs names itself. */
function plantedFolder(): { folder: string; canary: string } {
  const folder = temporaryFolder();
  const canary = join(temporaryFolder(), "canary");
  const plant = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const name of names) {
    for (const extension of ["js", "cjs", "ts"]) {
      const path = `${name}.${extension}`;
      const call = `require("node:fs").appendFileSync(${JSON.stringify(canary)}, "${path} ")`;
      plant(path, `${call}; module.exports = {};`);
    }
    const write = `appendFileSync(${JSON.stringify(canary)}, "${name}.mjs ")`;
    plant(`${name}.mjs`, `import { appendFileSync } from "node:fs"; ${write}; export default {};`);
  }
  const follow = { $import: "./cliconfig.config.js" };
  const meta = { searchPlaces: ["cliconfig.config.js"], $import: "./cosmiconfig.config.js" };
  // A member of ours, so that there is something to find and the search does run.
  const cliconfig = { ingest: { sections: "whole" } };
  plant("package.json", JSON.stringify({ type: "commonjs", cosmiconfig: meta, cliconfig }));
  plant(".config/config.json", JSON.stringify({ cosmiconfig: meta, ...follow }));
  plant(".config/config.yaml", `cosmiconfig: ${JSON.stringify(meta)}\n`);
  plant(".cliconfigrc", JSON.stringify(follow));
  plant(".cliconfigrc.json", JSON.stringify(follow));
  plant(".env", "KNOWCTL_BASE_URL=https://evil.example\n");
  plant("docs/a.md", "---js\nrequire('fs').appendFileSync('x', '')\n---\n# A\n");
  plant("docs/b.md", "# B\n");
  return { folder, canary };
}

const working = [
  ["--help"],
  ["--version"],
  ["help"],
  ["connectors", "list"],
  ["connectors", "get", "2"],
  ["connectors", "find", "Public website"],
  ["ingest", "docs/b.md", "--cc-pair-id", "2", "--no-state"],
  ["ingest", "docs", "--dry-run"],
  ["explain", "docs/b.md"],
  ["chat", "hello"],
  ["config", "show", "--origin"],
  ["config", "list"],
  ["config", "path"],
  ["config", "validate"],
  ["config", "schema"],
  ["config", "get", "dialect"],
  ["config", "set", "dialect", "standard"],
  ["config", "unset", "dialect"],
  ["config", "init", "--profile", "made", "--no-check"],
  ["config", "use", "made"],
  ["config", "trust"],
  ["logout"],
];
const refused = [
  ["login"],
  ["--config", "cliconfig.config.js", "connectors", "list"],
  ["--config", ".cliconfig.mjs", "config", "show"],
  ["config", "validate", ".cliconfig.ts"],
  ["config", "trust", ".cliconfig.cjs"],
];

describe("nothing of the working directory is run", () => {
  it("by any command", async () => {
    const service = await startTestService();
    const { folder, canary } = plantedFolder();
    const env = { ...cleanEnvironment(folder), ...service.env };
    const helps = Object.keys(helpTexts()).map((path) => [...path.split(" "), "--help"]);
    const codes: [string, boolean][] = [];
    for (const args of [...working, ...helps.map((each) => each.filter(Boolean)), ...refused]) {
      // Only the process finds its own modules from somewhere; help is the same in all of them.
      const isHelp = args.length > 1 && args.at(-1) === "--help";
      const { code, stderr } = await (isHelp ? runHere : runCli)(args, { cwd: folder, env });
      codes.push([args.join(" "), code === 0]);
      expect(stderr, args.join(" ")).not.toMatch(/unexpected|\bat .*:\d+:\d+/);
      expect(existsSync(canary) ? readFileSync(canary, "utf8") : "", args.join(" ")).toBe("");
    }
    // A command that failed early would prove little.
    const wrong = refused.map((args) => args.join(" "));
    expect(codes.filter(([, isGood]) => !isGood).map(([args]) => args)).toEqual([
      "ingest docs --dry-run",
      ...wrong,
    ]);
  });

  it("where its own settings name code", async () => {
    const { folder, canary } = plantedFolder();
    const env = cleanEnvironment(folder, { KNOWCTL_API_KEY: "k" });
    for (const [path, text] of [
      ["package.json", '{"cliconfig":{"$import":"./cliconfig.config.js"}}'],
      [".cliconfig.yaml", "$import: ./cliconfig.config.js\n"],
      [".cliconfig.json", '{"$import":["./cliconfig.config.js"]}'],
    ] as const) {
      writeFileSync(join(folder, path), text);
      const { code, stderr } = await runCli(["connectors", "list"], { cwd: folder, env });
      expect([code, stderr]).toEqual([3, expect.stringContaining("$import")]);
      expect(stderr).toContain(join(folder, path));
    }
    expect(existsSync(canary)).toBe(false);
  });
});
