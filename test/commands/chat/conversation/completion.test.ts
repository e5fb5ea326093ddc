import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completePath } from "../../../../src/commands/chat/conversation/slash/completion.ts";
import { temporaryFolder } from "../../../support.ts";
import { createWorld, upload } from "../support.ts";
import { startTalk } from "./talking.ts";

const tab = "\t";

describe("Tab", () => {
  it.each([
    ["/reg", "> /regenerate "],
    ["/session", "session   sessions"],
    ["/agent san", "> /agent Sandbox"],
    ["/tools inter", "> /tools Internal Search"],
    ["/tools force lis", "> /tools force List documents"],
    ["/filter so", "> /filter source "],
    ["/filter source fi", "> /filter source file"],
    ["/filter since 3", "> /filter since 30d"],
    ["/file no", "> /file notes.md"],
    ["/save su", "> /save sub/"],
  ])("completes %j", async (typed, shown) => {
    const world = await createWorld({ dialect: "onyx" });
    writeFileSync(join(world.home, "notes.md"), "x");
    mkdirSync(join(world.home, "sub"));
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(typed);
    await talk.until(`> ${typed}`);
    talk.news();
    talk.press(tab);
    await talk.until(shown);
  });

  it("knows the models that this key may use, and those asked for before", async () => {
    const world = await createWorld({
      dialect: "onyx",
      models: { Acme: ["large", "small"], "a/b": ["x"] },
    });
    const talk = await startTalk(world, [], { isTimeless: true });
    await talk.enter("/model Other/old");
    talk.press(`/model acme/${tab}`);
    await talk.until("Acme/large  Acme/small");
    talk.press(`\u0015/model ot${tab}`);
    await talk.until("> /model Other/old");
    talk.press(`\u0015/model ${tab}`);
    await talk.until("default");
    expect(talk.screen()).not.toContain("a/b");
  });

  it("knows the sources of the last answer and the sessions of this machine", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world, [], { isTimeless: true });
    await talk.enter("How do I ask for leave?");
    talk.press(`/open ${tab}`);
    await talk.until("> /open 1");
    talk.press(`\u0015/session ${tab}`);
    await talk.until(/> \/session [0-9a-f-]{36}/);
  });

  it("does nothing where the service cannot tell, or in a message", async () => {
    const world = await createWorld({
      faults: { rules: [{ when: { path: "/api/tool" }, do: { status: 403 } }] },
    });
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(`/tools x${tab}y`);
    await talk.until("> /tools xy");
    talk.press(`\u0015plain${tab}text`);
    await talk.until("> plaintext");
  });
});

describe("a path", () => {
  const folder = (): string => {
    const path = temporaryFolder();
    for (const name of ["a b.md", "ab.md", ".hidden", "\u001bx"])
      writeFileSync(join(path, name), "");
    mkdirSync(join(path, "abc"));
    return path;
  };

  it.each([
    ["", ["a b.md", "ab.md", "abc/"]],
    ["ab", ["ab.md", "abc/"]],
    [".", [".hidden"]],
    ["./a ", ["./a b.md"]],
    ["abc/", []],
  ])("of %j may become %j", async (typed, found) => {
    const root = folder();
    expect(await completePath(typed, (path) => join(root, path))).toEqual(found);
  });
});
