import { describe, expect, it } from "vitest";
import { showsHyperlinks, createOutput } from "../../../src/output/terminal/output.ts";
import { link } from "../../../src/output/terminal/text.ts";
import { createTestContext } from "../../support.ts";

describe("showsHyperlinks", () => {
  const xterm = { TERM: "xterm-256color" };
  const iterm = { ...xterm, TERM_PROGRAM: "iTerm.app", TERM_PROGRAM_VERSION: "3.5.2" };
  it.each<[name: string, env: Record<string, string>, isTerminal: boolean, links: boolean]>([
    ["a plain xterm", xterm, true, false],
    ["nothing known", {}, true, false],
    ["iTerm", iterm, true, true],
    ["an old iTerm", { ...iterm, TERM_PROGRAM_VERSION: "3.0.9" }, true, false],
    ["no terminal", iterm, false, false],
    ["a dumb terminal", { ...iterm, TERM: "dumb" }, true, false],
    ["a build", { ...iterm, CI: "true" }, true, false],
    [
      "WezTerm's date as version",
      { TERM_PROGRAM: "WezTerm", TERM_PROGRAM_VERSION: "20240203-1" },
      true,
      true,
    ],
    ["Apple's terminal", { ...xterm, TERM_PROGRAM: "Apple_Terminal" }, true, false],
    ["vscode 1.100", { TERM_PROGRAM: "vscode", TERM_PROGRAM_VERSION: "1.100.0" }, true, true],
    ["vscode 1.9", { TERM_PROGRAM: "vscode", TERM_PROGRAM_VERSION: "1.9.0" }, true, false],
    [
      "tmux 3.4",
      { TERM: "tmux-256color", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.4" },
      true,
      true,
    ],
    [
      "tmux 3.3a",
      { TERM: "screen", TERM_PROGRAM: "tmux", TERM_PROGRAM_VERSION: "3.3a", VTE_VERSION: "7000" },
      true,
      false,
    ],
    ["screen in a VTE", { TERM: "screen-256color", VTE_VERSION: "7000" }, true, false],
    ["VTE", { ...xterm, VTE_VERSION: "7000" }, true, true],
    ["the VTE that broke", { ...xterm, VTE_VERSION: "5000" }, true, false],
    ["Windows Terminal", { WT_SESSION: "1" }, true, true],
    ["Konsole", { ...xterm, KONSOLE_VERSION: "220401" }, true, true],
    ["kitty", { TERM: "xterm-kitty" }, true, true],
    ["forced in a pipe", { FORCE_HYPERLINK: "1" }, false, true],
    ["forbidden", { ...iterm, FORCE_HYPERLINK: "0" }, true, false],
  ])("%s", (_name, env, isTerminal, links) => {
    expect(showsHyperlinks(env, isTerminal)).toBe(links);
  });

  it.each([
    ["kitty", { TERM: "xterm-kitty" }, true],
    ["kitty without colour", { TERM: "xterm-kitty", NO_COLOR: "1" }, false],
    ["a plain xterm", { TERM: "xterm" }, false],
  ])("decides for the gate: %s", async (_name, env, links) => {
    const context = createTestContext({ env, isTTY: true });
    await createOutput(context).write(link("https://x/", "x"));
    expect(context.stdoutText().includes("]8;;")).toBe(links);
  });
});
