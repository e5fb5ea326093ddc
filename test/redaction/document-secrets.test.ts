import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { randomFrom, textFor } from "../checks/lint/secrets/made-up-secrets.ts";
import { runIn, type Ran } from "../commands/state/support.ts";
import { startTestService, type TestService } from "../service.ts";

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
