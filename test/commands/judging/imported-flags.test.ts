import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";
import { runIn } from "../state/support.ts";

type Place = Pick<TestService, "folder" | "env">;

const files = { "docs/a.md": "# A\n\nOne.\n", "notes/b.md": "# B\n\nTwo.\n" };

/** Another checkout of the project, with the records of this one. */
async function importElsewhere(
  { env, sandbox }: TestService,
  exported: string,
  more: Record<string, string> = {},
): Promise<Place> {
  const home = temporaryFolder();
  const folder = join(home, "elsewhere");
  writeFiles(folder, { ".git/HEAD": "", ...files, ...more });
  const { KNOWCTL_API_KEY: key = "" } = env;
  const variables = { KNOWCTL_BASE_URL: sandbox.url, KNOWCTL_API_KEY: key };
  const place = { folder, env: cleanEnvironment(home, variables) };
  const ran = await runIn(place, "state import - --yes", { stdin: exported });
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  return place;
}

async function statusOf(place: Place): Promise<string[]> {
  const { stdout, stderr } = await runIn(place, "status --json");
  expect(stdout, stderr).not.toBe("");
  const { documents } = JSON.parse(stdout) as { documents: { result: string; id: string }[] };
  return documents.map(({ result, id }) => `${result} ${id}`);
}

/** An export with an upload that somebody wrote. */
function withUpload(exported: string, change: (upload: Record<string, unknown>) => void): string {
  return exported.replace(/^\{"type":"upload".*$/m, (line) => {
    const upload = JSON.parse(line) as Record<string, unknown>;
    change(upload);
    return JSON.stringify(upload);
  });
}

async function startSent(): Promise<{ service: TestService; exported: string }> {
  const service = await startTestService({ files });
  const ran = await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/ --tag a");
  expect(ran, ran.stderr).toMatchObject({ code: 0 });
  const { stdout } = await runIn(service, "state export");
  return { service, exported: stdout };
}

describe("the flags of an upload in an imported state", () => {
  it("judge a new file as on the machine of the upload", async () => {
    const { service, exported } = await startSent();
    const added = { "docs/new.md": "# New\n", "notes/new.md": "# New\n" };
    writeFiles(service.folder, added);
    const here = await statusOf(service);
    expect(here).toEqual(["new kb/docs/new.md"]);
    expect(await statusOf(await importElsewhere(service, exported, added))).toEqual(here);
  });

  it("give way to a later upload from here, and to none that is older", async () => {
    const { service, exported } = await startSent();
    await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix own/ --allow-id-change");
    await runIn(service, "state import - --yes", { stdin: exported });
    writeFiles(service.folder, { "docs/new.md": "# New\n" });
    expect((await statusOf(service))[0]).toBe("new own/docs/new.md");
  });

  it("select no hidden and no ignored file", async () => {
    const { service, exported } = await startSent();
    const hidden = {
      ".secret/x.md": "# Secret\n",
      "ignored/y.md": "# Ignored\n",
      ".gitignore": "ignored\n",
    };
    for (const input of [".secret", "ignored", ".secret/x.md", ".secret/*.md"]) {
      const written = withUpload(exported, (upload) => (upload["inputs"] = ["docs", input]));
      expect(written).not.toBe(exported);
      expect(await statusOf(await importElsewhere(service, written, hidden))).toEqual([]);
    }
  });

  it.each<[unknown]>([
    [["../x"]],
    [["/etc"]],
    [["a//b"]],
    [["a/../../b"]],
    [["a\0b"]],
    [[7]],
    ["docs"],
    [null],
  ])("are refused with the inputs %j", async (inputs) => {
    const { service, exported } = await startSent();
    const written = withUpload(exported, (upload) => (upload["inputs"] = inputs));
    const ran = await runIn(service, "state import - --yes", { stdin: written });
    expect(ran).toMatchObject({ code: 2, stdout: "" });
    expect(ran.stderr).toContain("inputs: expected a list of paths below the project root");
  });

  it("cover nothing with a pattern that would take too long", async () => {
    const { service, exported } = await startSent();
    const written = withUpload(exported, (upload) => {
      upload["inputs"] = [`${"*a".repeat(40)}*`];
    });
    const place = await importElsewhere(service, written, { "docs/new.md": "# New\n" });
    expect((await runIn(place, "status")).code).toBe(0);
  });

  it("of a stopped upload stay where it was stopped", async () => {
    const { service, exported } = await startSent();
    expect(exported.match(/"type":"upload"/g)).toHaveLength(1);
    const database = await openDatabase(join(service.folder, ".knowctl/state.db"));
    database.exec("UPDATE uploads SET ended = 0");
    database.close();
    expect((await runIn(service, "state export")).stdout).not.toContain('"type":"upload"');
    const later = withUpload(exported, (upload) => (upload["startedAt"] = "2090-01-01T00:00:00Z"));
    await runIn(service, "state import - --yes", { stdin: later });
    expect((await runIn(service, "state export")).stdout).not.toContain('"type":"upload"');
  });
});
