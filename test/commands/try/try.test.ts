import { PassThrough } from "node:stream";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { main } from "../../main.ts";
import {
  cleanEnvironment,
  createTestContext,
  projectFolder,
  temporaryFolder,
} from "../../support.ts";
import { patienceMs } from "../../patience.ts";
import { writeFiles } from "../../service.ts";
import {
  type RunLine,
  headedOf,
  questionsOf,
  tryOut as tryOutHere,
} from "../../../src/commands/try/try.ts";
import { readFileSync, readdirSync } from "node:fs";
import { startSandbox } from "../../../src/sandbox/http/server.ts";

describe("offer", () => {
  const question = "Try it now, with a folder of yours? [Y/n]";

  function openTerminal(cwd = temporaryFolder(), args: string[] = [], term?: string) {
    const own = createTestContext({ cwd, isTTY: true });
    const context = term === undefined ? own : { ...own, env: { ...own.env, TERM: term } };
    const stream = new PassThrough();
    const stdin = { ...context.stdin, isTTY: true, stream };
    const handbook = join(projectFolder, "examples", "handbook");
    return {
      context,
      ended: main(args, { ...context, stdin, handbook }),
      async answer(asked: string, text: string) {
        await vi.waitFor(() => expect(context.stderrText()).toContain(asked), patienceMs);
        stream.write(`${text}\n`);
      },
    };
  }

  describe("knowctl alone on a terminal", () => {
    it("shows the help and offers a trial; no is an end without more", async () => {
      const { context, ended, answer } = openTerminal();
      await answer(question, "n");
      expect(await ended).toBe(0);
      expect(context.stdoutText()).toContain("Usage: knowctl");
      expect(context.stderrText().trim()).toBe(question);
      // The first line of the help stays on a terminal of 24 lines.
      const shown = context.stdoutText() + context.stderrText();
      expect(shown.trimEnd().split("\n").length).toBeLessThanOrEqual(24);
    });

    it("runs the trial for Enter, and asks for the folder until it is one", async () => {
      const { context, ended, answer } = openTerminal();
      await answer(question, "");
      await answer("Which folder of documents", "nosuch");
      await answer("nosuch is not a folder", "");
      expect(await ended).toBe(0);
      expect(context.stderrText()).toMatch(/done\S*: \d+ created/);
      expect(context.stdoutText()).toContain("[1]");
    });

    it("asks nothing where a profile is configured", async () => {
      const cwd = temporaryFolder();
      const profile = { baseUrl: "https://service.example" };
      writeFiles(cwd, {
        "config/knowctl/config.json": JSON.stringify({ profiles: { a: profile } }),
      });
      const { context, ended } = openTerminal(cwd);
      expect(await ended).toBe(0);
      expect(context.stderrText()).toBe("");
    });
  });

  it("asks one question on a terminal that cannot show a conversation", async () => {
    const cwd = temporaryFolder();
    writeFiles(cwd, { "docs/pumps.md": "# Pumps\n\nOpen the blue valve first.\n" });
    const { context, ended, answer } = openTerminal(cwd, ["try", "docs"], "dumb");
    await answer('Your question [What is in "Pumps"?]', "Which valve comes first?");
    expect(await ended).toBe(0);
    expect(context.stdoutText()).toContain("blue valve");
    expect(context.stderrText()).not.toContain("error:");
  });
});

describe("questions", () => {
  describe("questions", () => {
    it("ask for a heading of three documents, spread over all", () => {
      const documents = Array.from({ length: 9 }, (_, number) => ({
        title: `T${number}`,
        headings: [`a${number}`, `b${number}`],
      }));
      expect(questionsOf(documents)).toEqual([
        'What about "a0" in "T0"?',
        'What about "b3" in "T3"?',
        'What about "a6" in "T6"?',
      ]);
    });

    it("ask for several headings of a document where there are fewer than three", () => {
      const found = questionsOf([
        { title: "Leave", headings: ["Annual", "Sick days", "Parental"] },
        { title: "Travel", headings: ["Trains"] },
      ]);
      expect(found).toEqual([
        'What about "Annual" in "Leave"?',
        'What about "Trains" in "Travel"?',
        'What about "Parental" in "Leave"?',
      ]);
    });

    it("take a heading that is a question as it is", () => {
      expect(questionsOf([{ title: "FAQ", headings: ["Who pays?"] }])).toEqual(["Who pays?"]);
    });

    it("ask for the document where there are no headings; these documents come last", () => {
      const found = questionsOf([
        { title: "Notes", headings: [] },
        { title: "Rooms", headings: ["Visitors"] },
      ]);
      expect(found).toEqual(['What about "Visitors" in "Rooms"?', 'What is in "Notes"?']);
      expect(questionsOf([])).toEqual([]);
    });
  });

  it("a document gives its title, and the last part of each heading once", () => {
    const sections = [
      { text: "T\n\nx" },
      { text: "T > A > B\n\ny" },
      { text: "T > A > B\n\nz" },
      {},
    ];
    const document = {
      id: "t.md",
      semantic_identifier: "T",
      sections,
      source: "file",
      metadata: {},
    };
    expect(headedOf(document)).toEqual({ title: "T", headings: ["B"] });
  });
});

describe("try", () => {
  const handbook = join(projectFolder, "examples", "handbook");
  const pumps = {
    "docs/pumps.md":
      "---\nid: pumps/1\n---\n# Pumps\n\n## Priming a pump\n\nOpen the blue valve first.\n",
  };

  async function tryOut(args: readonly string[], files: Record<string, string> = pumps) {
    const cwd = temporaryFolder();
    writeFiles(cwd, files);
    const env = cleanEnvironment(cwd);
    const run = async (extra: Record<string, string> = {}) => {
      const context = { ...createTestContext({ cwd, env: { ...env, ...extra } }), handbook };
      const code = await main(["try", ...args], context);
      return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
    };
    return { cwd, run };
  }

  it("answers a question about the folder from its own file, and only reads the folder", async () => {
    const { cwd, run } = await tryOut(["docs"]);
    const { code, stdout, stderr } = await run();
    expect(stderr).toContain('What about \\"Priming a pump\\" in \\"Pumps\\"?');
    expect(stdout).toContain("Open the blue valve first. [[1]](file:///");
    expect(stdout).toContain("docs/pumps.md#priming-a-pump");
    expect(stderr).toContain("nothing leaves this machine");
    expect(stderr).toMatch(/\[1\] Pumps {2}docs[/\\]pumps\.md\n/);
    // Nobody else reads the documents of a trial.
    expect(stderr).not.toContain("everybody who can sign in");
    expect(stderr).toContain("knowctl config init");
    // The session ends with the service.
    expect(stderr).not.toMatch(/continue with|--session|next: ask/);
    expect(code).toBe(0);
    expect(readdirSync(cwd)).toEqual(["docs"]);
    expect(readdirSync(join(cwd, "docs"))).toEqual(["pumps.md"]);
  });

  it("answers the question that is piped in", async () => {
    const cwd = temporaryFolder();
    writeFiles(cwd, pumps);
    const stdin = "Which valve opens first?\n";
    const context = { ...createTestContext({ cwd, env: cleanEnvironment(cwd), stdin }), handbook };
    expect(await main(["try", "docs"], context)).toBe(0);
    expect(context.stderrText()).toContain("Which valve opens first?");
    expect(context.stderrText()).not.toContain("What about");
    expect(context.stdoutText()).toContain("Open the blue valve first.");
  });

  it("reads the folder once: the questions come from the documents of the upload", async () => {
    const cwd = temporaryFolder();
    writeFiles(cwd, pumps);
    const context = { ...createTestContext({ cwd, env: cleanEnvironment(cwd) }), handbook };
    const commands: string[] = [];
    await tryOutHere(context, ["docs"], {}, async (argv, of) => {
      commands.push(argv.slice(0, 2).join(" "));
      await main(argv, of);
    });
    expect(commands).toEqual([`ingest ${join(cwd, "docs")}`, "chat --no-remember"]);
    expect(context.stdoutText()).toContain("Open the blue valve first.");
  });

  it("says nothing of a state above the folder: the trial's service has its own documents", async () => {
    const { run } = await tryOut(["docs"], { ...pumps, ".knowctl/state.db": "" });
    const { code, stderr } = await run();
    expect(stderr).not.toContain("warning:");
    expect(code).toBe(0);
  });

  it("shows a command with the words of a document so that no shell runs them", async () => {
    const files = { "a b/x.md": "# Pump $(touch canary)\n\n## It's `id`\n\nOpen the valve.\n" };
    const { run } = await tryOut(["a b"], files);
    const { code, stderr } = await run();
    expect(stderr).toContain('$ knowctl ingest "a b"\n');
    const [, question] = /\$ knowctl chat ('.*')\n/.exec(stderr) ?? [];
    expect(question).toContain("$(touch canary)");
    expect(question).toContain("It'\\''s");
    expect(code).toBe(0);
  });

  it("runs its service with a key that no other user of the machine knows", async () => {
    const keys: (string | undefined)[] = [];
    const context = createTestContext({ cwd: temporaryFolder() });
    const runLine: RunLine = async (argv, inner) => {
      // The questions come from the documents that the service accepts.
      if (argv[0] !== "chat") return await main(argv, inner);
      const config = readFileSync(join(inner.env["XDG_CONFIG_HOME"]!, "config.json"), "utf8");
      const { baseUrl, apiKey } = JSON.parse(config).profiles.try;
      const headers = { authorization: "Bearer sandbox" };
      const { status } = await fetch(`${baseUrl}/sandbox/documents`, { headers });
      keys.push(apiKey, String(status));
    };
    await tryOutHere({ ...context, handbook }, [], {}, runLine);
    expect(keys).toEqual([expect.stringMatching(/^[\da-f-]{36}$/), "401"]);
  });

  it.runIf(process.platform !== "win32")(
    "says so where it cannot write temporary files",
    async () => {
      const { run } = await tryOut(["docs"]);
      vi.stubEnv("TMPDIR", join(temporaryFolder(), "missing"));
      onTestFinished(() => void vi.unstubAllEnvs());
      const { code, stderr } = await run();
      expect(stderr).toContain("set TMPDIR to another folder");
      expect({ code, bug: stderr.includes("bug") }).toEqual({ code: 14, bug: false });
    },
  );

  it("takes the handbook where no folder is named and nobody can be asked", async () => {
    const { run } = await tryOut([]);
    const { code, stdout, stderr } = await run();
    expect(stderr).toMatch(/done: \d+ created/);
    expect(stdout).toContain("/examples/handbook/");
    expect(code).toBe(0);
  });

  it("heeds no setting that is meant for a service of the user's", async () => {
    const files = {
      ...pumps,
      "docs/.cliconfig.json": `{"profiles":{"a":{"baseUrl":"http://x.example"}}}`,
    };
    const { run } = await tryOut(["docs"], files);
    const { code, stderr } = await run({
      KNOWCTL_BASE_URL: "https://service.example",
      KNOWCTL_API_KEY: "CANARY-key-4b1f0c9e",
      KNOWCTL_PROFILE: "production",
    });
    expect({ code, stderr }).toMatchObject({ code: 0 });
  });

  it("keeps the documents with --keep, those of the last time alone", async () => {
    const { cwd, run } = await tryOut(["docs", "--keep"]);
    await run();
    writeFiles(cwd, { "docs/pumps.md": "# Pumps\n\n## Stopping\n\nClose the red valve.\n" });
    const { stderr } = await run();
    expect(stderr).toContain("done: 1 created");
    const data = /knowctl sandbox --data (\S+)/.exec(stderr)?.[1] ?? "";
    expect(data).toContain(join(cwd, "data", "knowctl", "try"));
    const sandbox = await startSandbox({ port: 0, dataFolder: data, key: "sandbox" });
    onTestFinished(() => sandbox.close());
    const env = { KNOWCTL_BASE_URL: sandbox.url, KNOWCTL_API_KEY: "sandbox" };
    const context = createTestContext({ cwd, env: cleanEnvironment(cwd, env) });
    expect(await main(["chat", "How is the red valve used in stopping pumps?"], context)).toBe(0);
    expect(context.stdoutText()).toContain("Close the red valve.");
  });

  it("says where it cannot keep the documents, and leaves nothing behind", async () => {
    const { cwd, run } = await tryOut(["docs", "--keep"]);
    const temporary = join(cwd, "temporary");
    writeFiles(cwd, { "temporary/.keep": "", file: "" });
    vi.stubEnv("TMPDIR", temporary);
    vi.stubEnv("TEMP", temporary);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { code, stderr } = await run({ XDG_DATA_HOME: join(cwd, "file") });
    expect(stderr).toContain("cannot replace");
    expect(stderr).toContain("set XDG_DATA_HOME");
    expect({ code, left: readdirSync(temporary) }).toEqual({ code: 14, left: [".keep"] });
  });

  it("goes on with the documents that can be read, and ends with the error of the others", async () => {
    const files = { ...pumps, "docs/bad.md": "---\nupdated: yesterday\n---\n# Bad\n\nText.\n" };
    const { run } = await tryOut(["docs"], files);
    const { code, stdout, stderr } = await run();
    expect(stderr).toContain("bad.md:2:1");
    expect(stdout).toContain("Open the blue valve first.");
    expect(stderr).toMatch(/error: 1 document failed; the others were sent\n.*\n$/);
    expect(code).toBe(10);
  });

  it.each([
    ["a folder that is none", "nosuch", /nosuch is not a folder/],
    ["a file", "docs/pumps.md", /docs\/pumps\.md is not a folder/],
    ["a place below a file", "docs/pumps.md/x", /docs\/pumps\.md\/x is not a folder/],
    ["a name that no system takes", "x".repeat(5_000), /x is not a folder/],
    ["an empty name", "", /"" is not a folder/],
    ["a folder without documents", "empty", /0 documents found/],
  ])("refuses %s", async (_name, folder, message) => {
    const { run } = await tryOut([folder], { ...pumps, "empty/.keep": "" });
    const { code, stdout, stderr } = await run();
    expect(stderr).toMatch(message);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  });

  it("advises no flag that try has not, where a folder is empty", async () => {
    const { run } = await tryOut(["empty"], { "empty/.keep": "" });
    const { stderr } = await run();
    expect(stderr).toContain("PDF files: knowctl try FOLDER");
    expect(stderr).not.toContain("--allow-empty");
  });

  it("says that nothing can be asked where no document can be read", async () => {
    const { run } = await tryOut(["docs"], {
      "docs/bad.md": "---\nupdated: yesterday\n---\nText.\n",
    });
    const { code, stdout, stderr } = await run();
    expect(stderr).toContain("no document of the folder could be read");
    expect({ code, stdout }).toEqual({ code: 10, stdout: "" });
  });
});
