import { mkdirSync, readFileSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { recordQuestion } from "../../../src/commands/chat/session/session-index.ts";
import { complete } from "../../../src/commands/completion/complete.ts";
import { namesFolder, rememberNames } from "../../../src/commands/completion/names.ts";
import { main } from "../../main.ts";
import { surfaceTable } from "../../../src/cli/program.ts";
import { startTestService, writeFiles } from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { execFileSync } from "node:child_process";
import { expectLinear } from "../../cost.ts";
import * as fc from "../../property.ts";
import {
  quoteForBash,
  quoteForPowerShell,
  readShellLine,
} from "../../../src/commands/completion/shells.ts";

describe("complete", () => {
  const table = surfaceTable({
    keys: ["ingest.include", "ingest.source"],
    rules: ["empty", "dead-link", "dead-page"],
  });
  const breaks = " \t\n\"'><=;|&(:";
  const baseUrl = "https://assistant.example.com";
  const now = Date.UTC(2026, 0, 31);
  const day = 24 * 60 * 60 * 1000;

  let home = "";
  let env: Record<string, string> = {};
  let cwd = "";

  beforeEach(() => {
    home = temporaryFolder();
    cwd = join(home, "work");
    mkdirSync(cwd);
    env = cleanEnvironment(home, { KNOWCTL_BASE_URL: baseUrl });
  });

  const place = () => ({ env, cwd, uid: process.geteuid?.() ?? -1, now });

  /** What bash is answered for a line that ends at the cursor. */
  async function tab(line: string, type = "9"): Promise<string[]> {
    const answer = await complete(["bash", type, breaks, line], table, place());
    return answer.trimEnd().split("\n");
  }

  function remember(
    names: readonly string[],
    { kind = "connectors", profile = "default", at = now, address = baseUrl } = {},
  ): void {
    const owner = { config: { profile }, connection: { baseUrl: address } };
    const rows = names.map((name, index) => ({ id: index + 1, name, text: "web" }));
    rememberNames({ env, now: () => at }, kind as "connectors", owner, rows);
  }

  describe("a Tab offers", () => {
    it.each([
      ["commands", "knowctl conn", ["words", "connectors"]],
      ["commands of a group", "knowctl connectors g", ["words", "get"]],
      ["commands after global flags", "knowctl --profile x --json connectors f", ["words", "find"]],
      ["the names of commands after help", "knowctl help conn", ["words", "connectors"]],
      ["topics after help", "knowctl help exit", ["words", "exit-codes"]],
      ["no topics after the help of a group", "knowctl connectors help exit", ["words"]],
      ["flags of the command", "knowctl ingest --checks", ["words", "--checksum"]],
      ["global flags", "knowctl connectors list --no-c", ["words", "--no-color"]],
      ["no single flag twice", "knowctl connectors list --json --js", ["words"]],
      ["a repeatable flag again", "knowctl ingest --tag a --ta", ["words", "--tag"]],
      ["no flag after --", "knowctl chat -- --sho", ["words"]],
      ["choices", "knowctl ingest --sections ", ["words", "whole", "headings"]],
      ["choices after =", "knowctl ingest --sections=he", ["words", "headings"]],
      ["choices of a global flag", "knowctl --dialect o", ["words", "onyx"]],
      ["the formats of chat", "knowctl chat -o p", ["words", "packets"]],
      ["the formats of lists", "knowctl connectors list -o t", ["words", "table", "tsv"]],
      ["the rest of a list", "knowctl chat --show reasoning,to", ["words", "reasoning,tools"]],
      ["shells", "knowctl completion z", ["words", "zsh"]],
      ["keys of a configuration", "knowctl config get ingest.in", ["words", "ingest.include"]],
      ["rules", "knowctl lint docs --rule dead", ["words", "dead-link", "dead-page"]],
      ["rules after =", "knowctl lint --rule=e", ["words", "empty"]],
      ["files", "knowctl report merge ", ["files"]],
      ["files of a flag", "knowctl --ca-file ", ["files"]],
      ["folders", "knowctl ingest --state ", ["directories"]],
      ["files in place of a command", "knowctl ingest exp", ["files"]],
      ["files once a path stands there", "knowctl ingest docs ex", ["files"]],
      ["nothing for free text", "knowctl ingest --id-prefix ", ["words"]],
      ["nothing for an unknown flag's value", "knowctl ingest --nonsense=", ["words"]],
      ["nothing beyond the arguments", "knowctl connectors find a ", ["words"]],
    ])("%s", async (_name, line, expected) => {
      expect(await tab(line)).toEqual(expected);
    });

    it("profiles of every file, trusted or not, and reads no secret", async () => {
      writeFiles(cwd, {
        ".git/HEAD": "",
        ".cliconfig.yaml":
          "profiles:\n  production: {baseUrl: https://a.example, apiKey: {file: /dev/full}}\n",
      });
      mkdirSync(join(home, "config", "knowctl"), { recursive: true });
      const user = { profiles: { private: {} } };
      writeFileSync(join(home, "config", "knowctl", "config.json"), JSON.stringify(user));
      cwd = join(cwd, "below");
      mkdirSync(cwd);
      expect(await tab("knowctl config use ")).toEqual(["words", "production", "private"]);
      expect(await tab("knowctl --profile pri")).toEqual(["words", "private"]);
      expect(await tab("knowctl --config nowhere.json --profile p")).toEqual(["words", "private"]);
      // Every command refuses these files.
      for (const refused of ["{ broken", '{ "profiles": { "p1": {}, "$(id)": {} } }']) {
        writeFiles(cwd, { ".cliconfig.json": refused });
        expect(await tab("knowctl --profile p")).toEqual(["words", "private"]);
      }
    });

    it("names of connectors by name and by id, with their sources", async () => {
      remember(["Handbook uploads", "Handbook web", "Wiki"]);
      expect(await tab("knowctl connectors find Hand")).toEqual([
        "words",
        "Handbook\\ uploads",
        "Handbook\\ web",
      ]);
      expect(await tab('knowctl ingest --connector "Handbook u')).toEqual([
        "words",
        "Handbook uploads",
      ]);
      expect(await tab("knowctl ingest --cc-pair-id ", "63")).toContain("3  (Wiki  web)");
      expect(await tab("knowctl ingest --cc-pair-id ")).toEqual(["words", "1", "2", "3"]);
      expect(await tab("knowctl connectors get W")).toEqual(["words", "Wiki"]);
      expect(await tab("knowctl connectors get 3")).toEqual(["words", "3"]);
      expect(await tab("knowctl connectors list --source ")).toEqual(["words", "web"]);
    });

    it("agents, tools, and the sessions asked in with what they are about", async () => {
      remember(["Helper"], { kind: "agents" });
      remember(["Search"], { kind: "tools" });
      expect(await tab("knowctl chat --agent ")).toEqual(["words", "1"]);
      expect(await tab("knowctl chat --force-tool ")).toEqual(["words", "1"]);
      const owner = { profile: "default", baseUrl };
      for (const [sessionId, title] of [
        ["aaaa-1", "How do I request leave?"],
        ["bbbb-2", "evil\u001b[31m\ntitle"],
      ] as const) {
        recordQuestion(env, owner, { sessionId, messageId: 1, title, now: now + sessionId.length });
      }
      const [mode, ...lines] = await tab("knowctl sessions show ", "63");
      expect(mode).toBe("ordered");
      expect(lines[0]).toBe("last  (the session used last)");
      expect(lines).toContain("aaaa-1  (How do I request leave?)");
      expect(lines).toContain("bbbb-2  (evil^[[31m title)");
      expect(await tab("knowctl chat --session aa")).toEqual(["ordered", "aaaa-1"]);
    });
  });

  describe("names of the service", () => {
    it("belong to one profile at one address", async () => {
      remember(["Here"]);
      remember(["There"], { profile: "other" });
      remember(["Elsewhere"], { address: "https://other.example" });
      expect(await tab("knowctl connectors find ")).toEqual(["words", "Here"]);
      expect(await tab("knowctl --profile other connectors find ")).toEqual(["words", "There"]);
      const given = "knowctl --base-url https://other.example/api/ connectors find ";
      expect(await tab(given)).toEqual(["words", "Elsewhere"]);
      env["KNOWCTL_BASE_URL"] = "nonsense";
      expect(await tab("knowctl connectors find ")).toEqual(["words"]);
    });

    it.each([
      ["of a month ago", now - 31 * day],
      ["of a clock that went wrong", now + 31 * day],
    ])("%s are not offered", async (_name, at) => {
      remember(["Old"], { at });
      expect(await tab("knowctl connectors find ")).toEqual(["words"]);
    });

    it.each([
      ["no JSON", "{"],
      ["a list", "[]"],
      ["of another version", '{"version":2,"names":[[1,"a","b"]]}'],
      ["too large", " ".repeat(1024 * 1024 + 1)],
      ["with rows of other kinds", undefined],
    ])("in a damaged file (%s) are not offered", async (_name, text) => {
      remember(["Fine"]);
      const path = join(namesFolder(env), readdirSync(namesFolder(env))[0]!);
      const rows =
        '[[1,"Fine","web"],null,["x","y","z"],[2],[3,{"a":1},"web"],[4,"ev\\nil","web"]]';
      const kept = readFileSync(path, "utf8").replace('[[1,"Fine","web"]]', rows);
      writeFileSync(path, text ?? kept);
      const expected = text === undefined ? ["words", "Fine"] : ["words"];
      expect(await tab("knowctl connectors find ")).toEqual(expected);
    });

    it("are kept for the user alone, bounded in number and length, and not in CI", async () => {
      remember(["n".repeat(201), "evil\u001b[0m", "two\nlines", "--flag", "\u202ebidi"]);
      expect(await tab("knowctl connectors find ")).toEqual(["words"]);
      remember(Array.from({ length: 3000 }, (_, id) => `name ${id}`));
      expect(await tab("knowctl connectors find ")).toHaveLength(1 + 2000);
      const [file] = readdirSync(namesFolder(env));
      expect(statSync(join(namesFolder(env), file!)).mode & 0o777).toBe(0o600);
      for (let index = 0; index < 105; index++) remember(["x"], { profile: `p${index}` });
      expect(readdirSync(namesFolder(env))).toHaveLength(100);
      env["CI"] = "1";
      remember(["New"]);
      expect(await tab("knowctl connectors find New")).toEqual(["words"]);
    });

    it("are written by the listings, also where the cache cannot be made", async () => {
      const { env: own, folder, sandbox } = await startTestService({ dialect: "onyx" });
      for (const args of [
        ["connectors", "list"],
        ["agents", "list"],
        ["tools", "list"],
      ]) {
        const context = createTestContext({ cwd: folder, env: own });
        expect(await main(args, context)).toBe(0);
      }
      env = { ...own, KNOWCTL_BASE_URL: sandbox.url };
      expect(
        await complete(["zsh", "", "ingest", "--connector"], table, {
          ...place(),
          now: Date.now(),
        }),
      ).toContain("Handbook uploads\tHandbook uploads");
      expect(readdirSync(namesFolder(own)).map((name) => name.split("-")[0])).toEqual(
        expect.arrayContaining(["agents", "connectors", "tools"]),
      );
      const blocked = join(folder, "blocked");
      writeFileSync(blocked, "");
      const context = createTestContext({ cwd: folder, env: { ...own, XDG_CACHE_HOME: blocked } });
      expect(await main(["connectors", "list"], context)).toBe(0);
      expect(context.stderrText()).toBe("");
    });
  });

  describe("each shell", () => {
    it("gets values and texts in its own form", async () => {
      remember(["It's ${x} é\u2019", "Wiki"]);
      const of = async (...args: string[]) => await complete(args, table, place());
      expect(await of("zsh", "--connector=", "ingest")).toBe(
        "words\nIt's ${x} é’\tIt's ${x} é’  -- 1 web\nWiki\tWiki          -- 2 web\n",
      );
      expect(await of("fish", "--connector=", "ingest")).toBe(
        "words\n--connector=It's ${x} é’\t1 web\n--connector=Wiki\t2 web\n",
      );
      const coded = Buffer.from("ingest\0--connector\0'It").toString("base64");
      const answer = await of("powershell", coded);
      expect(answer).toMatch(/^[\x20-\x7e]+\n$/);
      expect(JSON.parse(answer)).toEqual([
        { value: "'It''s ${x} é’’'", shown: "It's ${x} é’", text: "1 web" },
      ]);
    });

    it("gets nothing for what no script would ask", async () => {
      expect(await complete([], table, place())).toBe("");
      expect(await complete(["__proto__", "x"], table, place())).toBe("");
      expect(await complete(["powershell", "%%%"], table, place())).toMatch(/^\[.*\]\n$/s);
      expect(
        await complete(["bash", "9", breaks, "knowctl"], table, {
          ...place(),
          cwd: "/nonexistent",
        }),
      ).toMatch(/^words/);
    });
  });
});

describe("shell words", () => {
  const breaks = " \t\n\"'><=;|&(:";

  describe("a line of bash", () => {
    it.each([
      ["knowctl ", ["knowctl"], "", 0, ""],
      ["knowctl a b", ["knowctl", "a"], "b", 0, ""],
      ["knowctl 'a b' c", ["knowctl", "a b"], "c", 0, ""],
      ["knowctl a\\ b", ["knowctl"], "a b", 0, ""],
      ['knowctl "a b', ["knowctl"], "a b", 0, '"'],
      ["knowctl x'a b", ["knowctl"], "xa b", 1, "'"],
      ['knowctl "a"b', ["knowctl"], "ab", 1, ""],
      ["knowctl --a=b", ["knowctl"], "--a=b", 4, ""],
      ["knowctl --a\\=b", ["knowctl"], "--a=b", 0, ""],
      ['knowctl "--a=b', ["knowctl"], "--a=b", 0, '"'],
      ["knowctl '' x", ["knowctl", ""], "x", 0, ""],
      ['knowctl "a\\"\\x', ["knowctl"], 'a"\\x', 0, '"'],
      ["knowctl a\\", ["knowctl"], "a", 0, ""],
    ])("%j", (line, words, current, kept, quote) => {
      expect(readShellLine(line, breaks)).toEqual({ words, current, kept, quote });
    });

    it("is read in linear time", () => {
      expectLinear(400_000, (count) => {
        expect(readShellLine("a".repeat(count), breaks).current).toHaveLength(count);
      });
    });
  });

  // History expansion is not on in a script; the tests of the shells themselves look at it.
  const printable = fc
    .string({ unit: "grapheme", maxLength: 20 })
    .filter((text) => !/[\0\n\r]/.test(text));

  describe("a quoted text", () => {
    it("means the same to bash, whatever is in it", () => {
      const texts = fc.sample(printable, 300);
      const words = texts.flatMap((text) => [
        `x${quoteForBash(text, "")}`,
        // The line editor closes what does not end with the mark.
        ...(['"', "'"] as const).map((quote) => {
          const inside = quoteForBash(text, quote);
          return `x${quote}${inside}${inside.endsWith(quote) ? "" : quote}`;
        }),
      ]);
      const script = `printf '%s\\0' ${words.join(" ")}`;
      const out = execFileSync("bash", ["-c", script], { encoding: "utf8" });
      const expected = texts.flatMap((text) => [`x${text}`, `x${text}`, `x${text}`]);
      expect(out.split("\0").slice(0, -1)).toEqual(expected);
    });

    it("is one literal of PowerShell", () => {
      fc.assert(
        fc.property(printable, (text) => {
          const word = quoteForPowerShell(text);
          if (!word.startsWith("'")) return /^(?:--)?\w[\w./:\\=+-]*$/.test(word) && word === text;
          const inside = word.slice(1, -1);
          const marks = /['\u2018\u2019\u201a\u201b]/g;
          return inside.replace(/(['\u2018\u2019\u201a\u201b])\1/g, "").search(marks) < 0;
        }),
      );
    });
  });
});
