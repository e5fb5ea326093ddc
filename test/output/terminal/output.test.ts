import * as fc from "../../property.ts";
import { describe, expect, it } from "vitest";
import {
  type OutputOptions,
  createOutput,
  showsHyperlinks,
} from "../../../src/output/terminal/output.ts";
import { bold, dim, link } from "../../../src/output/terminal/text.ts";
import {
  type TestContextOptions,
  cleanEnvironment,
  createTestContext,
  temporaryFolder,
} from "../../support.ts";
import { main } from "../../main.ts";

function open(context: TestContextOptions = {}, options: OutputOptions = {}) {
  const test = createTestContext({ cwd: "/", env: {}, ...context });
  return { test, output: createOutput(test, options) };
}

const escape = "\u001b";

describe("the output gate", () => {
  it("warns in a colour that a light terminal shows too", async () => {
    const { test, output } = open({ isTTY: true, env: { TERM: "xterm-256color" } });
    await output.warn("careful");
    expect(test.stderrText()).toContain("\u001b[35mwarning: ");
    // Yellow and the light colours disappear on white.
    expect(test.stderrText()).not.toMatch(/\u001b\[(?:33|37|9\d)m/);
  });

  it("lets no control character out, in any pieces, to either stream", async () => {
    const text = fc.string({
      unit: fc.oneof(
        fc.constantFrom(
          "\u001b",
          "[2J",
          "\u009b",
          "\u0007",
          "\r",
          "\n",
          "\t",
          "\u202e",
          "::",
          "##[",
          "\ud83d",
          "\ude00",
        ),
        fc.string({ unit: "binary", maxLength: 2 }),
      ),
      maxLength: 40,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 5 }), fc.boolean(), async (pieces, ci) => {
        const env: Record<string, string> = ci ? { GITHUB_ACTIONS: "true" } : {};
        const whole = open({ env });
        const cut = open({ env });
        await whole.output.write(pieces.join(""));
        await whole.output.aside(pieces.join(""));
        for (const piece of pieces) {
          await cut.output.write(piece);
          await cut.output.aside(piece);
        }
        await whole.output.flush();
        await cut.output.flush();
        expect(cut.test.stdoutText()).toBe(whole.test.stdoutText());
        expect(cut.test.stderrText()).toBe(whole.test.stdoutText());
        // eslint-disable-next-line no-control-regex
        expect(whole.test.stdoutText()).not.toMatch(
          /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/,
        );
      }),
    );
  });

  it("puts a character together that comes in two halves", async () => {
    const { test, output } = open();
    await output.write("a\ud83d");
    await output.write("\ude00b");
    expect(test.stdoutText()).toBe("a😀b");
  });

  it("never shows a registered secret, cut anywhere, styled or not", async () => {
    const secret = "CANARY-0123";
    for (const env of [{}, { FORCE_COLOR: "1" }] as Record<string, string>[]) {
      for (let cut = 0; cut <= secret.length; cut++) {
        const { test, output } = open({ env });
        output.secrets.add(secret);
        await output.write(dim(`x ${secret.slice(0, cut)}`));
        await output.write(dim(`${secret.slice(cut)} y`));
        await output.aside(secret.slice(0, cut));
        await output.control(`${escape}[K`);
        await output.aside(secret.slice(cut));
        await output.flush();
        const shown = (test.stdoutText() + test.stderrText()).replaceAll(/\u001b\[\d*[mK]/g, "");
        expect(shown).toBe("x *** y***");
      }
    }
  });

  it("redacts in JSON and keeps its data escaped", async () => {
    const { test, output } = open();
    output.secrets.add('quo"ted-secret');
    await output.json(JSON.stringify({ a: 'quo"ted-secret', b: "\u009b\u202e" }));
    expect(test.stdoutText()).toBe('{"a":"***","b":"\\u009b\\u202e"}');
  });

  it("sends data to stdout and words for people to stderr", async () => {
    const { test, output } = open();
    await output.line("data");
    await output.note("note");
    await output.warn("careful");
    await output.error("broken");
    expect(test.stdoutText()).toBe("data\n");
    expect(test.stderrText()).toBe("note\nwarning: careful\nerror: broken\n");
  });

  it("is quiet about notes only", async () => {
    const { test, output } = open({}, { quiet: true });
    await output.note("note");
    await output.aside("aside");
    await output.warn("careful");
    expect(test.stderrText()).toBe("warning: careful\n");
  });
});

describe("colour", () => {
  it.each<[string, boolean, Record<string, string>, boolean | undefined, boolean]>([
    ["a terminal", true, {}, undefined, true],
    ["a pipe", false, {}, undefined, false],
    ["--no-color", true, { FORCE_COLOR: "1" }, false, false],
    ["NO_COLOR", true, { NO_COLOR: "1" }, undefined, false],
    ["NO_COLOR and FORCE_COLOR", true, { NO_COLOR: "1", FORCE_COLOR: "1" }, undefined, false],
    ["empty NO_COLOR", true, { NO_COLOR: "" }, undefined, true],
    ["FORCE_COLOR in a pipe", false, { FORCE_COLOR: "1" }, undefined, true],
    ["FORCE_COLOR=0", true, { FORCE_COLOR: "0" }, undefined, false],
    ["empty FORCE_COLOR", false, { FORCE_COLOR: "" }, undefined, false],
    ["TERM=dumb", true, { TERM: "dumb" }, undefined, false],
    ["TERM=dumb but FORCE_COLOR", true, { TERM: "dumb", FORCE_COLOR: "1" }, undefined, true],
  ])("with %s", async (_name, isTTY, env, color, coloured) => {
    const { test, output } = open({ isTTY, env }, { color });
    await output.line(bold("x"));
    expect(test.stdoutText()).toBe(coloured ? `${escape}[1mx${escape}[22m\n` : "x\n");
    await output.json('{"a":1}');
    expect(test.stdoutText()).toMatch(/\n\{"a":1\}$/);
  });

  it.each<[string, boolean, Record<string, string>, boolean]>([
    ["a terminal", true, {}, true],
    ["a pipe", false, {}, false],
    ["a dumb terminal", true, { TERM: "dumb" }, false],
    ["CI", true, { CI: "true" }, false],
  ])("motion on %s", (_name, isTTY, env, moves) => {
    expect(open({ isTTY, env }).output.canMove).toBe(moves);
  });
});

describe("CI workflow commands", () => {
  const attacks = [
    "::set-env name=PATH::/evil",
    "  ::add-mask::x",
    "\t::error::x",
    "\u00a0::error::x",
    "line\n::stop-commands::x",
    "\r::error::x",
    ":\r:error::x",
    "##vso[task.setvariable]x",
    "text ##VSO[task.setvariable]x",
    "##[command]x",
    `${" ".repeat(40)}::error::x`,
  ];
  const variables: Record<string, string>[] = [
    { GITHUB_ACTIONS: "true" },
    { TF_BUILD: "True" },
    { GITHUB_ACTIONS: "", TF_BUILD: "True" },
  ];
  it.each(variables)("are broken up with %j, however they are cut", async (env) => {
    for (const attack of attacks) {
      for (let cut = 0; cut <= attack.length; cut++) {
        const { test, output } = open({ env });
        await output.write(attack.slice(0, cut));
        await output.write(attack.slice(cut));
        await output.error(attack);
        await output.flush();
        for (const line of `${test.stdoutText()}\n${test.stderrText()}`.split("\n")) {
          expect(line.trimStart()).not.toMatch(/^::/);
          expect(line).not.toMatch(/##(vso)?\[/i);
        }
      }
    }
  });

  it("are escaped in JSON, which stays the same data", async () => {
    const { test, output } = open({ env: { TF_BUILD: "True" } });
    const value = { a: "##vso[x]", b: "##[x]", c: "::x", d: "#1 # [" };
    await output.json(JSON.stringify(value));
    expect(test.stdoutText()).not.toMatch(/##(vso)?\[/i);
    expect(JSON.parse(test.stdoutText())).toEqual(value);
  });

  it("leave other text and other places alone", async () => {
    const inCi = open({ env: { GITHUB_ACTIONS: "true" } });
    await inCi.output.write("std::vector a::b [x] # [y]\n: :\n");
    expect(inCi.test.stdoutText()).toBe("std::vector a::b [x] # [y]\n: :\n");
    const outside = open();
    await outside.output.write("::note");
    expect(outside.test.stdoutText()).toBe("::note");
  });
});

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

async function fail(extra: Record<string, string>): Promise<{ code: number; err: string }> {
  const cwd = temporaryFolder();
  const context = createTestContext({ cwd, env: cleanEnvironment(cwd, extra) });
  return { code: await main(["connectors", "list"], context), err: context.stderrText() };
}

it("a failure of a run is an annotation in GitHub Actions, and nowhere else", async () => {
  const inActions = await fail({ GITHUB_ACTIONS: "true" });
  expect(inActions.code).toBe(3);
  expect(inActions.err).toMatch(/^error: .+\n(?: {2}.+\n)*::error title=knowctl::.+\n$/);
  expect((await fail({})).err).not.toContain("::error");
});
