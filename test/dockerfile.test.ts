import { execFileSync } from "node:child_process";
import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { projectFolder, runCli, temporaryFolder } from "./support.ts";

interface Instruction {
  name: string;
  value: string;
}

/** Instructions of a Dockerfile: comments off, continued lines joined. */
function parse(text: string): Instruction[] {
  const lines = text.replace(/^#.*\n/gm, "").replace(/\\\n\s*/g, "");
  return lines
    .split("\n")
    .filter(Boolean)
    .map((line) => {
      const [, name = "", value = ""] = /^([A-Z]+) (.+)$/.exec(line) ?? [];
      return { name, value };
    });
}

const instructions = parse(readFileSync(join(projectFolder, "Dockerfile"), "utf8"));
const last = instructions.findLastIndex(({ name }) => name === "FROM");
const stages = { build: instructions.slice(0, last), final: instructions.slice(last) };
const named = (stage: keyof typeof stages, name: string): string[] =>
  stages[stage].filter((each) => each.name === name).map(({ value }) => value);

describe("the Dockerfile", () => {
  it("has instructions alone", () => {
    expect(instructions.filter(({ name }) => name === "")).toEqual([]);
  });

  it("names its base exactly, and slim", () => {
    const [image = ""] = named("build", "ARG");
    expect(image).toMatch(/^NODE_IMAGE=docker\.io\/library\/node:\d+\.\d+\.\d+-[a-z]+-slim$/);
    const bases = instructions.filter(({ name }) => name === "FROM").map(({ value }) => value);
    expect(bases).toEqual(["${NODE_IMAGE} AS build", "${NODE_IMAGE}"]);
  });

  it("installs from the lockfile alone and runs no scripts of packages", () => {
    expect(named("build", "RUN")[0]).toMatch(/^npm ci --ignore-scripts\b/);
    expect(instructions.some(({ name }) => name === "ADD")).toBe(false);
  });

  it("ends as a user who is not root, with nothing built or installed in that stage", () => {
    expect(named("final", "USER")).toEqual(["1000:1000"]);
    expect(named("final", "RUN")).toEqual([]);
    expect(named("final", "COPY")).toEqual([
      "--from=build --chmod=0755 /out/knowctl.cjs /usr/local/bin/knowctl",
    ]);
    expect(named("final", "WORKDIR")).toEqual(["/work"]);
    expect(named("final", "HEALTHCHECK")).toEqual(["NONE"]);
    // Without a shell: signals reach the program.
    expect(JSON.parse(named("final", "ENTRYPOINT")[0]!)).toHaveLength(2);
  });

  it("holds no secret", () => {
    const set = instructions.filter(({ name }) => name === "ENV" || name === "ARG");
    expect(set.filter(({ value }) => /key|token|secret|password/i.test(value))).toEqual([]);
    expect(named("build", "COPY").join(" ")).not.toMatch(/(?:^| )\.(?: |$)/);
  });

  it("sends the builder only what it copies", () => {
    const rules = readFileSync(join(projectFolder, ".dockerignore"), "utf8")
      .split("\n")
      .filter((line) => line !== "" && !line.startsWith("#"));
    const copied = named("build", "COPY").flatMap((value) => value.split(" ").slice(0, -1));
    expect(rules).toEqual(["*", ...copied.map((name) => `!${name}`)]);
  });

  // No engine is at hand in the tests: its build stage is done by hand, with the files that it copies.
  it("copies all that its build needs", async () => {
    const folder = temporaryFolder();
    for (const value of named("build", "COPY")) {
      const sources = value.split(" ").slice(0, -1);
      for (const source of sources) {
        const options = { recursive: true, preserveTimestamps: true };
        cpSync(join(projectFolder, source), join(folder, source), options);
      }
    }
    symlinkSync(join(projectFolder, "node_modules"), join(folder, "node_modules"), "dir");
    const build = named("build", "RUN")[1]!.replace("/out", join(folder, "out")).split(" ");
    execFileSync(build[0]!, build.slice(1), {
      cwd: folder,
      stdio: ["ignore", "ignore", "inherit"],
    });
    expect(existsSync(join(folder, "out", "knowctl.cjs"))).toBe(true);
    // As it is named in the image.
    const program = join(temporaryFolder(), "knowctl");
    cpSync(join(folder, "out", "knowctl.cjs"), program);
    const run = { cwd: folder, env: {}, program };
    expect(await runCli(["--version"], run)).toMatchObject({ code: 0, stderr: "" });
  });
});
