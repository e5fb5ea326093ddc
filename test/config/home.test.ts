import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";

const isRoot = process.getuid?.() === 0;

/** Ways in which the folders of the user are not what they should be. */
const homes: Record<string, (folder: string) => Record<string, string>> = {
  "that is missing": (folder) => ({ HOME: join(folder, "gone") }),
  "that is a file": (folder) => {
    writeFileSync(join(folder, "file"), "");
    return { HOME: join(folder, "file") };
  },
  "that is read-only": (folder) => {
    mkdirSync(join(folder, "still"));
    chmodSync(join(folder, "still"), 0o555);
    return { HOME: join(folder, "still") };
  },
  "with XDG variables that name files": (folder) => {
    writeFileSync(join(folder, "file"), "");
    const file = join(folder, "file");
    return {
      XDG_CONFIG_HOME: file,
      XDG_STATE_HOME: file,
      XDG_DATA_HOME: file,
      XDG_CACHE_HOME: file,
    };
  },
  "with relative XDG variables": () => ({
    XDG_CONFIG_HOME: "a",
    XDG_STATE_HOME: "b",
    XDG_DATA_HOME: "c",
    XDG_CACHE_HOME: "d",
  }),
};

const login = [
  "login",
  "--no-check",
  "--with-token",
  "--base-url",
  "https://assistant.example.com",
];

describe.each(Object.entries(homes))("a home folder %s", (name, prepare) => {
  const keeps = name.includes("relative") || name.includes("missing");
  const cases: [args: string[], code: number][] = [
    [["config", "show"], 0],
    [["config", "path"], 0],
    [["connectors", "list"], 3],
    // Whoever may write everywhere may write into a read-only folder.
    [login, keeps || (isRoot && name.includes("read-only")) ? 0 : 14],
  ];
  it.each(cases)("%j ends with %d and at most one message", async (args, code) => {
    const folder = temporaryFolder();
    const {
      XDG_CONFIG_HOME: _c,
      XDG_STATE_HOME: _s,
      XDG_DATA_HOME: _d,
      ...plain
    } = cleanEnvironment(folder);
    const env = { ...plain, ...prepare(folder) };
    const context = createTestContext({ cwd: folder, env, stdin: "a-key\n" });
    const ended = await main(args, context);
    expect({ ended, err: context.stderrText() }).toEqual({ ended: code, err: expect.anything() });
    const errors = context
      .stderrText()
      .split("\n")
      .filter((line) => line.startsWith("error: "));
    expect(errors).toHaveLength(code === 0 ? 0 : 1);
    if (code !== 0) expect(context.stderrText()).toContain("  → ");
  });
});
