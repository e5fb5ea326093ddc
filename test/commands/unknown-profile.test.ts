import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../main.ts";
import { startTestService, writeFiles } from "../service.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";

/** A user whose default profile does not exist, in a project with a document. */
function createUser(config: object = { profiles: { prod: { baseUrl: "http://127.0.0.1:1" } } }) {
  const home = temporaryFolder();
  const cwd = join(home, "project");
  writeFiles(cwd, {
    ".git/HEAD": "",
    "docs/leave.md":
      "# Leave\n\n## How much leave is there?\n\nEach year gives 28 days of leave.\n",
    "empty.ndjson": '{"type":"knowctl-state","version":4}\n{"type":"end","records":0}\n',
  });
  const env = cleanEnvironment(home);
  const folder = join(env["XDG_CONFIG_HOME"] ?? join(home, ".config"), "knowctl");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "config.json"),
    JSON.stringify({ defaultProfile: "prodd", ...config }),
    { mode: 0o600 },
  );
  return { cwd, run: (line: string) => runHere(line.split(" "), { cwd, env }) };
}

const problem = 'config.json:1:19: there is no profile "prodd"; known profiles: prod';

describe("a default profile that does not exist", () => {
  it.each([
    "state import empty.ndjson --yes",
    "lint docs",
    "eval init docs --out suite.yaml",
    "config show",
    "config get defaultProfile",
  ])("does not stop %s, which needs none: one warning", async (line) => {
    const { run } = createUser();
    const { code, stderr } = await run(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(problem) });
    expect(stderr.match(/warning: .*there is no profile/g)).toHaveLength(1);
    expect(stderr).toContain("knowctl config use prod");
  });

  it.each(["state list", "state export", "state forget --all --yes"])(
    "does not stop %s",
    async (line) => {
      const { run } = createUser();
      await run("state import empty.ndjson --yes");
      expect(await run(line)).toMatchObject({ code: 0 });
    },
  );

  it.each(["config list", "completion bash", "help"])("is not looked up by %s", async (line) => {
    const { code, stderr } = await createUser().run(line);
    expect(code).toBe(0);
    expect(stderr).not.toContain("there is no profile");
  });

  it.each(["connectors list", "ingest docs --dry-run", "convert docs", "logout"])(
    "stops %s, which needs one, and says how to mend it",
    async (line) => {
      const { code, stderr } = await createUser().run(line);
      expect(code).toBe(3);
      expect(stderr).toContain(`error: `);
      expect(stderr).toContain(problem);
      expect(stderr).toContain("→ make prod the default profile: knowctl config use prod\n");
      expect(stderr).toContain("→ or choose a profile for this command: --profile prod\n");
    },
  );

  it("can be mended by the command that the message names", async () => {
    const { run } = createUser();
    expect(await run("config use prod")).toMatchObject({ code: 0 });
    expect((await run("state import empty.ndjson --yes")).stderr).not.toContain(
      "there is no profile",
    );
  });

  it("can be removed where there is no profile at all", async () => {
    const { run } = createUser({});
    const { code, stderr } = await run("connectors list");
    expect(code).toBe(3);
    expect(stderr).toContain("knowctl config init --profile prodd");
    expect(stderr).toContain("→ or remove it: knowctl config unset defaultProfile\n");
    expect(await run("config unset defaultProfile")).toMatchObject({ code: 0 });
    expect((await run("connectors list")).stderr).not.toContain("there is no profile");
  });

  it("is mended in the project file where that names it", async () => {
    const { cwd, run } = createUser({ defaultProfile: "prod", profiles: { prod: {} } });
    writeFileSync(join(cwd, ".cliconfig.json"), '{"defaultProfile":"prodd"}');
    const { code, stderr } = await run("ingest docs --dry-run");
    expect(code).toBe(3);
    expect(stderr).toContain("knowctl config use prod --local\n");
    expect(await run("config use prod --local")).toMatchObject({ code: 0 });
    expect((await run("config show")).stderr).not.toContain("there is no profile");
  });

  it("by --profile stops every command: somebody asked for it", async () => {
    const { run } = createUser();
    for (const line of ["lint docs --profile prodd", "state list --profile prodd"]) {
      expect(await run(line)).toMatchObject({
        code: 3,
        stderr: expect.stringContaining("did you mean --profile prod?"),
      });
    }
  });
});

it("is named as --reader where that flag names it", async () => {
  const { folder: cwd, env } = await startTestService({
    dialect: "onyx",
    files: { "docs/a.md": "# A\n" },
  });
  await runHere(["ingest", "docs", "--cc-pair-id", "2"], { cwd, env });
  const { code, stderr } = await runHere(["verify", "--reader", "nobody"], { cwd, env });
  expect({ code, stderr }).toMatchObject({ code: 3 });
  expect(stderr).toContain('error: --reader: there is no profile "nobody"');
});
