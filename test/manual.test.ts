import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { helpTexts } from "../src/cli/program.ts";
import { projectFolder } from "./support.ts";

const path = join(projectFolder, "docs", "knowctl.1");
const page = readFileSync(path, "utf8");
const hasProgram = (name: string): boolean => spawnSync(name, ["--version"]).error === undefined;

// That it is what the program says today is a check of scripts/docs.js, as for the other documents.
describe("the manual page", () => {
  it("has a section for each command, and each flag", () => {
    const plain = page.replaceAll("\\-", "-");
    const commands = Object.keys(helpTexts()).filter(Boolean);
    const sections = [...plain.matchAll(/^\.SS knowctl (.+)$/gm)].map(([, name]) => name);
    expect(sections).toEqual(commands);
    for (const text of Object.values(helpTexts())) {
      const flags = [...text.matchAll(/^ {2}(--[\w-]+|-\w, --[\w-]+)/gm)].map(([, flag]) => flag!);
      for (const flag of flags) expect(plain).toContain(`\\fB${flag}`);
    }
  });

  it("is ASCII, and no text of it is taken for a request", () => {
    expect(page).toMatch(/^[\n -~]*$/);
    const requests = [...page.matchAll(/^[.'](\S+)/gm)].map(([, name]) => name!);
    const used = ["B", "PP", "SH", "SS", "TH", "TP", '\\"', "fi", "nf"];
    expect(requests.filter((name) => !used.includes(name))).toEqual([]);
  });

  it("has no paragraph right after a heading, of which mandoc warns", () => {
    expect(page).not.toMatch(/^\.S[HS] .*\n\.PP$/m);
  });

  it.runIf(hasProgram("groff"))("is set by groff without a warning", () => {
    const { stderr } = spawnSync("groff", ["-ww", "-man", "-Tutf8", "-z", path]);
    expect(String(stderr)).toBe("");
  });

  it.runIf(spawnSync("mandoc", [path]).error === undefined)(
    "has nothing for mandoc to mend",
    () => {
      const { stdout } = spawnSync("mandoc", ["-T", "lint", "-W", "warning", path]);
      // A date would change the file with each day that it is made on.
      const others = String(stdout)
        .split("\n")
        .filter((line) => line && !/missing date/.test(line));
      expect(others).toEqual([]);
    },
  );
});
