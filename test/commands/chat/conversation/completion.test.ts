import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { completePath } from "../../../../src/commands/chat/conversation/completion.ts";
import { temporaryFolder } from "../../../support.ts";
import { createWorld, upload } from "../support.ts";
import { startTalk } from "./talking.ts";

const tab = "\t";

describe("Tab", () => {
  it.each([
    ["/reg", tab, /^> \/regenerate$/m],
    // Nothing to add: as in a shell, the second Tab lists.
    ["/session", tab + tab, /session +sessions/],
    ["/agent san", tab, /^> \/agent Sandbox/m],
    ["/tools inter", tab, /^> \/tools Internal Search$/m],
    ["/tools force lis", tab, /^> \/tools force List documents$/m],
    ["/filter so", tab, /^> \/filter source$/m],
    ["/filter source fi", tab, /^> \/filter source file$/m],
    ["/filter since 3", tab, /^> \/filter since 30d$/m],
    ["/file no", tab, /^> \/file notes\.md$/m],
    ["/save su", tab, /^> \/save sub\/$/m],
  ])("completes %j", async (typed, tabs, shown) => {
    const world = await createWorld({ dialect: "onyx" });
    writeFileSync(join(world.home, "notes.md"), "x");
    mkdirSync(join(world.home, "sub"));
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(typed);
    await talk.untilShown(new RegExp(`^> ${typed}$`, "m"));
    talk.press(tabs);
    await talk.untilShown(shown);
  });

  it("knows the models that this key may use, and those asked for before", async () => {
    const world = await createWorld({
      dialect: "onyx",
      models: { Acme: ["large", "small"], "a/b": ["x"] },
    });
    const talk = await startTalk(world, [], { isTimeless: true });
    await talk.enter("/model Other/old");
    talk.press(`/model acme/${tab}`);
    await talk.untilShown(/^> \/model Acme\/$/m);
    talk.press(tab + tab);
    await talk.untilShown(/Acme\/large +Acme\/small/);
    talk.press(`\u0015/model ot${tab}`);
    await talk.untilShown(/^> \/model Other\/old$/m);
    talk.press(`\u0015/model ${tab}${tab}`);
    await talk.untilShown(/\bdefault\b/);
    expect(talk.screen()).not.toContain("a/b");
  });

  it("knows the sources of the last answer and the sessions of this machine", async () => {
    const world = await createWorld();
    await upload(world, "leave.md", "Leave", "Ask your manager for leave two weeks ahead.");
    const talk = await startTalk(world, [], { isTimeless: true });
    await talk.enter("How do I ask for leave?");
    talk.press(`/open ${tab}`);
    await talk.untilShown(/^> \/open 1$/m);
    talk.press(`\u0015/session ${tab}`);
    await talk.untilShown(/^> \/session [0-9a-f-]{36}$/m);
  });

  it("does nothing where the service cannot tell, or in a message", async () => {
    const world = await createWorld({
      faults: { rules: [{ when: { path: "/api/tool" }, do: { status: 403 } }] },
    });
    const talk = await startTalk(world, [], { isTimeless: true });
    talk.press(`/tools x${tab}y`);
    await talk.untilShown(/^> \/tools xy$/m);
    talk.press(`\u0015plain${tab}text`);
    await talk.untilShown(/^> plaintext$/m);
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
