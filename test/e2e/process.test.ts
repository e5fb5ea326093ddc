import { type ChildProcess, type StdioOptions, spawn, spawnSync } from "node:child_process";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { json, key, startServer } from "../commands/api/support.ts";
import { pair } from "../commands/pairs.ts";
import { type Followed, follow, keepEnded, lineOf } from "../ran.ts";
import { cleanEnvironment, projectFolder, runCli, temporaryFolder } from "../support.ts";
import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  writeFileSync,
} from "node:fs";
import { startTestService } from "../service.ts";
import { helpTexts } from "../../src/cli/program.ts";
import { runHere } from "../main.ts";
import { heldClock } from "../held-clock.ts";
import { until } from "../held-time.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { patienceMs } from "../patience.ts";

describe("api", () => {
  async function place(answer: Parameters<typeof startServer>[0]) {
    const server = await startServer(answer);
    const cwd = temporaryFolder();
    const env = cleanEnvironment(cwd, {
      KNOWCTL_BASE_URL: server.url,
      KNOWCTL_API_KEY: key,
    });
    return { ...server, cwd, env };
  }

  const everyByte = Buffer.from(Array.from({ length: 256 }, (_, index) => index));

  describe("api", () => {
    it("writes every byte with --output raw, but the key that the service echoes", async () => {
      const { cwd, env } = await place(({ headers }, response) => {
        response.writeHead(200, { "content-type": "image/png" });
        response.write(everyByte);
        response.end(headers.authorization);
      });
      const script = join(projectFolder, "bin", "knowctl.cjs");
      const child = spawn(process.execPath, [script, "api", "x", "-o", "raw"], { cwd, env });
      const chunks: Buffer[] = [];
      child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
      const { ended } = follow(child, "knowctl api x -o raw", cwd, "stdout");
      expect((await ended).code).toBe(0);
      const all = Buffer.concat(chunks);
      expect(all.subarray(0, 256).equals(everyByte)).toBe(true);
      expect(all.subarray(256).toString()).toBe("Bearer ***");
    });

    it("ends quietly when its reader has gone, in the midst of an answer without end", async () => {
      const { cwd, env } = await place((_seen, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const more = (): void => {
          while (!response.destroyed && response.write(`"${"x".repeat(10_000)}",\n`));
        };
        response.on("drain", more);
        more();
      });
      const result = await runCli(["api", "x"], {
        cwd,
        env,
        onStart: (child) => child.stdout?.once("data", () => child.stdout?.destroy()),
      });
      expect(result).toMatchObject({ code: 0, stderr: "" });
    });

    it("sends what stdin brings", async () => {
      const { cwd, env, seen } = await place((_seen, response) => json(response, {}));
      const stdin = "x".repeat(300_000);
      const result = await runCli(["api", "PUT", "x", "--input", "-"], { cwd, env, stdin });
      expect(result.code).toBe(0);
      expect(seen[0]).toMatchObject({ method: "PUT", body: stdin });
    });
  });

  describe("connectors status --watch", () => {
    it.each(["SIGINT", "SIGTERM"] as const)("is ended by %s at once", async (signal) => {
      const { cwd, env } = await place((_seen, response) => json(response, [pair({ id: 1 })]));
      const result = await runCli(["connectors", "status", "--watch", "3600"], {
        cwd,
        env,
        onStart: (child) => child.stdout?.once("data", () => child.kill(signal)),
      });
      expect(result.code).toBe(signal === "SIGINT" ? 130 : 143);
      expect(result.stdout).toMatch(/^listed\t1\tPair 1\t/);
      expect(result.stderr).toMatch(
        new RegExp(`does not report .*\\ninterrupted by ${signal}\\n$`),
      );
    });
  });
});

describe("canary", () => {
  const names = [
    ".cliconfig .cliconfigrc cliconfig.config .config/cliconfig .config/cliconfigrc",
    ".knowctlrc knowctl.config .config/knowctlrc",
    ".config/config .cosmiconfigrc cosmiconfig.config .config/cosmiconfig",
  ].flatMap((line) => line.split(" "));

  /** A folder full of what a configuration library might run or follow; whatever runs names itself. */
  function plantedFolder(): { folder: string; canary: string } {
    const folder = temporaryFolder();
    const canary = join(temporaryFolder(), "canary");
    const plant = (path: string, text: string): void => {
      mkdirSync(dirname(join(folder, path)), { recursive: true });
      writeFileSync(join(folder, path), text);
    };
    for (const name of names) {
      for (const extension of ["js", "cjs", "ts"]) {
        const path = `${name}.${extension}`;
        const call = `require("node:fs").appendFileSync(${JSON.stringify(canary)}, "${path} ")`;
        plant(path, `${call}; module.exports = {};`);
      }
      const write = `appendFileSync(${JSON.stringify(canary)}, "${name}.mjs ")`;
      plant(
        `${name}.mjs`,
        `import { appendFileSync } from "node:fs"; ${write}; export default {};`,
      );
    }
    const follow = { $import: "./cliconfig.config.js" };
    const meta = { searchPlaces: ["cliconfig.config.js"], $import: "./cosmiconfig.config.js" };
    // A member of ours, so that there is something to find and the search does run.
    const cliconfig = { ingest: { sections: "whole" } };
    plant("package.json", JSON.stringify({ type: "commonjs", cosmiconfig: meta, cliconfig }));
    plant(".config/config.json", JSON.stringify({ cosmiconfig: meta, ...follow }));
    plant(".config/config.yaml", `cosmiconfig: ${JSON.stringify(meta)}\n`);
    plant(".cliconfigrc", JSON.stringify(follow));
    plant(".cliconfigrc.json", JSON.stringify(follow));
    plant(".env", "KNOWCTL_BASE_URL=https://evil.example\n");
    plant("docs/a.md", "---js\nrequire('fs').appendFileSync('x', '')\n---\n# A\n");
    plant("docs/b.md", "# B\n");
    return { folder, canary };
  }

  // A process loads its libraries in this folder; what loads no others runs here.
  const asProcesses = [
    ["--help"],
    ["connectors", "list"],
    ["ingest", "docs/b.md", "--cc-pair-id", "2", "--no-state"],
    ["explain", "docs/b.md"],
    ["chat", "hello"],
  ];
  const here = [
    ["--version"],
    ["help"],
    ["config", "show", "--origin"],
    ["config", "set", "dialect", "standard"],
    ["connectors", "get", "2"],
    ["connectors", "find", "Public website"],
    ["ingest", "docs", "--dry-run"],
    ["config", "list"],
    ["config", "path"],
    ["config", "validate"],
    ["config", "schema"],
    ["config", "get", "dialect"],
    ["config", "unset", "dialect"],
    ["config", "init", "--profile", "made", "--no-check"],
    ["config", "use", "made"],
    ["config", "trust"],
    ["logout"],
    ...Object.keys(helpTexts()).map((path) => [...path.split(" ").filter(Boolean), "--help"]),
  ];
  const refused = [
    ["login"],
    ["--config", ".cliconfig.mjs", "config", "show"],
    ["config", "validate", ".cliconfig.ts"],
    ["config", "trust", ".cliconfig.cjs"],
  ];
  const refusedProcess = ["--config", "cliconfig.config.js", "connectors", "list"];

  describe("nothing of the working directory is run", () => {
    it("by any command", async () => {
      const service = await startTestService();
      const { folder, canary } = plantedFolder();
      const env = { ...cleanEnvironment(folder), ...service.env };
      const codes: [string, boolean][] = [];
      const run = async (start: typeof runHere | typeof runCli, args: string[]): Promise<void> => {
        const { code, stderr } = await start(args, { cwd: folder, env });
        codes.push([args.join(" "), code === 0]);
        expect(stderr, args.join(" ")).not.toMatch(/unexpected|\bat .*:\d+:\d+/);
        expect(existsSync(canary) ? readFileSync(canary, "utf8") : "", args.join(" ")).toBe("");
      };
      for (const args of [...asProcesses, refusedProcess]) await run(runCli, args);
      for (const args of [...here, ...refused]) await run(runHere, args);
      // A command that failed early would prove little.
      expect(codes.filter(([, isGood]) => !isGood).map(([args]) => args)).toEqual(
        [refusedProcess, ["ingest", "docs", "--dry-run"], ...refused].map((args) => args.join(" ")),
      );
    });

    it("where its own settings name code", async () => {
      const { folder, canary } = plantedFolder();
      const env = cleanEnvironment(folder, { KNOWCTL_API_KEY: "k" });
      for (const [path, text] of [
        ["package.json", '{"cliconfig":{"$import":"./cliconfig.config.js"}}'],
        [".cliconfig.yaml", "$import: ./cliconfig.config.js\n"],
        [".cliconfig.json", '{"$import":["./cliconfig.config.js"]}'],
      ] as const) {
        writeFileSync(join(folder, path), text);
        const { code, stderr } = await runHere(["connectors", "list"], { cwd: folder, env });
        expect([code, stderr]).toEqual([3, expect.stringContaining("$import")]);
        expect(stderr).toContain(join(folder, path));
      }
      expect(existsSync(canary)).toBe(false);
    });
  });
});

describe("home", () => {
  /** The environment with `home` as its only word on where files lie. */
  function homeAlone(home: string): Record<string, string> {
    const {
      XDG_CONFIG_HOME: _config,
      XDG_STATE_HOME: _state,
      XDG_DATA_HOME: _data,
      ...env
    } = cleanEnvironment(home);
    return env;
  }

  describe("the home folder", () => {
    it.each([[""], ["."], ["elsewhere"]])(
      "HOME=%j does not make a file of the working directory the user's own",
      async (home) => {
        const cwd = temporaryFolder();
        const folder = join(cwd, home, ".config", "knowctl");
        mkdirSync(folder, { recursive: true });
        const foreign = { profiles: { default: { baseUrl: "https://foreign.example" } } };
        writeFileSync(join(folder, "config.json"), JSON.stringify(foreign), { mode: 0o600 });
        const env = homeAlone(home);
        const shown = await runHere(["config", "show"], { cwd, env });
        expect(shown.stdout + shown.stderr).not.toContain("foreign.example");
        const paths = await runHere(["config", "path", "--fields", "path"], { cwd, env });
        for (const path of paths.stdout.trim().split("\n")) expect(path).toMatch(/^\//);
      },
    );

    // Containers often run as a number that no user has; only root can become one for the test.
    it("a user id without a user is no bug", () => {
      // A copy that anyone can read, wherever the checkout lies.
      const copy = temporaryFolder();
      chmodSync(copy, 0o755);
      for (const part of ["bin", "dist", "package.json"]) {
        cpSync(join(projectFolder, part), join(copy, part), { recursive: true });
      }
      const { HOME: _home, ...env } = homeAlone(copy);
      const nobody = process.getuid?.() === 0 ? { uid: 54_321, gid: 54_321 } : {};
      const run = (args: string[]) => {
        const ran = spawnSync(process.execPath, [join(copy, "bin", "knowctl.cjs"), ...args], {
          cwd: copy,
          env,
          encoding: "utf8",
          ...nobody,
        });
        keepEnded(lineOf(["knowctl", ...args]), copy, ran);
        return ran;
      };
      expect(run(["config", "path"])).toMatchObject({ status: 0, stderr: "" });
      const list = run(["connectors", "list"]);
      expect(list.stderr).toContain("no service is configured yet");
      expect(list.status).toBe(3);
    });
  });
});

describe("an answer whose process is killed", () => {
  it("is recovered by the next process, which asks nothing", async () => {
    // After some words the answer stands still, however late the process comes to read it.
    const clock = heldClock(5);
    const sandbox = { tokenDelayMs: 1, clock };
    const service = await startTestService({ dialect: "onyx", sandbox });
    const options = { cwd: service.folder, env: service.env };
    const index = join(service.env["XDG_STATE_HOME"]!, "knowctl", "sessions");
    const hasRecord = (): boolean =>
      existsSync(index) &&
      readdirSync(index, { recursive: true }).some((name) => String(name).endsWith(".json"));
    const killed = await runCli(["chat", "--live", "a question about nothing"], {
      ...options,
      // At the first text of the answer, which does not wait for the record of the session.
      onStart: (child) =>
        child.stdout?.once("data", () => void until(hasRecord).then(() => child.kill("SIGKILL"))),
    });
    expect(killed.signal).toBe("SIGKILL");
    expect(killed.stdout).not.toContain("loosen the filters");
    clock.release();
    const recovered = await runCli(["sessions", "recover", "--poll"], options);
    expect(recovered.code).toBe(0);
    expect(recovered.stdout).toContain("loosen the filters");
    expect(service.sandbox.ledger.chats).toHaveLength(1);
    const again = await runHere(["sessions", "recover"], options);
    expect(again).toMatchObject({ code: 0, stdout: recovered.stdout });
  });
});

describe("processes that ask at the same time", () => {
  it("all find their session in the index", async () => {
    const service = await startTestService({ dialect: "onyx" });
    const options = { cwd: service.folder, env: service.env };
    const questions = Array.from({ length: 4 }, (_, number) => `question ${number}`);
    await Promise.all(questions.map((question) => runCli(["chat", question], options)));
    const { stdout } = await runHere(["sessions", "list", "--local", "--fields", "name"], options);
    expect(stdout.trimEnd().split("\n").toSorted()).toEqual(questions);
    const folder = join(service.env["XDG_STATE_HOME"]!, "knowctl", "sessions");
    const files = readdirSync(folder, { recursive: true }).map(String);
    expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
  });
});

describe("streams", () => {
  /** Lines of some 5 MB, far beyond what any buffer on the way holds. */
  const huge = 5_000;
  /** Lines of some 500 KB, more than a pipe holds. */
  const large = 500;

  function listing(count: number): string {
    const pair = (id: number) => ({
      cc_pair_id: id,
      name: `${"n".repeat(800)} ${id}`,
      access_type: "public",
      groups: [],
      connector: { id, name: "c", source: "web" },
      credential: { id, credential_json: {} },
    });
    return JSON.stringify(Array.from({ length: count }, (_, id) => pair(id)));
  }

  async function startService(count = large): Promise<Record<string, string>> {
    const body = listing(count);
    const server = createServer((_request, response) => {
      response.setHeader("content-type", "application/json");
      response.end(body);
    });
    await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    const { port } = server.address() as AddressInfo;
    return cleanEnvironment(temporaryFolder(), {
      KNOWCTL_BASE_URL: `http://127.0.0.1:${port}`,
      KNOWCTL_API_KEY: "CANARY-streams",
    });
  }

  const binary = join(projectFolder, "bin", "knowctl.cjs");

  /** Starts the tool; `except` names the stream that the test reads itself. */
  function start(
    args: string[],
    env: Record<string, string>,
    stdio: StdioOptions,
    except?: "stdout" | "stderr",
  ): { child: ChildProcess; ended: Followed["ended"] } {
    const folder = env["HOME"]!;
    const child = spawn(process.execPath, [binary, "connectors", ...args], {
      cwd: folder,
      env,
      stdio,
      timeout: patienceMs,
      killSignal: "SIGKILL",
    });
    const { ended } = follow(child, lineOf(["knowctl", "connectors", ...args]), folder, except);
    return { child, ended };
  }

  /** Runs the tool as a shell does, with `redirection` for its stdout. */
  async function underShell(args: string[], redirection: string): Followed["ended"] {
    const env = await startService();
    // Something follows, so that the shell stays the parent.
    const script = `"$0" "$@" ${redirection}; exit $?`;
    const folder = env["HOME"]!;
    const child = spawn("sh", ["-c", script, process.execPath, binary, ...args], {
      cwd: folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: patienceMs,
      killSignal: "SIGKILL",
    });
    return follow(child, `${lineOf(["knowctl", ...args])} ${redirection}`, folder).ended;
  }

  describe("stdout", () => {
    it.each([
      ["json", huge, (text: string) => (JSON.parse(text) as unknown[]).length],
      ["ndjson", large, (text: string) => text.split("\n").length - 1],
    ])("as %s arrives whole at a slow reader", async (format, count, length) => {
      const env = await startService(count);
      const stdio = ["ignore", "pipe", "pipe"] as const;
      const { child, ended } = start(["list", "--output", format], env, [...stdio], "stdout");
      const parts: Buffer[] = [];
      for await (const part of child.stdout ?? []) {
        parts.push(part as Buffer);
        await new Promise((resume) => setImmediate(resume));
      }
      expect(await ended).toMatchObject({ code: 0, stderr: "" });
      expect(length(Buffer.concat(parts).toString())).toBe(count);
    });

    it("whose reader has gone ends the listing quietly", async () => {
      const env = await startService();
      const { child, ended } = start(["list", "--json"], env, ["ignore", "pipe", "pipe"]);
      child.stdout?.once("data", () => child.stdout?.destroy());
      expect(await ended).toMatchObject({ code: 0, stderr: "" });
    });

    it.runIf(process.platform === "linux")("that cannot be written is exit 14", async () => {
      const full = openSync("/dev/full", "w");
      onTestFinished(() => closeSync(full));
      const env = await startService();
      const { code, stderr } = await start(["list", "--json"], env, ["ignore", full, "pipe"]).ended;
      expect(code).toBe(14);
      expect(stderr).toMatch(/^error: cannot write the output: the disk is full\n/);
    });

    const closed: [string, string[]][] = [
      ["connectors list", ["connectors", "list"]],
      ["chat, which asks nothing", ["chat", "hi"]],
      ["--help", ["ingest", "--help"]],
    ];
    it.runIf(process.platform === "linux").each(closed)(
      "that is closed from the start: %s is exit 14",
      async (_name, args) => {
        const { code, stderr } = await underShell(args, ">&-");
        expect(code).toBe(14);
        expect(stderr).toMatch(/^error: cannot write the output: stdout is closed\n/);
      },
    );

    it("that is closed matters only to what writes to it", async () => {
      const { code, stderr } = await underShell(["config", "validate", "--quiet"], ">&-");
      expect(code, stderr).toBe(0);
    });

    it.each([">/dev/null", "| true"])("that is discarded by %s is exit 0", async (to) => {
      expect(await underShell(["connectors", "list"], to)).toMatchObject({ code: 0 });
    });

    it("that the program which starts it discards is exit 0", async () => {
      const env = await startService();
      const { ended } = start(["list"], env, ["ignore", "ignore", "pipe"]);
      expect(await ended).toMatchObject({ code: 0, stderr: "" });
    });
  });

  describe("stderr", () => {
    it("that cannot be written leaves the exit code as it is", async () => {
      const env = await startService();
      const stdio = ["ignore", "pipe", "pipe"] as const;
      const { child, ended } = start(["find", "zzz"], env, [...stdio], "stderr");
      child.stderr?.destroy();
      expect((await ended).code).toBe(9);
    });
  });

  describe("--jq", () => {
    it("is interrupted by the first Ctrl-C", async () => {
      const env = await startService();
      const words = ["list", "--jq", "[range(1e12)]", "--verbose"];
      const { child, ended } = start(words, env, ["ignore", "pipe", "pipe"]);
      // The trace of the request: from here on there is only the expression.
      child.stderr?.once("data", () => child.kill("SIGINT"));
      expect((await ended).code).toBe(130);
    });
  });
});
