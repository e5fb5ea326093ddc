import { expect, it } from "vitest";
import { wishes } from "../../../src/commands/mcp/skill.ts";
import { exitCodes } from "../../../src/errors.ts";
import { runHere } from "../../main.ts";
import { startTestService } from "../../service.ts";

const files = { "docs/leave.md": "# Leave\n\nRequest annual leave in the calendar.\n" };

/** The words of a command line, without quotes. */
const wordsOf = (line: string): string[] =>
  [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare ?? "").slice(1);

it("prints every wish, exit code and command in at most 150 lines", async () => {
  const { stdout, code } = await runHere(["skill"], {});
  expect(code).toBe(0);
  expect(stdout.split("\n").length).toBeLessThanOrEqual(150);
  expect(stdout).toMatch(/^---\nname: knowctl\ndescription: .+\n---\n/);
  for (const [wish, line] of wishes) expect(stdout).toContain(`| ${wish} | \`${line}\` |`);
  for (const name of Object.keys(exitCodes)) expect(stdout).toContain(`| ${name} |`);
  for (const name of ["prune", "mcp install", "eval answers"])
    expect(stdout).toContain(`| \`${name}\` |`);
});

it("has command lines that do what they say", async () => {
  const service = await startTestService({ files, dialect: "onyx" });
  const env = { ...service.env, KNOWCTL_DIALECT: "onyx" };
  for (const [wish, line] of wishes) {
    const { code, stdout, stderr } = await runHere(wordsOf(line), { env, cwd: service.folder });
    expect(code, `${wish}: ${line}\n${stderr}`).toBe(0);
    if (line.includes("--output json"))
      expect(() => JSON.parse(stdout) as unknown, line).not.toThrow();
  }
});

it("names every command in its text that exists", async () => {
  const { stdout } = await runHere(["skill"], {});
  const all = [...stdout.matchAll(/^\| `([a-z ]+)` \|/gm)].map(([, name = ""]) => name);
  for (const [, name = ""] of stdout.matchAll(/`knowctl ([a-z]+(?: [a-z]+)?)/g)) {
    const isKnown = all.some(
      (each) => name === each || name.startsWith(`${each} `) || each.startsWith(`${name} `),
    );
    expect(isKnown || name.startsWith("help"), name).toBe(true);
  }
});
