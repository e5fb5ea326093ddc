import { readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../../main.ts";
import { writeFiles } from "../../service.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../../support.ts";
import { createRepository } from "../../git/support.ts";
import type { LintFinding } from "../../../src/checks/lint/place.ts";
import { fixFiles } from "../../../src/commands/lint/fix-files.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { contentHash } from "../../../src/documents/files/bytes/file-bytes.ts";
import { createOutput } from "../../../src/output/terminal/output.ts";
import { findingWith } from "../../checks/lint/finding.ts";

describe("lint", () => {
  const empty = "---\ntitle: Nothing\n---\n";
  const fine = "# Holidays\n\nEverybody has 28 days of holidays in a year. Ask your team lead.\n";

  /** A project with a file that has nothing to say, and one that is fine. */
  function project(files: Readonly<Record<string, string>> = {}): string {
    const folder = temporaryFolder();
    writeFiles(folder, {
      ".cliconfig.json": "{}",
      "docs/empty.md": empty,
      "docs/fine.md": fine,
      ...files,
    });
    return folder;
  }

  const lint = (cwd: string, line = "", columns = 0, trust = "1") => {
    const size = columns > 0 ? { isTTY: true, columns } : {};
    // The home folder is another one: it is never a project.
    const env = { ...cleanEnvironment(temporaryFolder()), KNOWCTL_TRUST_PROJECT: trust };
    return runHere(["lint", ...line.split(" ").filter(Boolean)], { cwd, env, ...size });
  };

  const configOf = (value: object): Record<string, string> => ({
    ".cliconfig.json": JSON.stringify(value),
  });

  describe("knowctl lint", () => {
    it("calls a page stale after the days of the configuration, and refuses bad ones", async () => {
      const repository = createRepository();
      const dated = fine.replace("#", "---\nupdated: 2026-01-01\n---\n#");
      repository.commit({ "docs/dated.md": dated }, "2026-03-01T00:00:00Z");
      const run = (staleDays: unknown) => {
        repository.write(configOf({ lint: { staleDays } }));
        return lint(repository.root, "docs --rule stale-date");
      };
      expect((await run(60)).stdout).toBe("");
      expect((await run(58)).stdout).toContain("the last commit is 59 days newer (2026-03-01)");
      const bad = await run(0);
      expect(bad.stderr).toContain("lint.staleDays");
      expect(bad.code).toBe(3);
    });

    it("refuses severities for no path", async () => {
      const overrides = [{ paths: [], rules: { empty: "off" } }];
      const { code, stderr } = await lint(project(configOf({ lint: { overrides } })), "docs");
      expect(stderr).toContain("lint.overrides[0].paths");
      expect(code).toBe(3);
    });

    it("does not pass where the configuration switches off all chosen rules", async () => {
      const folder = project(configOf({ lint: { rules: { empty: "off" } } }));
      const { code, stderr } = await lint(folder, "docs --rule empty");
      expect(stderr).toContain("the configuration switches off every chosen rule: empty");
      expect(code).toBe(2);
      expect(await lint(folder, "docs --rule empty --rule tiny")).toMatchObject({ code: 0 });
    });

    it("judges links within a book only where it reads the whole project", async () => {
      const files = { "docs/a.adoc": "= A\n\nSee <<gone>>.\n" };
      const config = configOf({ ingest: { exclude: ["drafts/**"] } });
      const run = async (line: string, more = {}): Promise<string> =>
        (await lint(project({ ...files, ...more }), `${line} --rule missing-anchor`)).stdout;
      const found = "docs/a.adoc:3:7: warning the page has no anchor #gone (missing-anchor)\n";
      expect(await run("")).toBe(found);
      expect(await run(".")).toBe(found);
      expect(await run("docs")).toBe("");
      expect(await run("docs/a.adoc")).toBe("");
      expect(await run("", config)).toBe("");
    });

    it("names place, severity, message and rule, and passes with warnings", async () => {
      expect(await lint(project(), "docs --rule empty")).toEqual({
        code: 0,
        stdout:
          "docs/empty.md:1:1: warning the page is not sent: no text after the front matter (empty)\n",
        stderr: "1 warning in 1 document, 1 file skipped\n",
      });
    });

    it("orders findings by their columns", async () => {
      const folder = project({ "docs/links.md": `${fine}\nSee [x](gone.md) and [y](lost.md).\n` });
      const { stdout } = await lint(folder, "docs --rule dead-link");
      expect(stdout).toMatch(
        /^docs\/links\.md:5:9: [^\n]*gone\.md[^\n]*\n[^\n]*:5:26: [^\n]*lost\.md/,
      );
    });

    it("checks the configured files without a path", async () => {
      const folder = project({
        "other.md": empty,
        ...configOf({ ingest: { include: ["other.md"] } }),
      });
      expect((await lint(folder, "--rule empty")).stdout).toMatch(/^other\.md:1:1/);
    });

    it("shows paths relative to the working directory, in JSON relative to the root", async () => {
      const folder = project();
      const people = await lint(join(folder, "docs"), ". --rule empty");
      expect(people.stdout).toMatch(/^empty\.md:1:1/);
      const json = await lint(join(folder, "docs"), ". --rule empty --json");
      expect(JSON.parse(json.stdout)).toMatchObject({
        version: 1,
        command: "lint",
        summary: { documents: 1, skipped: 1, failed: 0, error: 0, warning: 1, note: 0 },
        findings: [{ rule: "empty", path: "docs/empty.md", line: 1, column: 1 }],
      });
    });

    it("fails with 13 on an error, and on more warnings than allowed", async () => {
      const folder = project(configOf({ lint: { rules: { empty: "error" } } }));
      expect(await lint(folder, "docs --rule empty")).toMatchObject({ code: 13 });
      expect(await lint(project(), "docs --rule empty --max-warnings 1")).toMatchObject({
        code: 0,
      });
      expect(await lint(project(), "docs --rule empty --max-warnings 0")).toMatchObject({
        code: 13,
        stderr: expect.stringContaining("1 warning, more than --max-warnings 0"),
      });
    });

    it("takes severities by path", async () => {
      const overrides = [{ paths: ["docs/**"], rules: { empty: "off" } }];
      const folder = project({ "empty.md": empty, ...configOf({ lint: { overrides } }) });
      expect((await lint(folder, ". --rule empty")).stdout).toMatch(/^empty\.md[^\n]*\n$/);
    });

    it("fails with 10 if a file cannot be read, and reports the others", async () => {
      const folder = project({ "docs/broken.md": "---\na: [\n---\n" });
      const line = "docs --rule empty --report lint.xml";
      const { code, stdout, stderr } = await lint(folder, line);
      expect(readFileSync(join(folder, "lint.xml"), "utf8")).toMatch(
        /name="docs\/broken\.md" file="docs\/broken\.md" time="0\.000"><error message="front matter: [^"]+" type="unreadable">/,
      );
      expect([code, stdout]).toEqual([10, expect.stringMatching(/^docs\/empty\.md/)]);
      expect(stderr).toMatch(
        /error: docs\/broken\.md:\d+:\d+: [^]*, 1 file not read\n[^]*1 file could not be read/,
      );
    });

    it.each([
      ["--rule emty", 2, /unknown rule "emty"; did you mean "empty"[^]*the rules are empty, tiny/],
      ["-", 2, /lint reads no documents from stdin/],
      ["none", 2, /no such file/],
      ["docs --include *.nothing", 2, /0 files to check/],
      ["docs --report r.pdf", 2, /\.sarif/],
      ["docs --baseline none.json", 2, /no such file/],
      ["docs --write-baseline", 2, /add --baseline/],
      ["docs --fields nothing", 2, /nothing/],
      ["docs --output csv", 2, /sarif/],
    ])("refuses %s", async (line, code, message) => {
      expect(await lint(project(), line)).toMatchObject({
        code,
        stdout: "",
        stderr: expect.stringMatching(message),
      });
    });

    it.each([
      [{ rules: { emty: "off" } }, /lint\.rules: unknown rule "emty"; did you mean "empty"/],
      [{ overrides: [{ paths: ["a"], rules: { x: "off" } }] }, /lint\.overrides\[0\]\.rules/],
      [{ rules: { empty: "eror" } }, /empty/],
      [{ rule: { empty: "error" } }, /did you mean "rules"/],
    ])("refuses the configuration %j", async (value, message) => {
      const { code, stderr } = await lint(project(configOf({ lint: value })), "docs");
      expect([code, stderr]).toEqual([3, expect.stringMatching(message)]);
    });

    it("leaves out the findings of the baseline, and says which no longer occur", async () => {
      const folder = project();
      const baseline = "docs --rule empty --baseline known.json";
      expect(await lint(folder, `${baseline} --write-baseline`)).toMatchObject({
        code: 0,
        stdout: "",
        stderr: expect.stringContaining("1 finding written into known.json"),
      });
      writeFiles(folder, { "docs/new.md": empty });
      const second = await lint(folder, `${baseline} --max-warnings 1`);
      expect([second.code, second.stdout]).toEqual([
        0,
        expect.stringMatching(/^docs\/new\.md[^\n]*\n$/),
      ]);
      expect(second.stderr).toContain("1 finding of the baseline left out");
      writeFileSync(join(folder, "docs/empty.md"), fine.replace("28", "thirty"));
      expect((await lint(folder, baseline)).stderr).toContain(
        "1 finding of the baseline no longer occurs: remove it with --write-baseline\n  docs/empty.md: empty\n",
      );
    });

    it("shows one finding for each cause, of which the baseline knows all", async () => {
      const page = (title: string): string =>
        `# ${title}\n\n![Plan](plan.png) <Card title="x">Text of ${title}.</Card> [more](gone.md)\n\n${fine}`;
      const folder = project({
        "docs/a.md": page("A"),
        "docs/b.md": page("B"),
        "docs/d.md": fine,
        "docs/e.md": fine,
      });
      const rules = "docs --rule missing-image --rule leaked-jsx --rule dead-link";
      const shown = [
        "docs/a.md:3:9: warning the image has no file: plan.png; 2 places show it (missing-image)",
        'docs/a.md:3:19: warning code of a component is sent as text: <Card title="x">; 2 places show it (leaked-jsx)',
        "docs/a.md:3:60: warning the link leads to no file: gone.md; 2 references lead there (dead-link)",
      ];
      expect((await lint(folder, rules)).stdout.trim().split("\n")).toEqual(shown);
      const many = project({ "docs/a.md": page("A").repeat(9), "docs/b.md": page("B").repeat(9) });
      const { stdout: first } = await lint(many, "docs --rule leaked-jsx");
      expect(first.trim().split("\n")).toHaveLength(1);
      await lint(folder, `${rules} --baseline known.json --write-baseline`);
      writeFiles(folder, { "docs/a.md": fine, "docs/c.md": page("C") });
      const { stdout } = await lint(folder, `${rules} --baseline known.json`);
      expect(stdout).toContain(
        "docs/c.md:3:9: warning the image has no file: plan.png (missing-image)",
      );
      expect(stdout).not.toContain("docs/b.md");
    });

    it.each([
      ["mkdocs.yml", "site_name: A\nnav: [a\n", "MkDocs (mkdocs.yml)", /mkdocs\.yml:\d:1: /],
      ["docs/_config.yml", "title: A\n\tb: c\n", "Jekyll (docs/_config.yml)", /yml:2:1: /],
      ["hugo.toml", "title = 'A'\nbaseURL = \n", "Hugo (hugo.toml)", /hugo\.toml:2:1: /],
      [
        "docs/docfx.json",
        '{ "build": {\n  "a" "b"\n} }\n',
        "DocFX (docs/docfx.json)",
        /docfx\.json:2:1: /,
      ],
    ])("names the line of a configuration that is broken: %s", async (path, text, site, place) => {
      const folder = project({ [path]: text });
      const { stdout } = await lint(folder, "docs --rule site-configuration");
      expect(stdout.trim().split("\n")).toEqual([expect.stringMatching(place)]);
      expect(stdout).toContain(`warning the configuration of ${site} cannot be read: `);
      writeFiles(folder, { [path]: "" });
      expect((await lint(folder, "docs --rule site-configuration")).stdout).toBe("");
    });

    it("calls fixed what only a removed rule found, but not what it did not check", async () => {
      const folder = project();
      const line = "docs --rule empty --baseline known.json";
      await lint(folder, `${line} --write-baseline`);
      const written = readFileSync(join(folder, "known.json"), "utf8");
      const entry = (path: string, rule: string): string =>
        `    {"path":"${path}","rule":"${rule}","count":1,"fingerprints":["0123456789abcdef"]},\n`;
      const entries =
        entry("docs/empty.md", "removed-rule") +
        entry("other/a.md", "empty") +
        entry("docs/gone.md", "empty");
      writeFileSync(join(folder, "known.json"), written.replace("[\n", `[\n${entries}`));
      const { stderr } = await lint(folder, line);
      expect(stderr).toContain("2 findings of the baseline no longer occur");
      expect(stderr).toContain("  docs/empty.md: removed-rule\n");
      expect(stderr).toContain("  docs/gone.md: empty\n");
      expect(stderr).not.toContain("other/a.md");
    });

    it("writes the other reports where one cannot be written", async () => {
      const folder = project();
      symlinkSync("/dev/full", join(folder, "full.json"));
      const reports = "--report full.json --report b.json";
      const { code, stderr } = await lint(folder, `docs --rule empty ${reports}`);
      expect(stderr).toContain("the disk is full");
      expect(code).toBe(14);
      expect(readFileSync(join(folder, "b.json"), "utf8")).toContain('"command":"lint"');
    });

    it("keeps what the baseline knows of a file that cannot be read", async () => {
      const folder = project();
      const line = "docs --rule empty --baseline known.json";
      await lint(folder, `${line} --write-baseline`);
      const written = readFileSync(join(folder, "known.json"), "utf8");
      writeFileSync(join(folder, "docs/empty.md"), "---\na: [\n---\n");
      const { code, stderr } = await lint(folder, line);
      expect([code, stderr]).toEqual([10, expect.not.stringContaining("no longer occurs")]);
      expect((await lint(folder, `${line} --write-baseline`)).code).toBe(10);
      expect(readFileSync(join(folder, "known.json"), "utf8")).toBe(written);
    });

    it("says that no finding has a fix", async () => {
      const folder = project();
      const { code, stderr } = await lint(folder, "docs --rule empty --fix");
      expect([code, stderr]).toEqual([0, expect.stringContaining("nothing was fixed: no finding")]);
    });

    it("fails with 10 if a file cannot be fixed", async () => {
      const folder = project();
      const text = `${fine}\nEvery\u200bbody has a desk.\n`;
      writeFileSync(join(folder, "docs/wide.md"), Buffer.from(`\ufeff${text}`, "utf16le"));
      const { code, stderr } = await lint(folder, "docs --rule invisible-characters --fix");
      expect([code, stderr]).toEqual([
        10,
        expect.stringContaining("error: 1 file could not be fixed"),
      ]);
      expect(stderr).toContain("docs/wide.md: not fixed: it is not UTF-8 text");
    });

    it("writes every report, and skips them in the next run", async () => {
      const folder = project();
      const reports = ["json", "sarif", "xml", "html"].map((name) => `--report docs/r.${name}`);
      const line = `docs --rule empty --gitlab-report docs/g.json ${reports.join(" ")}`;
      expect(await lint(folder, line)).toMatchObject({ code: 0 });
      for (const name of ["r.json", "r.sarif", "r.xml", "r.html", "g.json"]) {
        expect(readFileSync(join(folder, "docs", name), "utf8"), name).toContain("docs/empty.md");
      }
      expect((await lint(folder, line)).stderr).toContain("1 warning in 1 document");
    });

    it("prints SARIF and JUnit", async () => {
      const folder = project();
      const sarif = JSON.parse((await lint(folder, "docs --rule empty -o sarif")).stdout);
      expect(sarif).toMatchObject({ version: "2.1.0", runs: [{ results: [{ ruleId: "empty" }] }] });
      expect((await lint(folder, "docs --rule empty -o junit")).stdout).toMatch(/^<\?xml/);
    });

    it("ends ndjson with the result, and selects members with --jq", async () => {
      const folder = project();
      const { stdout } = await lint(folder, "docs --rule empty -o ndjson");
      const lines = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as { type: string });
      expect(lines.map(({ type }) => type)).toEqual(["finding", "result"]);
      const picked = await lint(folder, "docs --rule empty --jq .summary.warning");
      expect(picked.stdout).toBe("1\n");
    });

    it.each([
      ["docs/fine.md", {}, "passed", 0],
      ["docs/empty.md", {}, "passed", 0],
      ["docs/empty.md --max-warnings 1", {}, "passed", 0],
      ["docs/empty.md --max-warnings 0", {}, "failed", 13],
      ["docs", configOf({ lint: { rules: { empty: "error" } } }), "failed", 13],
      ["docs/fine.md docs/broken.md", { "docs/broken.md": "---\na: [\n---\n" }, "partial", 10],
    ])("says in its JSON how the check of %s ended", async (paths, files, status, code) => {
      const folder = project(files);
      const line = `${paths} --rule empty --report r.json`;
      const result = await lint(folder, `${line} -o ndjson`);
      expect(result.code).toBe(code);
      expect(JSON.parse(result.stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({ status });
      const summary = await runHere(["report", "summary", "r.json", "-o", "json"], { cwd: folder });
      expect(JSON.parse(summary.stdout)).toMatchObject([{ step: "lint", result: status }]);
    });

    it("counts the findings of each rule on a terminal, and lists notes with --notes", async () => {
      const folder = project({
        "docs/dead.md": `# Dead\n\nSee [it](a.md) and [that](b.md) for the days of this year.\n`,
        "docs/tiny.md": "# Parking\n\nSee the intranet.\n",
      });
      const shown = await lint(folder, "docs", 200);
      expect(shown.stdout).not.toContain("(tiny)");
      expect(shown.stderr).toContain(
        "warnings: dead-link 2, empty 1\nnotes: tiny 1; --notes lists them\n3 warnings, 1 note in",
      );
      for (const line of ["docs --notes", "docs -v", "docs --rule tiny"]) {
        const all = await lint(folder, line, 200);
        expect(all.stdout, line).toContain("(tiny)");
        expect(all.stderr, line).not.toContain("--notes lists them");
      }
      const piped = await lint(folder, "docs");
      expect(piped.stdout).toContain("(tiny)");
      expect(piped.stderr).not.toContain("dead-link 2");
      expect((await lint(folder, "docs --json", 200)).stdout).toContain('"tiny"');
    });

    it("shows one screen on a terminal, the worst first, and all of it with -v", async () => {
      const files = Object.fromEntries(
        Array.from({ length: 60 }, (_, index) => [`docs/${index + 10}.md`, empty]),
      );
      const overrides = [{ paths: ["docs/69.md"], rules: { empty: "error" } }];
      const folder = project({ ...files, ...configOf({ lint: { overrides } }) });
      const shown = (await lint(folder, "docs --rule empty", 80)).stdout.trim().split("\n");
      expect(shown.length).toBeLessThan(24);
      expect(shown[0]).toMatch(/docs\/69\.md:1:1: .*error/);
      expect(shown.at(-1)).toMatch(/and \d\d more: -v lists them all/);
      const all = (await lint(folder, "docs --rule empty -v", 80)).stdout.trim().split("\n");
      expect(all.length).toBe(61);
    });

    it.each([
      [19, 19, /\(empty\)/],
      [20, 20, /and 1 more/],
    ])("shows %i findings on a terminal of 24 rows in %i lines", async (count, lines, last) => {
      const files = Object.fromEntries(
        Array.from({ length: count - 1 }, (_, index) => [`docs/${index + 10}.md`, empty]),
      );
      const shown = (await lint(project(files), "docs --rule empty", 100)).stdout
        .trim()
        .split("\n");
      expect(shown).toHaveLength(lines);
      expect(shown.at(-1)).toMatch(last);
    });

    it("works without trust, and contacts nothing", async () => {
      const config = {
        lint: { rules: { empty: "note" } },
        profiles: { default: { baseUrl: "http://127.0.0.1:9", apiKey: { env: "NO_SUCH_KEY" } } },
      };
      const { code, stdout } = await lint(project(configOf(config)), "docs --rule empty", 0, "0");
      expect([code, stdout]).toEqual([0, expect.stringContaining("warning")]);
    });

    const leak = "# A\n\nOpen postgres://app:kT9vQ2mX7pLw@db.acme.io/x with it.\n";

    it.each([
      [".cliconfig.json", { lint: { rules: { "secret-url-password": "off" } } }, "lint.rules"],
      [
        "package.json",
        {
          cliconfig: {
            lint: { overrides: [{ paths: ["**"], rules: { "secret-url-password": "off" } }] },
          },
        },
        "lint.overrides",
      ],
      [".cliconfig.json", { ingest: { allowSecrets: ["**"] } }, "ingest.allowSecrets"],
    ])("takes no word about secrets from an untrusted %s", async (name, config, key) => {
      const folder = temporaryFolder();
      writeFiles(folder, { [name]: JSON.stringify(config), "docs/leak.md": leak });
      const { code, stdout, stderr } = await lint(folder, "docs", 0, "0");
      expect(code).toBe(13);
      expect(stdout).toContain("secret-url-password");
      const lines = stderr.split("\n").filter((line) => line.includes("is not trusted"));
      expect(lines).toEqual([expect.stringContaining(`ignored: ${key};`)]);
    });

    it("never excuses a secret by a baseline, neither a new one nor one that somebody wrote", async () => {
      const folder = project({ "docs/leak.md": leak });
      const line = "docs --baseline known.json";
      expect((await lint(folder, `${line} --write-baseline`)).code).toBe(13);
      const written = readFileSync(join(folder, "known.json"), "utf8");
      expect(written).not.toContain("secret");
      const report = join(folder, "lint.json");
      await lint(folder, `docs --report ${report}`);
      const { fingerprint } = (
        JSON.parse(readFileSync(report, "utf8")) as {
          findings: { rule: string; fingerprint: string }[];
        }
      ).findings.find(({ rule }) => rule === "secret-url-password")!;
      const entry = {
        path: "docs/leak.md",
        rule: "secret-url-password",
        count: 1,
        fingerprints: [fingerprint],
      };
      const text = JSON.stringify({ version: 1, type: "lint-baseline", findings: [entry] });
      writeFileSync(join(folder, "known.json"), text);
      const { code, stdout } = await lint(folder, line);
      expect([code, stdout]).toEqual([13, expect.stringContaining("secret-url-password")]);
    });

    it("annotates the files in a GitHub job", async () => {
      const env = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: join(temporaryFolder(), "s.md") };
      const { stderr } = await runHere(["lint", "docs", "--rule", "empty"], {
        cwd: project(),
        env,
      });
      expect(stderr).toMatch(/::warning [^\n]*docs\/empty\.md/);
      expect(readFileSync(env.GITHUB_STEP_SUMMARY, "utf8")).toContain("knowctl lint");
    });
  });
});

describe("fix files", () => {
  const fixOf = (path: string, start: number, end: number, fix: string): LintFinding => ({
    ...findingWith({ path, rule: "spaces", fixable: true }),
    span: { start, end },
    fix,
  });

  it("changes files, says what it changed, and warns of files that it left alone", async () => {
    const root = temporaryFolder();
    const write = (path: string, bytes: Buffer): [string, string] => {
      writeFileSync(join(root, path), bytes);
      return [path, contentHash(bytes)];
    };
    const contents = new Map([
      write("a.md", Buffer.from("one two\r\n")),
      write("wide.md", Buffer.from("\ufeffone", "utf16le")),
      write("edited.md", Buffer.from("one")),
    ]);
    writeFileSync(join(root, "edited.md"), "ONE");
    const findings = [
      fixOf("a.md", 0, 1, "O"),
      fixOf("a.md", 4, 6, "T"),
      fixOf("a.md", 5, 7, "x"),
      fixOf("wide.md", 0, 1, "O"),
      fixOf("edited.md", 0, 1, "O"),
      findingWith({ path: "unfixable.md" }),
    ];
    const context = createTestContext({ cwd: root });
    const source = { settings: compileSettings({ root }), shown: (path: string) => `up/${path}` };
    const linted = { findings, contents };
    const counts = await fixFiles(context, createOutput(context, { quiet: true }), source, linted);
    expect(counts).toEqual({ changed: 1, refused: 2 });
    expect(readFileSync(join(root, "a.md"), "utf8")).toBe("One To\r\n");
    expect(readFileSync(join(root, "edited.md"), "utf8")).toBe("ONE");
    // With --quiet only the warnings.
    expect(context.stderrText()).toBe(
      "warning: up/wide.md: not fixed: it is not UTF-8 text\nwarning: up/edited.md: not fixed: it changed after it was read\n",
    );

    writeFileSync(join(root, "a.md"), "one two\r\n");
    const again = createTestContext({ cwd: root });
    await fixFiles(again, createOutput(again), source, {
      ...linted,
      findings: findings.slice(0, 3),
    });
    expect(again.stderrText()).toBe("up/a.md: fixed spaces, 2 places; 1 fix left: run it again\n");
  });
});
