import { PassThrough } from "node:stream";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { main } from "../../main.ts";
import { createTestContext, projectFolder, temporaryFolder } from "../../support.ts";
import { patienceMs } from "../../patience.ts";
import { writeFiles } from "../../service.ts";

const question = "Try it now, with a folder of yours? [Y/n]";

function openTerminal(cwd = temporaryFolder(), args: string[] = [], term?: string) {
  const own = createTestContext({ cwd, isTTY: true });
  const context = term === undefined ? own : { ...own, env: { ...own.env, TERM: term } };
  const stream = new PassThrough();
  const stdin = { ...context.stdin, isTTY: true, stream };
  const handbook = join(projectFolder, "examples", "handbook");
  return {
    context,
    ended: main(args, { ...context, stdin, handbook }),
    async answer(asked: string, text: string) {
      await vi.waitFor(() => expect(context.stderrText()).toContain(asked), patienceMs);
      stream.write(`${text}\n`);
    },
  };
}

describe("knowctl alone on a terminal", () => {
  it("shows the help and offers a trial; no is an end without more", async () => {
    const { context, ended, answer } = openTerminal();
    await answer(question, "n");
    expect(await ended).toBe(0);
    expect(context.stdoutText()).toContain("Usage: knowctl");
    expect(context.stderrText().trim()).toBe(question);
    // The first line of the help stays on a terminal of 24 lines.
    const shown = context.stdoutText() + context.stderrText();
    expect(shown.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
  });

  it("runs the trial for Enter, and asks for the folder until it is one", async () => {
    const { context, ended, answer } = openTerminal();
    await answer(question, "");
    await answer("Which folder of documents", "nosuch");
    await answer("nosuch is not a folder", "");
    expect(await ended).toBe(0);
    expect(context.stderrText()).toMatch(/done\S*: \d+ created/);
    expect(context.stdoutText()).toContain("[1]");
  });

  it("asks nothing where a profile is configured", async () => {
    const cwd = temporaryFolder();
    const profile = { baseUrl: "https://service.example" };
    writeFiles(cwd, {
      "config/knowctl/config.json": JSON.stringify({ profiles: { a: profile } }),
    });
    const { context, ended } = openTerminal(cwd);
    expect(await ended).toBe(0);
    expect(context.stderrText()).toBe("");
  });
});

it("asks one question on a terminal that cannot show a conversation", async () => {
  const cwd = temporaryFolder();
  writeFiles(cwd, { "docs/pumps.md": "# Pumps\n\nOpen the blue valve first.\n" });
  const { context, ended, answer } = openTerminal(cwd, ["try", "docs"], "dumb");
  await answer('Your question [What is in "Pumps"?]', "Which valve comes first?");
  expect(await ended).toBe(0);
  expect(context.stdoutText()).toContain("blue valve");
  expect(context.stderrText()).not.toContain("error:");
});
