import fs, {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { whileLocked, writeWhole } from "../../src/config/file/files.ts";
import { expandPath, isInside } from "../../src/config/find/folders.ts";
import { CliError } from "../../src/errors.ts";
import { replaceInFileSystem, startSocket } from "../file-system.ts";
import { cleanEnvironment, temporaryFolder } from "../support.ts";
import { execFileSync } from "node:child_process";
import { runHere } from "../main.ts";
import { startTestService, testKey, writeFiles } from "../service.ts";
import { syncBuiltinESMExports } from "node:module";

describe("files", () => {
  const modeOf = (path: string): number => statSync(path).mode & 0o777;

  it("a private file gets mode 0600 in a folder of 0700, whatever it had", () => {
    const folder = temporaryFolder();
    const path = join(folder, "new", "deep", "file.json");
    writeWhole(path, "one");
    expect([readFileSync(path, "utf8"), modeOf(path), modeOf(join(folder, "new"))]).toEqual([
      "one",
      0o600,
      0o700,
    ]);
    chmodSync(path, 0o644);
    writeWhole(path, "two");
    expect([readFileSync(path, "utf8"), modeOf(path)]).toEqual(["two", 0o600]);
  });

  it("takes the longest name of the file system, and advises a shorter one than that", () => {
    const path = join(temporaryFolder(), "x".repeat(255));
    writeWhole(path, "one");
    expect(readFileSync(path, "utf8")).toBe("one");
    expect(() => writeWhole(`${path}x`, "one")).toThrow(
      expect.objectContaining({ exit: "local", hints: ["choose a shorter name"] }),
    );
  });

  it("keepMode keeps the mode of a file that is there", () => {
    const path = join(temporaryFolder(), "file.json");
    writeWhole(path, "one", { keepMode: true });
    expect(modeOf(path)).toBe(0o644);
    chmodSync(path, 0o640);
    writeWhole(path, "two", { keepMode: true });
    expect(modeOf(path)).toBe(0o640);
  });

  it("a link stays a link, and its target is written", () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "real"), "one");
    symlinkSync("real", join(folder, "link"));
    writeWhole(join(folder, "link"), "two");
    expect(readFileSync(join(folder, "real"), "utf8")).toBe("two");
  });

  it("a socket stays", async () => {
    const path = join(temporaryFolder(), "socket");
    await startSocket(path);
    expect(() => writeWhole(path, "text")).toThrow(
      `cannot write ${path}: it is not a regular file`,
    );
    expect(statSync(path).isSocket()).toBe(true);
  });

  it("a failure leaves nothing behind and names the path", () => {
    const folder = temporaryFolder();
    mkdirSync(join(folder, "target"));
    expect(() => writeWhole(join(folder, "target"), "text")).toThrow(CliError);
    expect(() => writeWhole(join(folder, "target"), "text")).toThrow(join(folder, "target"));
    expect(readdirSync(folder)).toEqual(["target"]);
    writeFileSync(join(folder, "file"), "");
    expect(() => writeWhole(join(folder, "file", "below"), "text")).toThrow(
      "a part of its path is not a folder",
    );
  });

  it.each([
    ["~", "/home/x"],
    ["~/a", "/home/x/a"],
    ["a", "/here/a"],
    ["/a", "/a"],
    ["~other/a", "/here/~other/a"],
  ])("expandPath %s", (path, expected) => {
    expect(expandPath(path, "/here", "/home/x")).toBe(expected);
  });

  it.each([
    ["/a", "/a", true],
    ["/a", "/a/b", true],
    ["/a", "/a/..b", true],
    ["/a", "/ab", false],
    ["/a", "/", false],
  ])("isInside %s %s", (folder, path, expected) => {
    expect(isInside(folder, path)).toBe(expected);
  });
});

describe("at once", () => {
  const ten = Array.from({ length: 10 }, (_, index) => index);

  function desk(files: Record<string, string> = {}) {
    const folder = temporaryFolder();
    const env = cleanEnvironment(folder, { KNOWCTL_API_KEY: "some-key-1" });
    const config = join(env["XDG_CONFIG_HOME"]!, "knowctl");
    mkdirSync(config, { recursive: true });
    const profiles = Object.fromEntries(
      ten.map((each) => [`p${each}`, { baseUrl: "http://127.0.0.1:9" }]),
    );
    writeFileSync(join(config, "config.json"), JSON.stringify({ profiles }), { mode: 0o600 });
    writeFiles(folder, files);
    const run = (args: string[], stdin?: string) =>
      runHere(args, { cwd: folder, env, ...(stdin === undefined ? {} : { stdin }) });
    const saved = (): {
      defaultProfile?: string;
      profiles: Record<string, { apiKey?: string; timeout?: number }>;
    } => JSON.parse(readFileSync(join(config, "config.json"), "utf8"));
    return { folder, config, env, run, saved };
  }

  describe("ten changes of one file at once are all kept", () => {
    it("config set, and login", async () => {
      const { run, saved } = desk();
      const ran = await Promise.all(
        ten.map((each) =>
          each % 2 === 0
            ? run(["config", "set", `profiles.p${each}.timeout`, String(each + 1)])
            : run(
                ["login", "--profile", `p${each}`, "--with-token", "--no-check"],
                `key-${each}-long`,
              ),
        ),
      );
      expect(ran.map(({ code }) => code)).toEqual(ten.map(() => 0));
      const { profiles } = saved();
      for (const each of ten) {
        const own = each % 2 === 0 ? { timeout: each + 1 } : { apiKey: `key-${each}-long` };
        expect(profiles[`p${each}`]).toMatchObject(own);
      }
    });

    it("config use, and config set", async () => {
      const { run, saved } = desk();
      const ran = await Promise.all(
        ten.map((each) =>
          run(
            each % 2 === 0
              ? ["config", "set", `profiles.p${each}.timeout`, String(each + 1)]
              : ["config", "use", `p${each}`],
          ),
        ),
      );
      expect(ran.map(({ code }) => code)).toEqual(ten.map(() => 0));
      const { profiles, defaultProfile } = saved();
      expect(defaultProfile).toMatch(/^p[13579]$/);
      for (const each of [0, 2, 4, 6, 8]) expect(profiles[`p${each}`]?.timeout).toBe(each + 1);
    });

    it("config trust", async () => {
      const { run, env } = desk(
        Object.fromEntries(ten.map((each) => [`f${each}.json`, '{"ingest":{"ccPairId":2}}'])),
      );
      const ran = await Promise.all(ten.map((each) => run(["config", "trust", `f${each}.json`])));
      expect(ran.map(({ code }) => code)).toEqual(ten.map(() => 0));
      const store = join(env["XDG_STATE_HOME"]!, "knowctl", "trust.json");
      const { files } = JSON.parse(readFileSync(store, "utf8")) as { files: object };
      expect(Object.keys(files)).toHaveLength(10);
    });
  });

  describe.runIf(process.platform !== "win32")(
    "a pipe in place of a file is not waited for",
    () => {
      it.each([
        [".cliconfig.json", "config list", 3],
        [".cliconfig.yaml", "connectors list", 3],
        ["package.json", "config list", 3],
        ["named.json", "config show --config named.json", 3],
        ["named.json", "config set timeout 3 --config named.json", 3],
        ["config/knowctl/config.json", "config list", 3],
        ["config/knowctl/config.json", "config set defaultProfile p1", 3],
        ["config/knowctl/config.json", "login --with-token --no-check", 3],
        ["state/knowctl/trust.json", "config trust f.json", 3],
        ["state/knowctl/trust.json", "config show", 3],
        ["replies/recording.json", "eval retrieval suite.json --replay replies", 2],
        ["answer.ndjson", "chat --replay answer.ndjson", 2],
        ["cases.json", "eval retrieval cases.json", 2],
        ["base.json", "lint docs --baseline base.json", 2],
        ["results.ndjson", "chat --batch q.ndjson --resume results.ndjson --profile p1", 2],
      ])("%s: %s", async (file, line, code) => {
        const { folder, env, run } = desk({
          "q.ndjson": '{"message":"hi"}\n',
          "f.json": "{}",
          "docs/a.md": "# A\n",
          "suite.json":
            '{"version":1,"cases":[{"id":"a","question":"b","must_retrieve":["docs/a.md"]}]}',
          ...(file.startsWith("state/") ? { ".cliconfig.json": '{"ingest":{"ccPairId":2}}' } : {}),
        });
        const path = file.startsWith("config/")
          ? join(env["XDG_CONFIG_HOME"]!, file.slice("config/".length))
          : join(file.startsWith("state/") ? join(env["XDG_STATE_HOME"]!, "..") : folder, file);
        mkdirSync(dirname(path), { recursive: true });
        execFileSync("rm", ["-f", path]);
        execFileSync("mkfifo", [path]);
        const ran = await run(line.split(" "), "key-of-mine\n");
        expect({ code: ran.code, stderr: ran.stderr }).toEqual({
          code,
          stderr: expect.stringContaining("not a regular file"),
        });
      });
    },
  );

  it("a file of UTF-16 is named as such", async () => {
    const { folder, run } = desk();
    const text = Buffer.from("\uFEFF{}", "utf16le");
    writeFileSync(join(folder, ".cliconfig.json"), text);
    const { code, stderr } = await run(["config", "list"]);
    expect({ code, stderr }).toEqual({ code: 3, stderr: expect.stringContaining("UTF-16") });
  });

  describe("login tries the key", () => {
    async function start(dialect: "standard" | "onyx") {
      const service = await startTestService({ dialect });
      const place = desk();
      const profiles = { p1: { baseUrl: service.sandbox.url, apiKey: testKey } };
      writeFileSync(join(place.config, "config.json"), JSON.stringify({ profiles }));
      const flags = ["login", "--profile", "p1", "--with-token"];
      return {
        ...place,
        login: (key: string, ...more: string[]) => place.run([...flags, ...more], key),
      };
    }

    it.each(["standard", "onyx"] as const)(
      "%s: keeps the one that works, and not a refused one",
      async (dialect) => {
        const { login, saved } = await start(dialect);
        const refused = await login("wrong-key-1");
        expect(refused.code).toBe(4);
        expect(refused.stderr).toContain("--no-check");
        expect(saved().profiles["p1"]?.apiKey).toBe(testKey);
        expect(await login("wrong-key-1", "--no-check")).toMatchObject({ code: 0 });
        expect(saved().profiles["p1"]?.apiKey).toBe("wrong-key-1");
        expect(await login(testKey)).toMatchObject({ code: 0 });
        expect(saved().profiles["p1"]?.apiKey).toBe(testKey);
      },
    );

    it("takes one that the service knows, and that may not list connectors", async () => {
      const { login, saved } = await start("onyx");
      expect(await login(`${testKey}-reader`)).toMatchObject({ code: 0 });
      expect(saved().profiles["p1"]?.apiKey).toBe(`${testKey}-reader`);
      expect(await login(`${testKey}-scoped`)).toMatchObject({ code: 0 });
    });
  });
});

describe("a lock that the disk keeps", () => {
  it("hides neither the result nor the error of the change", async () => {
    const path = join(temporaryFolder(), "a.json");
    replaceInFileSystem("rmSync", (actual) => (file: string, ...others: unknown[]) => {
      if (!file.endsWith(".lock")) return actual(file, ...others);
      throw Object.assign(new Error("EROFS: read-only file system, unlink"), { code: "EROFS" });
    });
    expect(await whileLocked(path, async () => await Promise.resolve("saved"))).toBe("saved");
    unlinkSync(`${path}.lock`);
    const failing = whileLocked(path, async () => await Promise.reject(new Error("its own")));
    await expect(failing).rejects.toThrow("its own");
  });
});

describe("abandoned lock", () => {
  /** What another process does in the moment after this one looked at the lock. */
  let meanwhile: () => void = () => {};

  /** Lets `meanwhile` happen after each look at a lock, until the test has ended. */
  function watchLooks(): void {
    const real = fs.statSync;
    const looked = (path: string, ...more: unknown[]) => {
      const stats = (real as (...args: unknown[]) => unknown)(path, ...more);
      if (path.endsWith(".lock")) meanwhile();
      return stats;
    };
    Object.assign(fs, { statSync: looked });
    syncBuiltinESMExports();
    onTestFinished(() => {
      Object.assign(fs, { statSync: real });
      syncBuiltinESMExports();
    });
  }

  beforeEach(() => {
    meanwhile = () => {};
    watchLooks();
  });

  const longAgo = new Date("2020-01-01");

  function takeNew(path: string): boolean {
    try {
      closeSync(openSync(path, "wx"));
      return true;
    } catch {
      return false;
    }
  }

  /** A file whose lock was left by a process that is gone. */
  function abandoned(): { path: string; lock: string } {
    const path = join(temporaryFolder(), "config.json");
    const lock = `${path}.lock`;
    writeFileSync(path, "{}");
    writeFileSync(lock, "");
    utimesSync(lock, longAgo, longAgo);
    return { path, lock };
  }

  it("an abandoned lock is broken, and nothing is left", async () => {
    const { path, lock } = abandoned();
    expect(await whileLocked(path, () => Promise.resolve(existsSync(lock)))).toBe(true);
    expect([existsSync(lock), existsSync(`${lock}.break`)]).toEqual([false, false]);
  });

  it.each([1, 2])("of two processes that break it, only one works (look %i)", async (turn) => {
    const { path, lock } = abandoned();
    let looks = 0;
    let otherWorks = false;
    // The other process does the same, between this one's look and what it does then.
    meanwhile = () => {
      looks += 1;
      if (looks !== turn || !takeNew(`${lock}.break`)) return;
      rmSync(lock, { force: true });
      otherWorks = takeNew(lock);
      rmSync(`${lock}.break`, { force: true });
    };
    const mine = whileLocked(path, () => {
      expect(otherWorks).toBe(false);
      return Promise.resolve();
    });
    // The other one ends when it is seen to work, and still holds its lock.
    await vi.waitFor(() => expect(looks).toBeGreaterThanOrEqual(turn));
    if (otherWorks) {
      expect(statSync(lock).mtimeMs).toBeGreaterThan(longAgo.getTime());
      otherWorks = false;
      rmSync(lock);
    }
    await mine;
  });
});
