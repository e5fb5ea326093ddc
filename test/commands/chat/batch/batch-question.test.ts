import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { createWorld, type World } from "../support.ts";

const told = (stdout: string): object[] =>
  stdout
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line) as object);

function write(world: World, name: string, lines: readonly object[]): void {
  const text = lines.map((line) => `${JSON.stringify(line)}\n`);
  writeFileSync(join(world.home, name), text.join(""));
}

const question = { id: "a", message: "How do I request leave?" };
const resume = ["--batch", "q.ndjson", "--resume", "r.ndjson"];
const messages = (world: World): string[] =>
  world.sandbox.ledger.chats.map((body) => String(body["message"]));

describe("chat --batch --resume with another question", () => {
  it.each([
    ["another agent", ["--agent", "5"]],
    ["another model", ["--model", "openai/gpt-9"]],
    ["deep research", ["--deep-research"]],
    ["another filter", ["--since", "7d"]],
    ["another tag", ["--filter-tag", "team=a"]],
    ["no tool", ["--no-tools"]],
    ["another session", ["--session", "00000000-0000-4000-8000-000000000000"]],
  ])("asks again with %s", async (_name, flags) => {
    const world = await createWorld({ models: { openai: ["gpt-9"] } });
    write(world, "q.ndjson", [question]);
    const first = await world.run(["--batch", "q.ndjson"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    world.sandbox.ledger.chats.length = 0;
    const { stdout } = await world.run([...resume, ...flags]);
    expect(told(stdout)).toHaveLength(1);
    expect(messages(world)).toEqual([question.message]);
  });

  it("asks again with another configuration, and another service", async () => {
    const world = await createWorld();
    const other = await createWorld();
    write(world, "q.ndjson", [question]);
    const first = await world.run(["--batch", "q.ndjson"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    await world.run([...resume, "--base-url", other.sandbox.url]);
    expect(messages(other)).toEqual([question.message]);
    const config = JSON.stringify({ chat: { temperature: 0.5 } });
    writeFileSync(join(world.home, "c.json"), config);
    await world.run([...resume, "--config", "c.json"]);
    expect(messages(world)).toEqual([question.message, question.message]);
  });

  it("asks nothing again with other flags that leave the question as it is", async () => {
    const world = await createWorld();
    write(world, "q.ndjson", [question, { message: "Why?", agent: 0, since: "7d" }]);
    const first = await world.run(["--batch", "q.ndjson"]);
    writeFileSync(join(world.home, "r.ndjson"), first.stdout);
    write(world, "q.ndjson", [question, { since: "7d", agent: 0, message: "Why?" }]);
    const flags = ["--concurrency", "1", "--no-stream", "--max-packet", "1MiB", "--quiet"];
    expect(await world.run([...resume, ...flags])).toMatchObject({ code: 0, stdout: "" });
    expect(messages(world)).toHaveLength(2);
  });

  it("asks again what an older result may not answer, and says so once", async () => {
    const world = await createWorld({ dialect: "onyx" });
    write(world, "q.ndjson", [question, { message: "Why?" }]);
    const first = await world.run(["--batch", "q.ndjson"]);
    const older = told(first.stdout).map((each) => ({ ...each, question: undefined }));
    write(world, "r.ndjson", older);
    write(world, "q.ndjson", [{ ...question, message: "And in summer?" }, { message: "Why?" }]);
    world.sandbox.ledger.chats.length = 0;
    const forbidden = await world.run([...resume, "--no-reask"]);
    expect(forbidden).toMatchObject({ code: 10, stdout: "" });
    expect(forbidden.stderr).toContain("2 not asked again");
    const { code, stdout, stderr } = await world.run(resume);
    expect(code).toBe(0);
    expect(messages(world).toSorted()).toEqual(["And in summer?", "Why?"]);
    expect(stderr.match(/do not record their question/g)).toHaveLength(1);
    write(world, "r.ndjson", [...older, ...told(stdout)]);
    const again = await world.run(resume);
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).not.toContain("what was asked");
  });
});
