import {
  chmodSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { createDesk, failureOf } from "./support.ts";
import { main } from "../main.ts";

describe("discover", () => {
  const connectable = {
    KNOWCTL_BASE_URL: "https://good.example",
    KNOWCTL_API_KEY: "key-of-the-env",
  };

  // Each writes the canary when it runs as a program, and aims at another host when it is read.
  function plants(canary: string): [path: string, text: string][] {
    const write = `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "ran")`;
    const writeModule = `import { writeFileSync } from "node:fs"; writeFileSync(${JSON.stringify(canary)}, "ran")`;
    const evil = { profiles: { default: { baseUrl: "https://evil.example" } } };
    const meta = { searchPlaces: ["{name}.evil.json", "evil.cjs"], mergeSearchPlaces: false };
    const code: [string, string][] = [
      ".config/config",
      ".cliconfig",
      "cliconfig.config",
      ".cliconfigrc",
      ".config/cliconfig",
      ".config/cliconfigrc",
      "evil",
    ].flatMap((name): [string, string][] => [
      [`${name}.js`, `${write}; module.exports = ${JSON.stringify(evil)};`],
      [`${name}.cjs`, `${write}; module.exports = ${JSON.stringify(evil)};`],
      [`${name}.mjs`, `${writeModule}; export default ${JSON.stringify(evil)};`],
      [`${name}.ts`, `${writeModule}; export default ${JSON.stringify(evil)};`],
    ]);
    return [
      ...code,
      [".config/config.json", JSON.stringify({ cosmiconfig: meta })],
      [".config/config.yaml", `cosmiconfig: ${JSON.stringify(meta)}`],
      ["package.json", JSON.stringify({ cosmiconfig: meta })],
      ["package.yaml", `cosmiconfig: ${JSON.stringify(meta)}\ncliconfig: ${JSON.stringify(evil)}`],
      ["cliconfig.evil.json", JSON.stringify(evil)],
      [".cliconfigrc", JSON.stringify(evil)],
      [".env", "KNOWCTL_BASE_URL=https://evil.example"],
    ];
  }

  describe("nothing of the current folder is executed or read", () => {
    const canaryFolder = (): string => temporaryFolder();

    for (const [path] of plants("")) {
      it(path, async () => {
        const desk = createDesk(connectable);
        const canary = join(canaryFolder(), "canary");
        const [, text = ""] = plants(canary).find(([each]) => each === path) ?? [];
        mkdirSync(dirname(join(desk.project, path)), { recursive: true });
        desk.put(path, text);
        const before = process.cwd();
        process.chdir(desk.project);
        try {
          const config = await desk.load();
          expect(config.files).toEqual([]);
          expect((await config.connection()).baseUrl).toBe("https://good.example");
          expect(process.cwd()).toBe(desk.project);
        } finally {
          process.chdir(before);
        }
        expect(existsSync(canary)).toBe(false);
      });
    }

    for (const name of ["config.js", "config.cjs", "config.mjs", "config.ts"]) {
      it(`--config ${name} is refused`, async () => {
        const desk = createDesk();
        const canary = join(canaryFolder(), "canary");
        desk.put(name, `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "ran")`);
        const failure = await failureOf(desk.load({ flags: { config: name } }));
        expect(failure.exit).toBe("not-configured");
        expect(failure.message).toContain("never run");
        expect(existsSync(canary)).toBe(false);
      });
    }

    it.each([".cliconfig.json", ".cliconfig.yaml", ".cliconfig"])(
      "$import in %s is refused",
      async (name) => {
        const desk = createDesk();
        const canary = join(canaryFolder(), "canary");
        desk.put("other.cjs", `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "ran")`);
        desk.put(name, JSON.stringify({ $import: "./other.cjs" }));
        const failure = await failureOf(desk.load({ sends: false }));
        expect(failure.message).toContain(
          `${name}:1:2: $import: importing another file is not possible`,
        );
        expect(existsSync(canary)).toBe(false);
      },
    );

    it("$import beside the member of package.json is not followed", async () => {
      const desk = createDesk();
      const canary = join(canaryFolder(), "canary");
      desk.put("other.cjs", `require("node:fs").writeFileSync(${JSON.stringify(canary)}, "ran")`);
      desk.put("package.json", {
        $import: "./other.cjs",
        cliconfig: { ingest: { include: ["a"] } },
      });
      expect((await desk.load()).ingest.include).toEqual(["a"]);
      expect(existsSync(canary)).toBe(false);
    });
  });

  describe("search", () => {
    const settings = { ingest: { include: ["x"] } };

    it.each([".cliconfig.json", ".cliconfig.yaml", ".cliconfig.yml", ".cliconfig"])(
      "finds %s above",
      async (name) => {
        const desk = createDesk();
        desk.put(name, settings);
        mkdirSync(join(desk.project, "a", "b"), { recursive: true });
        const config = await desk.load({ cwd: join(desk.project, "a", "b") });
        expect(config.ingest.include).toEqual(["x"]);
        expect(config.projectFolder).toBe(desk.project);
        expect(config.origins.get("ingest.include")?.where).toMatch(new RegExp(`${name}:\\d+$`));
      },
    );

    it("finds the member of package.json, and passes one without it by", async () => {
      const desk = createDesk();
      desk.put("package.json", { name: "x", cliconfig: settings });
      desk.put("deep/package.json", { name: "y" });
      desk.put("deep/empty/package.json", "");
      const config = await desk.load({ cwd: join(desk.project, "deep", "empty") });
      expect(config.projectFolder).toBe(desk.project);
      expect(config.origins.get("ingest.include")?.where).toMatch(/package\.json:5$/);
    });

    it("starts at root instead of the working directory", async () => {
      const desk = createDesk();
      desk.put("docs/.cliconfig.json", settings);
      expect((await desk.load({ root: "docs" })).ingest.include).toEqual(["x"]);
      expect((await desk.load({ root: "docs/a.md" })).ingest.include).toBeUndefined();
      writeFileSync(join(desk.project, "docs", "a.md"), "");
      expect((await desk.load({ root: "docs/a.md" })).ingest.include).toEqual(["x"]);
    });

    it("ends at the git root, which may be a file", async () => {
      const desk = createDesk();
      writeFileSync(join(desk.home, ".cliconfig.json"), JSON.stringify(settings));
      mkdirSync(join(desk.project, "sub"));
      expect((await desk.load({ cwd: join(desk.project, "sub") })).files).toEqual([]);
      desk.put("tree/.git", "gitdir: elsewhere");
      desk.put(".cliconfig.json", settings);
      expect((await desk.load({ cwd: join(desk.project, "tree") })).files).toEqual([]);
      expect((await desk.load({ cwd: join(desk.project, "sub") })).files).toHaveLength(1);
    });

    it("without a git root goes up to where others can write", async () => {
      const desk = createDesk();
      const parent = temporaryFolder();
      mkdirSync(join(parent, "open", "sub"), { recursive: true });
      writeFileSync(join(parent, ".cliconfig.json"), JSON.stringify(settings));
      const count = async (cwd: string): Promise<number> =>
        (await desk.load({ cwd: join(parent, cwd) })).files.length;
      expect(await count("open/sub")).toBe(1);
      expect(await count(".")).toBe(1);
      chmodSync(join(parent, "open"), 0o777);
      expect(await count("open/sub")).toBe(0);
      expect(await count("open")).toBe(0);
      expect(await count(".")).toBe(1);
    });

    it("--config replaces the search but not the project folder", async () => {
      const desk = createDesk();
      desk.put(".cliconfig.json", settings);
      desk.put("other/named.yaml", "ingest: {include: [named]}");
      const config = await desk.load({ flags: { config: "other/named.yaml" } });
      expect(config.ingest.include).toEqual(["named"]);
      expect(config.projectFolder).toBe(desk.project);
      expect(config.files.map((file) => file.named)).toEqual([true]);
    });

    it.each([
      ["missing.json", "no such file"],
      [".", "expected|it is a folder"],
      ["file.toml", "expected .json"],
      ["package.json", 'no "cliconfig" member'],
    ])("--config %s says what is wrong", async (name, text) => {
      const desk = createDesk();
      desk.put("file.toml", "");
      desk.put("package.json", { name: "x" });
      const failure = await failureOf(desk.load({ flags: { config: name } }));
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toMatch(new RegExp(text));
    });

    it("a file of another owner is refused by name", async () => {
      const desk = createDesk(connectable);
      const path = desk.put(".cliconfig.json", "{ this is not even read");
      const foreign = { uid: 4711 };
      const failure = await failureOf(desk.load(foreign));
      expect(failure.exit).toBe("not-configured");
      expect(failure.message).toContain(`${path} belongs to another user`);
      const config = await desk.load({ ...foreign, sends: false });
      expect(config.files).toEqual([]);
      expect(desk.warnings.join()).toContain("belongs to another user");
      desk.put(".cliconfig.json", settings);
      desk.env["KNOWCTL_TRUST_PROJECT"] = "1";
      expect((await desk.load(foreign)).ingest.include).toEqual(["x"]);
    });

    it("a link out of the project is refused, inside it is followed", async () => {
      const desk = createDesk();
      writeFileSync(join(desk.home, "elsewhere.json"), JSON.stringify(settings));
      symlinkSync(join(desk.home, "elsewhere.json"), join(desk.project, ".cliconfig.json"));
      expect((await failureOf(desk.load())).message).toContain("outside the project");
      const inside = createDesk();
      inside.put("real.json", settings);
      symlinkSync("real.json", join(inside.project, ".cliconfig.json"));
      expect((await inside.load()).ingest.include).toEqual(["x"]);
    });

    it("the user file is found as JSON or YAML, in XDG_CONFIG_HOME, ~/.config or APPDATA", async () => {
      const desk = createDesk();
      desk.putUser("ingest:\n  include: [yaml]\n", "config.yaml");
      expect((await desk.load()).ingest.include).toEqual(["yaml"]);
      desk.putUser({ ingest: { include: ["json"] } });
      expect((await desk.load()).ingest.include).toEqual(["json"]);
      const text = readFileSync(join(desk.home, "config", "knowctl", "config.json"), "utf8");
      for (const [folder, env, platform] of [
        [".config", { HOME: desk.home, XDG_CONFIG_HOME: "relative/is/ignored" }, "linux"],
        ["Roaming", { APPDATA: join(desk.home, "Roaming") }, "win32"],
      ] as const) {
        mkdirSync(join(desk.home, folder, "knowctl"), { recursive: true, mode: 0o700 });
        writeFileSync(
          join(desk.home, folder, "knowctl", "config.json"),
          text.replace("json", folder),
          { mode: 0o600 },
        );
        expect((await desk.load({ env, platform })).ingest.include).toEqual([folder]);
      }
    });
  });
});

describe("home", () => {
  const isRoot = process.getuid?.() === 0;

  /** Ways in which the folders of the user are not what they should be. */
  const homes: Record<string, (folder: string) => Record<string, string>> = {
    "that is missing": (folder) => ({ HOME: join(folder, "gone") }),
    "that is a file": (folder) => {
      writeFileSync(join(folder, "file"), "");
      return { HOME: join(folder, "file") };
    },
    "that is read-only": (folder) => {
      mkdirSync(join(folder, "still"));
      chmodSync(join(folder, "still"), 0o555);
      return { HOME: join(folder, "still") };
    },
    "with XDG variables that name files": (folder) => {
      writeFileSync(join(folder, "file"), "");
      const file = join(folder, "file");
      return {
        XDG_CONFIG_HOME: file,
        XDG_STATE_HOME: file,
        XDG_DATA_HOME: file,
        XDG_CACHE_HOME: file,
      };
    },
    "with relative XDG variables": () => ({
      XDG_CONFIG_HOME: "a",
      XDG_STATE_HOME: "b",
      XDG_DATA_HOME: "c",
      XDG_CACHE_HOME: "d",
    }),
  };

  const login = [
    "login",
    "--no-check",
    "--with-token",
    "--base-url",
    "https://assistant.example.com",
  ];

  describe.each(Object.entries(homes))("a home folder %s", (name, prepare) => {
    const keeps = name.includes("relative") || name.includes("missing");
    const cases: [args: string[], code: number][] = [
      [["config", "show"], 0],
      [["config", "path"], 0],
      [["connectors", "list"], 3],
      // Whoever may write everywhere may write into a read-only folder.
      [login, keeps || (isRoot && name.includes("read-only")) ? 0 : 14],
    ];
    it.each(cases)("%j ends with %d and at most one message", async (args, code) => {
      const folder = temporaryFolder();
      const {
        XDG_CONFIG_HOME: _c,
        XDG_STATE_HOME: _s,
        XDG_DATA_HOME: _d,
        ...plain
      } = cleanEnvironment(folder);
      const env = { ...plain, ...prepare(folder) };
      const context = createTestContext({ cwd: folder, env, stdin: "a-key\n" });
      const ended = await main(args, context);
      expect({ ended, err: context.stderrText() }).toEqual({ ended: code, err: expect.anything() });
      const errors = context
        .stderrText()
        .split("\n")
        .filter((line) => line.startsWith("error: "));
      expect(errors).toHaveLength(code === 0 ? 0 : 1);
      if (code !== 0) expect(context.stderrText()).toContain("  → ");
    });
  });
});

it("runs no settings of the search library in the working directory", async () => {
  const desk = createDesk();
  desk.putUser({});
  desk.put(".config/config.cjs", "globalThis.canary = true; module.exports = {};");
  const before = process.cwd();
  process.chdir(desk.project);
  onTestFinished(() => process.chdir(before));
  await desk.load();
  expect(globalThis).not.toHaveProperty("canary");
  expect(process.cwd()).toBe(desk.project);
});
