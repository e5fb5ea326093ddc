import { spawnSync } from "node:child_process";
import { chmodSync, cpSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { keepEnded, lineOf } from "../ran.ts";
import { cleanEnvironment, projectFolder, runCli, temporaryFolder } from "../support.ts";

/** The environment with `home` as its only word on where files lie. */
function homeAlone(home: string): Record<string, string> {
  const {
    XDG_CONFIG_HOME: _config,
    XDG_STATE_HOME: _state,
    XDG_DATA_HOME: _data,
    ...env
  } = cleanEnvironment(home);
  return env;
}

describe("the home folder", () => {
  it.each([[""], ["."], ["elsewhere"]])(
    "HOME=%j does not make a file of the working directory the user's own",
    async (home) => {
      const cwd = temporaryFolder();
      const folder = join(cwd, home, ".config", "knowctl");
      mkdirSync(folder, { recursive: true });
      const foreign = { profiles: { default: { baseUrl: "https://foreign.example" } } };
      writeFileSync(join(folder, "config.json"), JSON.stringify(foreign), { mode: 0o600 });
      const env = homeAlone(home);
      const shown = await runCli(["config", "show"], { cwd, env });
      expect(shown.stdout + shown.stderr).not.toContain("foreign.example");
      const paths = await runCli(["config", "path", "--fields", "path"], { cwd, env });
      for (const path of paths.stdout.trim().split("\n")) expect(path).toMatch(/^\//);
    },
  );

  // Containers often run as a number that no user has; only root can become one for the test.
  it("a user id without a user is no bug", () => {
    // A copy that anyone can read, wherever the checkout lies.
    const copy = temporaryFolder();
    chmodSync(copy, 0o755);
    for (const part of ["bin", "dist", "package.json"]) {
      cpSync(join(projectFolder, part), join(copy, part), { recursive: true });
    }
    const { HOME: _home, ...env } = homeAlone(copy);
    const nobody = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
    const run = (args: string[]) => {
      const ran = spawnSync(process.execPath, [join(copy, "bin", "knowctl.cjs"), ...args], {
        cwd: copy,
        env,
        encoding: "utf8",
        ...nobody,
      });
      keepEnded(lineOf(["knowctl", ...args]), copy, ran);
      return ran;
    };
    expect(run(["config", "path"])).toMatchObject({ status: 0, stderr: "" });
    const list = run(["connectors", "list"]);
    expect(list.stderr).toContain("no service is configured yet");
    expect(list.status).toBe(3);
  });
});
