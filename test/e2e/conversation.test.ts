import { spawn, spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { patienceMs } from "../patience.ts";
import { follow } from "../ran.ts";
import { startTestService, type TestService } from "../service.ts";
import { projectFolder } from "../support.ts";

const binary = join(projectFolder, "bin", "knowctl.cjs");
// Of util-linux: runs a command on a terminal of its own. That of other systems takes other arguments.
const hasScript = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

const leave = "\u001b[?2004l";

/** `knowctl chat` on a terminal, between two looks at the terminal's settings. */
function openTerminal({ env, folder }: TestService, preload: string) {
  const hook = join(folder, "preload.cjs");
  writeFileSync(
    hook,
    `if (process.argv.includes("chat")) {
      require("node:fs").writeFileSync(${JSON.stringify(join(folder, "pid"))}, String(process.pid));
      ${preload}
    }`,
  );
  const shell = `stty -a > before; "${process.execPath}" --require "${hook}" "${binary}" chat; echo "code $?"; stty -a > after`;
  const child = spawn("script", ["-qec", shell, "/dev/null"], {
    cwd: folder,
    env: { ...env, TERM: "xterm", SHELL: "/bin/sh", NO_COLOR: "1" },
    stdio: ["pipe", "pipe", "ignore"],
  });
  onTestFinished(() => void child.kill("SIGKILL"));
  const { stdout: screen, ended } = follow(child, shell, folder);
  const until = (text: string | RegExp): Promise<void> =>
    vi.waitFor(() => expect(screen()).toMatch(text), patienceMs);
  return {
    press: (keys: string) => void child.stdin.write(keys),
    signal: (name: NodeJS.Signals) =>
      process.kill(Number(readFileSync(join(folder, "pid"), "utf8")), name),
    until,
    async ended() {
      await until(/code \d+/);
      return (await ended).stdout;
    },
    isRestored: () =>
      readFileSync(join(folder, "after"), "utf8") === readFileSync(join(folder, "before"), "utf8"),
  };
}

const prompt = /> \u001b\[3G$/;

describe.skipIf(!hasScript)("a conversation on a terminal", () => {
  it("answers, ends with 0 and leaves the terminal as it was", async () => {
    const service = await startTestService();
    const terminal = openTerminal(service, "");
    await terminal.until(prompt);
    terminal.press("What is there?\r");
    await terminal.until(/no language model[^]*> \u001b\[3G$/);
    terminal.press("\u0004");
    const screen = await terminal.ended();
    expect(screen).toContain("code 0");
    expect(screen.split("code 0")[0]).toContain(leave);
    expect(terminal.isRestored()).toBe(true);
  });

  it.each([
    ["SIGTERM", 143],
    ["SIGHUP", 129],
    ["SIGINT", 130],
  ] as const)("ends by %s with %d, the terminal as it was", async (name, code) => {
    const service = await startTestService();
    const terminal = openTerminal(service, "");
    await terminal.until(prompt);
    terminal.press("half a line");
    await terminal.until("half a line");
    terminal.signal(name);
    const screen = await terminal.ended();
    expect(screen).toContain(`code ${code}`);
    expect(screen.split("code ")[0]).toContain(leave);
    expect(terminal.isRestored()).toBe(true);
  });

  it("leaves the terminal as it was when it crashes", async () => {
    const service = await startTestService();
    const crash = 'process.on("SIGUSR2", () => { throw new Error("a crash"); });';
    const terminal = openTerminal(service, crash);
    await terminal.until(prompt);
    terminal.signal("SIGUSR2");
    const screen = await terminal.ended();
    expect(screen).toContain("code 1");
    expect(screen.split("code ")[0]).toContain(leave);
    expect(terminal.isRestored()).toBe(true);
  });
});
