import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { main } from "../main.ts";
import { createDesk, type Desk } from "../config/support.ts";
import { createTestContext } from "../support.ts";

const address = { KNOWCTL_API_KEY: "key-of-mine-1", KNOWCTL_BASE_URL: "https://prod.example" };
const init = ["config", "init", "--no-check", "--profile", "p"];

/** Runs `config init` on a terminal or off it; a question gets `answer`. */
async function run(
  desk: Desk,
  flags: string[],
  { answer, cwd = desk.project }: { answer?: string; cwd?: string } = {},
) {
  const isTTY = answer !== undefined;
  const context = createTestContext({ cwd, env: { ...desk.env, ...address }, isTTY });
  const stream = new PassThrough();
  const stdin = { isTTY, stream, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
  setImmediate(() => stream.end(`${answer ?? ""}\n`));
  const code = await main([...init, ...flags], { ...context, stdin });
  return { code, err: context.stderrText() };
}

const path = (desk: Desk) => join(desk.project, ".cliconfig.json");
const written = (desk: Desk) => JSON.parse(readFileSync(path(desk), "utf8")) as unknown;
const handbook = { ingest: { idPrefix: "handbook/" } };

function git(desk: Desk, ...args: string[]): void {
  execFileSync("git", args, { cwd: desk.project, env: desk.env });
}

it.each([
  ["git@host.example:team/handbook.git"],
  ["https://u:sesame@host.example/team/handbook"],
  ["../handbook/"],
  ["C:\\repos\\handbook.git"],
])("proposes the name of the git remote %s", async (url) => {
  const desk = createDesk();
  git(desk, "init", "-q");
  git(desk, "remote", "add", "aaa", "https://host.example/other");
  git(desk, "remote", "add", "origin", url);
  mkdirSync(join(desk.project, "docs"));
  const { code, err } = await run(desk, [], { answer: "", cwd: join(desk.project, "docs") });
  expect([code, err.includes("sesame")]).toEqual([0, false]);
  expect(err).toContain(`${desk.project} ("-" for none) [handbook/]: `);
  expect(written(desk)).toEqual(handbook);
});

it("proposes the name of the folder where there is no remote, or no git", async () => {
  const desk = createDesk();
  expect((await run(desk, [], { answer: "" })).err).toContain("[project/]: ");
  rmSync(join(desk.project, ".git"), { recursive: true });
  rmSync(path(desk));
  expect((await run(desk, [], { answer: "" })).err).toContain("[project/]: ");
  const outside = join(desk.project, "two words");
  mkdirSync(outside);
  expect((await run(desk, [], { answer: "", cwd: outside })).err).not.toContain("[two");
});

it("takes neither a command that was typed ahead nor a yes, and asks again", async () => {
  const desk = createDesk();
  const env = { ...desk.env, ...address };
  const context = createTestContext({ cwd: desk.project, env, isTTY: true });
  const stream = new PassThrough();
  const stdin = { isTTY: true, stream, [Symbol.asyncIterator]: () => stream.iterator() };
  const answers = ["knowctl doctor; ls\n", "y\n", "handbook/\n"];
  const write = async (text: string): Promise<void> => {
    await context.stderr.write(text);
    if (text.includes('("-" for none)')) setImmediate(() => stream.write(answers.shift()));
  };
  const stderr = { ...context.stderr, write };
  expect(await main(init, { ...context, stdin, stderr })).toBe(0);
  expect(context.stderrText()).toContain('"knowctl doctor; ls" is no id prefix');
  expect(context.stderrText()).toContain('"y" is no id prefix');
  expect(written(desk)).toEqual(handbook);
});

it("makes a file that uploads may use at once, on this machine", async () => {
  const desk = createDesk(address);
  await run(desk, [], { answer: "handbook/" });
  expect((await desk.load()).ingest).toEqual(handbook.ingest);
  await (await desk.load()).connection();
});

it("keeps what the project file has, and its trust", async () => {
  const desk = createDesk(address);
  desk.put(".cliconfig.json", { ingest: { tags: ["a"] } });
  const untrusted = await run(desk, [], { answer: "handbook/" });
  expect(untrusted.err).toMatch(/before\s+you\s+upload:\s+knowctl\s+config\s+trust/);
  expect(written(desk)).toEqual({ ingest: { tags: ["a"], idPrefix: "handbook/" } });
  expect((await desk.load()).refused).toBeDefined();
  expect((await run(desk, [], { answer: "" })).err).not.toContain("Id prefix");
  await main(["config", "trust"], createTestContext({ cwd: desk.project, env: desk.env }));
  await run(desk, ["--id-prefix", "other/"]);
  expect((await desk.load()).refused).toBeUndefined();
  expect((await desk.load()).ingest).toEqual({ tags: ["a"], idPrefix: "other/" });
});

it("writes nothing for none, without a terminal, and for the home folder", async () => {
  const desk = createDesk();
  for (const [flags, answer] of [
    [[], "-"],
    [["--id-prefix", ""], "x"],
    [["--no-input"], "x"],
    [[], undefined],
  ] as const) {
    const { code } = await run(desk, [...flags], answer === undefined ? {} : { answer });
    expect([code, existsSync(path(desk))]).toEqual([0, false]);
  }
  const home = desk.env["HOME"]!;
  const { err } = await run(desk, [], { answer: "x", cwd: home });
  expect([basename(home) !== "", err.includes("Id prefix")]).toEqual([true, false]);
});

it("asks nothing where the user file has a prefix for every project", async () => {
  const desk = createDesk();
  desk.putUser(handbook);
  const { code, err } = await run(desk, [], { answer: "x" });
  expect([code, err.includes("Id prefix")]).toEqual([0, false]);
});

it("takes the flag off a terminal", async () => {
  const desk = createDesk();
  const { code, err } = await run(desk, ["--id-prefix", "handbook/"]);
  expect(code).toBe(0);
  expect(err).toContain(`begin with handbook/ (ingest.idPrefix in ${path(desk)})`);
  expect(written(desk)).toEqual(handbook);
});
