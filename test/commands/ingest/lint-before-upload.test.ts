import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { runIn } from "../state/support.ts";
import { acceptedIds } from "./support.ts";

const comment = "<!-- knowctl-disable-next-line no-such-rule -->\nText.\n";
const files = { "docs/bad.md": `# Bad\n\n${comment}`, "docs/good.md": "# Good\n\nText.\n" };
const line = "ingest docs --cc-pair-id 2";
const refused =
  'docs/bad.md:3:32: unknown rule "no-such-rule" (disable-comment); change the document, or send it with --no-lint';

/** A service and a trusted configuration in which the rule is an error. */
async function start(
  lint: object = { rules: { "disable-comment": "error" } },
): Promise<TestService> {
  const service = await startTestService({ files });
  service.env["KNOWCTL_TRUST_PROJECT"] = "1";
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ lint }) });
  return service;
}

describe("an upload", () => {
  it("sends documents with warnings", async () => {
    const service = await start({});
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["docs/bad.md", "docs/good.md"]);
  });

  it("fails a document with a finding of level error, and sends the rest", async () => {
    const service = await start();
    const ran = await runIn(service, line);
    expect(ran.code).toBe(10);
    expect(ran.stderr).toContain(refused);
    expect(acceptedIds(service)).toEqual(["docs/good.md"]);
    const retry = await runIn(service, "retry");
    expect([retry.code, retry.stderr]).toEqual([10, expect.stringContaining(refused)]);
    expect(await runIn(service, "retry --no-lint")).toMatchObject({ code: 0 });
    expect(acceptedIds(service)).toEqual(["docs/bad.md", "docs/good.md"]);
  });

  it("sends it with --no-lint", async () => {
    const service = await start();
    expect(await runIn(service, `${line} --no-lint`)).toMatchObject({ code: 0 });
  });

  it("sends it where the configuration has another severity for its path", async () => {
    const rules = { "disable-comment": "error" };
    const overrides = [{ paths: ["docs/bad.md"], rules: { "disable-comment": "note" } }];
    const service = await start({ rules, overrides });
    expect(await runIn(service, line)).toMatchObject({ code: 0 });
  });

  it("shows the finding in the plan, in explain and in the documents", async () => {
    const service = await start();
    const plan = await runIn(service, `${line} --dry-run -o ndjson`);
    expect(plan.stdout).toContain(JSON.stringify(refused));
    const explained = await runIn(service, "explain docs/bad.md --json");
    expect(JSON.parse(explained.stdout)).toMatchObject({ isIncluded: false, reason: refused });
    const documents = await runIn(service, "convert docs");
    expect([documents.code, documents.stderr]).toEqual([10, expect.stringContaining(refused)]);
    expect(documents.stdout).not.toContain("docs/bad.md");
  });

  it("checks the one document of stdin", async () => {
    const service = await start();
    const ran = await runIn(service, "ingest - --cc-pair-id 2 --format markdown --id x", {
      stdin: files["docs/bad.md"],
    });
    expect([ran.code, ran.stderr]).toEqual([
      10,
      expect.stringContaining('stdin:3:32: unknown rule "no-such-rule" (disable-comment)'),
    ]);
  });

  it("stops for an unknown rule, and for severities in a file without trust", async () => {
    const service = await start({ rules: { "disable-coment": "error" } });
    expect(await runIn(service, line)).toMatchObject({
      code: 3,
      stderr: expect.stringContaining('did you mean "disable-comment"'),
    });
    writeFiles(service.folder, {
      ".cliconfig.json": JSON.stringify({ lint: { rules: { "disable-comment": "off" } } }),
    });
    const untrusted = await runIn(
      { ...service, env: { ...service.env, KNOWCTL_TRUST_PROJECT: "" } },
      line,
    );
    expect([untrusted.code, untrusted.stderr]).toEqual([
      3,
      expect.stringContaining("lint.rules: disable-comment"),
    ]);
  });
});
