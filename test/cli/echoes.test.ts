import { describe, expect, it } from "vitest";
import { main } from "../main.ts";
import { cleanEnvironment, createTestContext } from "../support.ts";

const value = "CANARY'\n(x) 'is invalid. é";

async function run(args: readonly string[], env: Record<string, string> = {}) {
  const context = createTestContext();
  const code = await main(args, { ...context, env: cleanEnvironment(context.cwd, env) });
  return { code, text: context.stderrText() + context.stdoutText() };
}

describe("a command line that is refused", () => {
  it.each([
    [["api", `-t${value}`], "unknown option '-t'"],
    [["api", "-t=CANARY", "tool"], "unknown option '-t'"],
    [
      ["api", `--key=${value}`, "tool"],
      "option '--key <which>' argument is invalid. Expected one of api, access.",
    ],
    [
      ["api", "--key", value, "tool"],
      "option '--key <which>' argument is invalid. Expected one of api, access.",
    ],
    [["api", `--keys=${value}`, "tool"], "unknown option '--keys'"],
    [
      [`--dialect=${value}`, "tools", "list"],
      "argument is invalid. Expected one of standard, onyx.",
    ],
    [["chat", `-é${value}`], "unknown option ''"],
    [["ingest", "docs", `--cc-pair-id=${value}`], "Expected a whole number from 1 to"],
    [["report", "x", `-o${value}`], "argument is invalid. Expected one of"],
  ])("does not repeat a value that may be a key: %j", async (args, words) => {
    const { code, text } = await run(args);
    expect(code).toBe(2);
    expect(text).toContain(words);
    expect(text).not.toContain("CANARY");
  });

  it("has no key of the environment in it, wherever that stands", async () => {
    const key = "CANARY-key-of-the-environment";
    for (const name of ["KNOWCTL_API_KEY", "KNOWCTL_ACCESS_TOKEN"]) {
      const { code, text } = await run([key], { [name]: `${key}\n` });
      expect(code).toBe(2);
      expect(text).toContain("unknown command '***'");
      expect(text).not.toContain("CANARY");
    }
  });
});
