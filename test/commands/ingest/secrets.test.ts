import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../src/sandbox/http/faults.ts";
import { type TestService, startTestService, testKey, writeFiles } from "../../service.ts";
import { type Ran, expectRun, runIn } from "../state/support.ts";
import { acceptedIds } from "./support.ts";

describe("secrets", () => {
  /** What a service says that shows the key which it was asked with. */
  const telling = (documentId: string, change: Partial<FaultRule["do"] & object>): FaultRule => ({
    when: { documentId },
    do: { status: 200, ...change } as FaultRule["do"],
  });

  it("no key that the service echoes reaches the state, or what is told of it", async () => {
    const bearer = `Bearer ${testKey}`;
    const encoded = Buffer.from(bearer).toString("base64");
    const rules = [
      telling("docs/a.md", { status: 422, body: { detail: `no: ${bearer}` } }),
      telling("docs/b.md", { status: 422, body: { detail: `no: ${encoded}` } }),
      telling("docs/c.md", { body: { document_id: `c ${testKey}`, already_existed: false } }),
    ];
    const files = {
      "docs/a.md": "A\n",
      "docs/b.md": "B\n",
      "docs/c.md": "C\n",
      "docs/d.md": "D\n",
    };
    const service = await startTestService({ files, faults: { rules } });
    const ran = await expectRun(service, "ingest docs --cc-pair-id 2", 10, "2 created, 2 failed");
    const folder = join(service.folder, ".knowctl");
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), "latin1"));
    const bare = { ...service.env };
    delete bare["KNOWCTL_API_KEY"];
    const without = { folder: service.folder, env: bare };
    const target = `--base-url ${service.env["KNOWCTL_BASE_URL"]} --cc-pair-id 2`;
    const listed = await runIn(without, `state list --status failed ${target} -o ndjson`);
    const exported = await runIn(without, "state export -");
    expect(listed.stdout).toContain("no: Bearer ***");
    for (const text of [...kept, listed.stdout, exported.stdout, ran.stderr, ran.stdout]) {
      expect(text).not.toContain(testKey);
      expect(text).not.toContain(encoded.slice(4, -4));
    }
  });

  it("options that hold the key are not recorded with the documents", async () => {
    const service = await startTestService({ files: { "docs/a.md": "# A\n" } });
    const line = `ingest docs --cc-pair-id 2 --allow-secrets --metadata team=${testKey}`;
    await expectRun(service, line, 0);
    const state = join(service.folder, ".knowctl");
    for (const name of readdirSync(state)) {
      expect(readFileSync(join(state, name)).includes(testKey), name).toBe(false);
    }
    expect((await runIn(service, "state export")).stdout).not.toContain(testKey);
  });

  it("an upload from a folder with the key in its name ends as any other", async () => {
    const service = await startTestService({ files: { [`docs/${testKey}/a.md`]: "# A\n" } });
    const upload = ["ingest", `docs/${testKey}`, "--cc-pair-id", "2", "--allow-secrets"];
    await expectRun(service, upload, 0);
    expect(acceptedIds(service)).toEqual([`docs/${testKey}/a.md`]);
    expect((await runIn(service, "state export")).stdout).not.toContain("a.md");
    // Else it would count as stopped for ever.
    await expectRun(service, "retry --cc-pair-id 2", 0, "nothing to retry");
  });
});

describe("secret documents", () => {
  const pem = `-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA0Z3VS5JJcds3xfn\n-----END RSA PRIVATE KEY-----\n`;
  const ownKey = `it contains a key of a profile ("CA…", 19 characters) (secret-own-key)`;
  const privateKey =
    "it contains a private key (-----BEGIN RSA PRIVATE KEY-----) (secret-private-key)";

  const good = { "docs/good.md": "# Good\n" };
  const line = "ingest docs --cc-pair-id 2";

  interface Told {
    status?: string;
    action?: string;
    path: string;
    row?: number;
    reason?: string;
    detail?: string;
  }

  function reasonsIn({ stdout }: Ran): Record<string, string> {
    const all = stdout.split("\n").filter(Boolean);
    const failed = all
      .map((text) => JSON.parse(text) as Told)
      .filter(({ status, action }) => (status ?? action) === "failed");
    return Object.fromEntries(
      failed.map(({ path, row, reason, detail }) => [
        row === undefined ? path : `${path}#${row}`,
        reason ?? detail ?? "",
      ]),
    );
  }

  function expectHidden(service: TestService, ...runs: Ran[]): void {
    for (const { stdout, stderr } of runs) expect(stdout + stderr).not.toContain(testKey);
    const folder = join(service.folder, ".knowctl");
    for (const name of readdirSync(folder)) {
      expect(readFileSync(join(folder, name)).includes(testKey)).toBe(false);
    }
  }

  describe("a document that holds a key of the profile", () => {
    it("fails wherever it holds it, with its place, and the rest is sent", async () => {
      const holders: [name: string, text: string, at: string][] = [
        ["text", `# A\n\nUse ${testKey}.\n`, "3:5"],
        ["title", `# A ${testKey}\n\nText.\n`, "1:5"],
        ["metadata", `---\ntoken: ${testKey}\n---\n# A\n`, "2:8"],
        ["tag", `---\ntags: [a, "${testKey}"]\n---\n# A\n`, "2:12"],
        ["link", `---\nlink: "https://x.example/?key=${testKey}"\n---\n# A\n`, "2:31"],
        ["owner", `---\nowner: ${testKey}\n---\n# A\n`, "2:8"],
        ["id", `---\nid: x-${testKey}\n---\n# A\n`, "2:7"],
        ["section", `# A\n\n## B\n\nText.\n\n## C\n\n${testKey}\n`, "9:1"],
      ];
      const files = Object.fromEntries(holders.map(([name, text]) => [`docs/${name}.md`, text]));
      const service = await startTestService({ files: { ...good, ...files } });
      const flags = "--sections headings -o ndjson --report run.json";
      const ran = await expectRun(service, `${line} ${flags}`, 10);
      const why = `${ownKey}; remove it, or send it with --allow-secrets`;
      expect(reasonsIn(ran)).toEqual(
        Object.fromEntries(
          holders.map(([name, , at]) => [`docs/${name}.md`, `docs/${name}.md:${at}: ${why}`]),
        ),
      );
      expect(acceptedIds(service)).toEqual(["docs/good.md"]);
      const report = readFileSync(join(service.folder, "run.json"), "utf8");
      expect(report).toContain("it contains a key of a profile");
      expect(report).not.toContain(testKey);
      expectHidden(service, ran, await runIn(service, "state list"));
    });

    it("fails for the key of another profile, also from an included configuration", async () => {
      const other = "another-profile-0123456789";
      const profiles = { test: { baseUrl: "https://test.example.com", apiKey: other } };
      const files = {
        ...good,
        "package.json": JSON.stringify({ name: "docs", cliconfig: { profiles } }),
        "docs/a.md": "# A\n\n{!package.json!}\n",
        "docs/b.md": `# B\n\n${other}\n`,
      };
      const service = await startTestService({ files });
      const printed = await expectRun(
        service,
        "convert docs",
        10,
        "docs/a.md: it contains a key of a profile",
        "docs/b.md:3:1: it contains a key of a profile",
      );
      expect(printed.stdout.trim().split("\n")).toHaveLength(1);
      expect(printed.stdout + printed.stderr).not.toContain(other);
    });

    it("fails among many new files, which are read while others are sent", async () => {
      const many = Array.from({ length: 60 }, (_, index) => [`docs/${index}.md`, `# ${index}\n`]);
      const files = { ...Object.fromEntries(many), "docs/30.md": `# A\n\n${testKey}\n` };
      const service = await startTestService({ files });
      const ran = await runIn(service, `${line} -o ndjson`);
      expect(Object.keys(reasonsIn(ran))).toEqual(["docs/30.md"]);
      expect(acceptedIds(service)).toHaveLength(59);
      expectHidden(service, ran);
    });

    it("fails as a row and as a line of stdin", async () => {
      const document = (text: string): string =>
        JSON.stringify({ id: text, semantic_identifier: "x", sections: [{ text }], metadata: {} });
      const lines = `${document("good")}\n${document(`a "${testKey}"`)}\n`;
      const csv = `id,text\none,good\ntwo,${testKey}\n`;
      const twice = ownKey.replace(" (secret", ", 2 times (secret");
      const service = await startTestService({ files: { "rows.csv": csv, "rows.ndjson": lines } });
      const rows = await expectRun(
        service,
        "ingest rows.csv rows.ndjson --cc-pair-id 2 -o ndjson",
        10,
      );
      expect(reasonsIn(rows)).toEqual({
        "rows.csv#2": expect.stringContaining(`rows.csv:3:1: ${ownKey}`),
        // The id has it as well.
        "rows.ndjson#2": expect.stringContaining(`rows.ndjson:2:1: ${twice}`),
      });
      const given = await runIn(service, "ingest - --cc-pair-id 2 -o ndjson", { stdin: lines });
      expect(given.code).toBe(10);
      expect(Object.values(reasonsIn(given))).toEqual([
        expect.stringContaining(`stdin:2:1: ${twice}`),
      ]);
      const text = "ingest - --format markdown --id one --cc-pair-id 2 -o ndjson";
      const one = await runIn(service, text, { stdin: `# A\n\n${testKey}\n` });
      expect(Object.values(reasonsIn(one))).toEqual([
        expect.stringContaining(`stdin:3:1: ${ownKey}`),
      ]);
      expect(acceptedIds(service).join()).not.toContain(testKey);
      expectHidden(service, rows, given, one);
    });

    it("fails where nothing is sent as well", async () => {
      const files = { ...good, "docs/a.md": `# A\n\n${testKey}\n`, "docs/b.md": `# B\n\n${pem}` };
      const service = await startTestService({ files });
      const plan = await expectRun(service, `${line} --dry-run -o ndjson`, 10);
      expect(reasonsIn(plan)).toEqual({
        "docs/a.md": expect.stringContaining(`docs/a.md:3:1: ${ownKey}`),
        "docs/b.md": expect.stringContaining(`docs/b.md:3:1: ${privateKey}`),
      });
      const printed = await expectRun(service, "convert docs", 10);
      expect(printed.stdout.trim().split("\n")).toHaveLength(1);
      const explained = await expectRun(service, "explain docs/a.md -o json", 0);
      expect(JSON.parse(explained.stdout)).toMatchObject({
        isIncluded: false,
        reason: expect.stringContaining(`docs/a.md:3:1: ${ownKey}`),
        fields: [],
      });
      for (const { stdout, stderr } of [plan, printed, explained]) {
        expect(stdout + stderr).not.toContain(testKey);
      }
    });

    it("is sent with --allow-secrets, and by retry once the key is out", async () => {
      const files = { ...good, "docs/a.md": `# A\n\n${testKey}\n`, "docs/b.md": `# B\n\n${pem}` };
      const service = await startTestService({ files });
      await expectRun(service, line, 10);
      const again = await runIn(service, "retry --cc-pair-id 2 -o ndjson");
      expect(Object.keys(reasonsIn(again))).toEqual(["docs/a.md", "docs/b.md"]);
      writeFiles(service.folder, { "docs/a.md": "# A\n\nNothing here.\n" });
      await expectRun(service, "retry --cc-pair-id 2 --allow-secrets", 0, "2 created");
      expect(acceptedIds(service)).toEqual(["docs/a.md", "docs/b.md", "docs/good.md"]);
      // What is recorded is not looked at again for that.
      await expectRun(service, line, 0, "3 unchanged");
      const printed = await runIn(service, "convert docs/b.md --allow-secrets");
      expect(printed.stdout).toContain("MIIEpAIBAAKCAQEA");
    });

    it("is no orphan, and hinders no removal", async () => {
      const files = { ...good, "docs/a.md": "# A\n", "docs/b.md": "# B\n" };
      const service = await startTestService({ files, dialect: "onyx" });
      await runIn(service, line);
      writeFiles(service.folder, { "docs/a.md": `# A\n\n${testKey}\n` });
      const orphans = await runIn(service, "prune docs --cc-pair-id 2");
      expect(orphans).toMatchObject({ code: 0, stderr: "nothing to remove\n" });
    });

    it("is sent where the key is shorter than 16 characters", async () => {
      const key = "fifteen-letters";
      const files = { "docs/a.md": `# A\n\n${key} and sandbox\n` };
      const service = await startTestService({ files, key });
      await expectRun(service, line, 0);
    });

    it("is told that nothing can be told where a key is not read", async () => {
      const service = await startTestService({ files: good });
      const config = { profiles: { own: { apiKey: { env: "OTHER_KEY" } } } };
      writeFiles(service.folder, { ".cliconfig.json": JSON.stringify(config) });
      const { KNOWCTL_API_KEY: _key, ...env } = service.env;
      const other = { folder: service.folder, env: { ...env, OTHER_KEY: testKey } };
      await expectRun(
        other,
        `${line} --dry-run`,
        0,
        "cannot check documents for the apiKey of the profile",
      );
    });
  });

  describe("ingest.allowSecrets", () => {
    const files = { "docs/a.md": `# A\n\n${pem}`, "docs/examples/b.md": `# B\n\n${pem}` };
    const config = JSON.stringify({ ingest: { allowSecrets: ["docs/examples/**"] } });

    it("lets the files that it names through, in a trusted file", async () => {
      const service = await startTestService({ files });
      writeFileSync(join(service.folder, "own.json"), config);
      const ran = await runIn(service, `${line} --config own.json -o ndjson`);
      expect(Object.keys(reasonsIn(ran))).toEqual(["docs/a.md"]);
      expect(acceptedIds(service)).toEqual(["docs/examples/b.md"]);
    });

    it("counts in no file that came with the checkout until it is trusted: exit 3", async () => {
      const service = await startTestService({ files });
      const path = join(service.folder, ".cliconfig.json");
      writeFileSync(path, config);
      await expectRun(service, line, 3, "is not trusted", "ingest.allowSecrets");
      expect(acceptedIds(service)).toEqual([]);
      await expectRun(service, "config trust", 0);
      await expectRun(service, line, 10);
      expect(acceptedIds(service)).toEqual(["docs/examples/b.md"]);
      // Another exception is another thing to trust.
      writeFileSync(path, config.replace("docs/examples/**", "**"));
      await expectRun(service, line, 3);
      expect(acceptedIds(service)).toEqual(["docs/examples/b.md"]);
    });
  });
});
