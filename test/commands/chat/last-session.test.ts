import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readLastSession, rememberSession } from "../../../src/commands/chat/last-session.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";

const owner = { profile: "default", baseUrl: "http://127.0.0.1:8787" };

function environment() {
  const home = temporaryFolder();
  const env = cleanEnvironment(home);
  return {
    env,
    folder: join(home, "state", "knowctl"),
    file: join(home, "state", "knowctl", "sessions.json"),
  };
}

describe("the last session", () => {
  it("is kept per profile and service", () => {
    const { env } = environment();
    rememberSession(env, owner, "a");
    rememberSession(env, { ...owner, profile: "other" }, "b");
    rememberSession(env, { ...owner, baseUrl: "https://elsewhere" }, "c");
    rememberSession(env, owner, "d");
    expect(readLastSession(env, owner)).toBe("d");
    expect(readLastSession(env, { ...owner, profile: "other" })).toBe("b");
    expect(readLastSession(env, { ...owner, baseUrl: "https://elsewhere" })).toBe("c");
  });

  it("lies in a file of mode 0600 and leaves no other behind", () => {
    const { env, file, folder } = environment();
    rememberSession(env, owner, "a");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(["sessions.json"]);
  });

  it("is not found where there is none", () => {
    const { env } = environment();
    expect(() => readLastSession(env, owner)).toThrow(
      expect.objectContaining({ exit: "not-found" }),
    );
  });

  it.each(["", "junk", "[]", "null", '{"sessions":5}', '{"sessions":[null,{"profile":1}]}'])(
    "a broken file (%j) holds none and is replaced",
    (content) => {
      const { env, file, folder } = environment();
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, content);
      expect(() => readLastSession(env, owner)).toThrow(
        expect.objectContaining({ exit: "not-found" }),
      );
      rememberSession(env, owner, "a");
      expect(readLastSession(env, owner)).toBe("a");
    },
  );

  it("does not let the file grow for ever", () => {
    const { env, file } = environment();
    const sessions = Array.from({ length: 500 }, (_, index) => ({
      ...owner,
      profile: `p${index}`,
      sessionId: "s",
    }));
    mkdirSync(join(file, ".."), { recursive: true });
    writeFileSync(file, JSON.stringify({ version: 1, sessions }));
    rememberSession(env, owner, "a");
    const kept = JSON.parse(readFileSync(file, "utf8")) as { sessions: unknown[] };
    expect(kept.sessions.length).toBe(200);
    expect(readLastSession(env, owner)).toBe("a");
  });

  it("says when it cannot be written or read", () => {
    const { env, file } = environment();
    mkdirSync(file, { recursive: true });
    expect(() => rememberSession(env, owner, "a")).toThrow(
      expect.objectContaining({ exit: "local" }),
    );
    expect(() => readLastSession(env, owner)).toThrow(expect.objectContaining({ exit: "local" }));
  });
});
