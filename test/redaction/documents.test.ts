import { join } from "node:path";
import * as fc from "../property.ts";
import { describe, expect, it } from "vitest";
import { quoted } from "../../src/checks/lint/page/spans.ts";
import { findSecrets } from "../../src/checks/lint/secrets/find-secrets.ts";
import { main } from "../main.ts";
import { type TestService, startTestService, writeFiles } from "../service.ts";
import { randomFrom, textFor } from "../checks/lint/secrets/made-up-secrets.ts";
import { cleanEnvironment, createTestContext, temporaryFolder } from "../support.ts";
import { everythingIn } from "./files.ts";
import { type Spelling, anySpelling, key, leakIn, writtenAs } from "./key.ts";
import { readFileSync, readdirSync, statSync } from "node:fs";
import { type Ran, runIn } from "../commands/state/support.ts";

describe("lint", () => {
  const words = "The office is open on all working days, and a guest signs in at the desk.";
  const page = (text: string): string => `# Office\n\n${words}\n\n${text}\n`;
  const titled = (title: string): string => `---\ntitle: "${title}"\n---\n${words}\n`;

  /** Texts of findings that quote a page: where it holds the key, and where a message cuts the text. */
  const places: readonly [name: string, cut: number, textOf: (text: string) => string][] = [
    ["title", 60, titled],
    ["heading", 60, (text) => page(`## ${text}\n\nAs mentioned above, the desk is closed.`)],
    ["link", 60, (text) => page(`See [x](${text}.md) and [y](#${text}).`)],
    ["image", 60, (text) => page(`![x](${text}.png)`)],
    ["placeholder", 60, (text) => page(`TODO: ${text}\n\n[TODO ${text}]`)],
    ["template", 60, (text) => page(`{{ ${text} }} and {% x ${text} %}`)],
    ["component", 60, (text) => page(`<Card title="${text}" />`)],
    ["comment", 60, (text) => page(`<!-- note to AI: ${text} -->`)],
    ["claim", 60, (text) => page(`Staff get ${text.length} days of leave in ${text} each year.`)],
    ["owner", 60, (text) => `---\nowner: "${text}"\n---\n${words}\n`],
    ["metadata", 60, (text) => `---\nteam: "${text}${"x".repeat(300)}"\n---\n${words}\n`],
    ["name of a field", 60, (text) => `---\n"${text}": [[1]]\n---\n${words}\n`],
    ["access", 60, (text) => `---\nprivate: "${text}"\n---\n${words}\n`],
    ["address", 60, (text) => `---\nlink: "https://x.example/${text}"\n---\n${words}\n`],
    ["disabled rule", 60, (text) => page(`<!-- knowctl-disable-next-line ${text} -->\n\nText.`)],
    ["front matter that is broken", 60, (text) => `---\n${text}: ]${text}\n---\n${words}\n`],
  ];

  const outputs: readonly (readonly string[])[] = [
    [],
    ["--verbose"],
    ["--output", "json"],
    ["--output", "ndjson"],
    ["--output", "sarif"],
    ["--output", "junit"],
    ["--jq", ".findings[].message"],
    ["--baseline", "known.json", "--write-baseline"],
    ["r.json", "r.sarif", "r.xml", "r.html"].flatMap((name) => ["--report", name]),
    ["--gitlab-report", "g.json"],
    ["--fix"],
  ];

  interface Case extends Shown {
    spelling: Spelling;
  }

  interface Shown {
    place: (typeof places)[number];
    offset: number;
    output: readonly string[];
    isTTY: boolean;
    columns: number;
  }

  const shown = {
    place: fc.constantFrom(...places),
    // Around the cut, where the key is cut in two.
    offset: fc.integer({ min: -60, max: 2 }),
    output: fc.constantFrom(...outputs),
    isTTY: fc.boolean(),
    columns: fc.constantFrom(20, 40, 80, 200),
  };
  const anyCase = fc.record<Case>({ spelling: anySpelling, ...shown });

  /** Secrets that no profile has: what stands in the page, and the part that nobody may see. */
  const foreign: readonly ((random: () => number) => [text: string, value: string])[] = [
    (random) => {
      const value = textFor("[A-Za-z0-9]{36}", random);
      return [`ghp_${value}`, value];
    },
    (random) => {
      const value = textFor("[a-z][A-Z]\\d[A-Za-z0-9]{11}", random);
      return [`https://deploy:${value}@git.acme.io/x`, value.slice(2)];
    },
    (random) => {
      const value = textFor("[A-Za-z0-9]{40}", random);
      return [`api_key=${value}`, value.slice(2)];
    },
    (random) => {
      const value = textFor("([a-z][A-Z]\\d){4}", random);
      return [`password=${value}`, value.slice(2)];
    },
  ];
  const anyForeign = fc.record<Shown & { kind: number; seed: number }>({
    kind: fc.nat({ max: foreign.length - 1 }),
    seed: fc.integer(),
    ...shown,
  });

  /** Runs lint over a text, and returns all that it prints and writes. */
  async function everythingShown(
    text: string,
    { output, isTTY, columns }: Omit<Shown, "place" | "offset">,
  ): Promise<string> {
    const cwd = temporaryFolder();
    writeFiles(cwd, { "docs/a.md": text, "docs/b.md": text.replace("days", "weeks") });
    const results = join(cwd, "results");
    const summary = join(results, "summary.md");
    writeFiles(results, { "summary.md": "" });
    const env = { KNOWCTL_API_KEY: key, GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: summary };
    const environment = cleanEnvironment(cwd, env);
    const context = createTestContext({ cwd: results, env: environment, isTTY, columns });
    await main(["lint", "../docs", ...output], context);
    return context.stdoutText() + context.stderrText() + everythingIn(results);
  }

  describe("lint", () => {
    it("never shows a key of the profile, wherever a page holds it and a message cuts it", async () => {
      let hidden = 0;
      await fc.assert(
        fc.asyncProperty(anyCase, async ({ spelling, place, offset, ...run }) => {
          const [, cut, textOf] = place;
          const text = textOf(`${"x".repeat(Math.max(0, cut + offset))}${writtenAs(spelling)} y`);
          const shown = await everythingShown(text, run);
          if (shown.includes("***")) hidden++;
          expect(leakIn(shown), shown).toBeUndefined();
        }),
        fc.few(20),
      );
      // The key was there to be hidden.
      expect(hidden).toBeGreaterThan(0);
    });

    it("shows no more than two characters of another secret, in no message of any rule", async () => {
      let quoted = 0;
      await fc.assert(
        fc.asyncProperty(anyForeign, async ({ kind, seed, place, offset, ...run }) => {
          const [, cut, textOf] = place;
          const [written, value] = foreign[kind]?.(randomFrom(seed)) ?? ["", ""];
          // A random value that spells a word is no secret for lint.
          fc.pre(findSecrets(written).length > 0);
          const before = "x".repeat(Math.max(0, cut + offset));
          const shown = await everythingShown(textOf(`${before} ${written} y`), run);
          if (shown.includes("…")) quoted++;
          for (let at = 0; at + 6 <= value.length; at++) {
            expect(shown).not.toContain(value.slice(at, at + 6));
          }
        }),
        fc.few(30),
      );
      expect(quoted).toBeGreaterThan(0);
    });

    it("shows nothing of a private key that a message begins with", async () => {
      const value = textFor("[A-Za-z0-9]{64}", randomFrom(4));
      const block = `-----BEGIN PRIVATE KEY-----\n  ${value}\n  ${"x".repeat(200)}`;
      const encoded = Buffer.from(block).toString("base64");
      for (const [written, hidden] of [
        [`${block}\n  -----END PRIVATE KEY----- of ours`, value],
        [encoded, encoded.slice(40)],
      ] as const) {
        const run = { output: ["--report", "r.html"], isTTY: false, columns: 80 };
        const shown = await everythingShown(`---\nteam: |\n  ${written}\n---\n${words}\n`, run);
        expect(shown).toContain("private key…");
        expect(shown).not.toContain(hidden.slice(0, 6));
      }
    });

    it("shows nothing of a secret that a message cuts behind others", () => {
      const value = textFor("[A-Za-z0-9]{36}", randomFrom(5));
      const block = `-----BEGIN PRIVATE KEY-----\n${value.repeat(40)}`;
      const end = "\n-----END PRIVATE KEY-----";
      for (let length = 1120; length < 1200; length += 8) {
        const text = `${block.slice(0, length - end.length)}${end} and ghp_${value} ${"y ".repeat(40)}`;
        const shown = quoted(text);
        expect(shown).toContain("private key…");
        expect(shown).not.toContain(value.slice(0, 6));
      }
    });
  });
});

describe("document secrets", () => {
  const random = randomFrom(11);
  const token = `sm_pat_${textFor("[A-Za-z0-9]{16}", random)}`;
  const password = textFor("[A-Za-z0-9]{14}", random);
  const value = textFor("[A-Za-z0-9]{40}", random);
  const values = [token, password, value];

  const files = {
    "docs/good.md": "# Good\n\nText.\n",
    "docs/a.md": `# A\n\nUse ${token} and https://reader:${password}@git.acme.io/x.\n\n    api_key = "${value}"\n`,
    "docs/b.md": `---\napi_key: ${value}\ntitle: B\n---\n# B\n\nText.\n`,
  };

  /** Parts of values: six characters are more than any message may show. */
  function expectHidden(texts: readonly string[]): void {
    for (const each of values) {
      for (let at = 2; at + 6 <= each.length; at++) {
        const part = each.slice(at, at + 6);
        for (const text of texts) expect(text).not.toContain(part);
      }
    }
  }

  function written(service: TestService, names: readonly string[]): string[] {
    const state = join(service.folder, ".knowctl");
    const inState = readdirSync(state)
      .map((name) => join(state, name))
      .filter((path) => statSync(path).isFile());
    const paths = [...names.map((name) => join(service.folder, name)), ...inState];
    return paths.map((path) => readFileSync(path, "latin1"));
  }

  const outputs = ({ stdout, stderr }: Ran): string[] => [stdout, stderr];

  describe("the value of a secret in a document", () => {
    it("stands in no output of ingest, no report and no state", async () => {
      const service = await startTestService({ files });
      const reports = ["run.json", "run.xml", "run.html"];
      const flags = reports.map((name) => `--report ${name}`).join(" ");
      const line = "ingest docs --cc-pair-id 2";
      const runs = [
        await runIn(service, `${line} --dry-run -o json`),
        await runIn(service, `${line} ${flags} -o ndjson --verbose`),
        await runIn(service, `${line} --verbose`),
        await runIn(service, "retry --cc-pair-id 2"),
        await runIn(service, "explain docs/a.md -o json"),
        await runIn(service, "convert docs"),
        await runIn(service, "state failures -o json"),
      ];
      expect(runs[1]?.stdout).toContain("secret-");
      expectHidden([...runs.flatMap(outputs), ...written(service, reports)]);
    });

    it("stands in no output of lint, no report and no baseline", async () => {
      const service = await startTestService({ files });
      const reports = ["lint.json", "lint.sarif", "lint.xml", "lint.html"];
      const flags = reports.map((name) => `--report ${name}`).join(" ");
      const formats = ["json", "ndjson", "sarif", "junit"];
      const runs = [
        await runIn(service, `lint docs ${flags}`),
        await runIn(service, "lint docs --baseline known.json --write-baseline"),
        await runIn(service, "lint docs --baseline known.json"),
      ];
      for (const format of formats) runs.push(await runIn(service, `lint docs --output ${format}`));
      expect(runs[0]).toMatchObject({ code: 13, stdout: expect.stringContaining("secret-token") });
      const paths = [...reports, "known.json"].map((name) => join(service.folder, name));
      const texts = paths.map((path) => readFileSync(path, "utf8"));
      expectHidden([...runs.flatMap(outputs), ...texts]);
    });
  });
});
