import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  forgetSession,
  indexedSession,
  indexedSessions,
  lastSession,
  recordQuestion,
  retitle,
  titleOf,
} from "../../../src/commands/chat/session/session-index.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";

const owner = { profile: "default", baseUrl: "http://127.0.0.1:8787" };

function setUp() {
  const home = temporaryFolder();
  const env = cleanEnvironment(home);
  let now = Date.UTC(2026, 0, 1);
  return {
    env,
    root: join(home, "state", "knowctl", "sessions"),
    ask: (sessionId: string, by = owner, title = `about ${sessionId}`) =>
      recordQuestion(env, by, { sessionId, messageId: 3, title, now: (now += 1000) }),
    ids: (by = owner) => [...indexedSessions(env, by)].map(({ id }) => id),
    folder: () =>
      join(
        home,
        "state",
        "knowctl",
        "sessions",
        readdirSync(join(home, "state", "knowctl", "sessions"))[0]!,
      ),
  };
}

describe("the index of sessions", () => {
  it("is kept per profile and service, the one used last first", () => {
    const { env, ask, ids } = setUp();
    ask("a");
    ask("b", { ...owner, profile: "other" });
    ask("c", { ...owner, baseUrl: "https://elsewhere" });
    ask("d");
    ask("e");
    ask("a", owner, "another question");
    expect(ids()).toEqual(["a", "e", "d"]);
    expect(lastSession(env, owner)).toEqual({
      id: "a",
      title: "about a",
      createdAt: "2026-01-01T00:00:01.000Z",
      updatedAt: "2026-01-01T00:00:06.000Z",
      questions: 2,
      messageId: 3,
    });
    expect(ids({ ...owner, profile: "other" })).toEqual(["b"]);
    expect(ids({ ...owner, baseUrl: "https://elsewhere" })).toEqual(["c"]);
  });

  it("lies in files of mode 0600 in folders of mode 0700, and leaves no other behind", () => {
    const { ask, folder } = setUp();
    ask("a");
    expect(readdirSync(folder())).toEqual(["a.json"]);
    expect(statSync(join(folder(), "a.json")).mode & 0o777).toBe(0o600);
    expect(statSync(folder()).mode & 0o777).toBe(0o700);
  });

  it("has none where nothing was asked", () => {
    const { env, ids } = setUp();
    expect(ids()).toEqual([]);
    expect(() => lastSession(env, owner)).toThrow(expect.objectContaining({ exit: "not-found" }));
  });

  it.each(["", "junk", "[]", "null", '{"title":5}', "x".repeat(20_000)])(
    "leaves out a damaged entry (%#), which is replaced by the next question",
    (content) => {
      const { env, ask, ids, folder } = setUp();
      ask("a");
      ask("b");
      writeFileSync(join(folder(), "b.json"), content);
      expect(ids()).toEqual(["a"]);
      expect(lastSession(env, owner).id).toBe("a");
      ask("b");
      expect(ids()).toEqual(["b", "a"]);
    },
  );

  it("keeps 500 sessions, the oldest go", () => {
    const { ask, ids, folder } = setUp();
    for (let number = 0; number < 503; number++) ask(`s${number}`);
    expect(readdirSync(folder()).length).toBe(500);
    expect(ids()[0]).toBe("s502");
    expect(ids().at(-1)).toBe("s3");
  });

  it("does not gather services for ever", () => {
    const { ask, root } = setUp();
    for (let port = 0; port < 105; port++) ask("a", { ...owner, baseUrl: `http://h:${port}` });
    expect(readdirSync(root).length).toBe(100);
  });

  it("takes another title without coming first, and forgets", () => {
    const { env, ask, ids } = setUp();
    ask("a");
    ask("b");
    retitle(env, owner, "a", "Leave\nand \u001b[31mholidays");
    retitle(env, owner, "unknown", "x");
    expect(ids()).toEqual(["b", "a"]);
    expect(indexedSession(env, owner, "a")?.title).not.toMatch(/[\u0000-\u001f]/);
    forgetSession(env, owner, "b");
    forgetSession(env, owner, "b");
    expect(ids()).toEqual(["a"]);
  });

  it.each(["../../x", "a/b", "", "x".repeat(201), "."])(
    "makes no file of an id that is none (%j)",
    (id) => {
      const { env, ask, root } = setUp();
      ask(id);
      forgetSession(env, owner, id);
      expect(indexedSession(env, owner, id)).toBeUndefined();
      expect(() => statSync(root)).toThrow(expect.objectContaining({ code: "ENOENT" }));
    },
  );

  it("says when it cannot be written or read", () => {
    const { env, ask, ids, root } = setUp();
    mkdirSync(join(root, ".."), { recursive: true });
    writeFileSync(root, "");
    expect(() => ask("a")).toThrow(expect.objectContaining({ exit: "local" }));
    expect(() => ids()).toThrow(expect.objectContaining({ exit: "local" }));
    expect(() => lastSession(env, owner)).toThrow(expect.objectContaining({ exit: "local" }));
  });
});

describe("titleOf", () => {
  it.each([
    ["  How do I\n request   leave? ", "How do I request leave?"],
    ["x".repeat(81), `${"x".repeat(79)}…`],
    ["x".repeat(80), "x".repeat(80)],
    ["👨‍👩‍👧".repeat(90), `${"👨‍👩‍👧".repeat(79)}…`],
    ["", ""],
  ])("%j", (question, title) => {
    expect(titleOf(question)).toBe(title);
  });
});
