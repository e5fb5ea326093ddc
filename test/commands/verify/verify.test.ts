import { readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../src/database.ts";
import { VerifyOutput } from "../../../src/output/report/stored/checks.ts";
import { defaultPairs } from "../../../src/sandbox/store/seeds.ts";
import { runHere } from "../../main.ts";
import { startTestService, testKey, writeFiles, type TestServiceOptions } from "../../service.ts";

const files = Object.fromEntries(
  Array.from({ length: 7 }, (_, index) => [
    `docs/${index}.md`,
    `# Page ${index}\n\nThe rule number ${index * 7} of the handbook says that code W${index}X${index * 13} applies.\n`,
  ]),
);

async function uploaded(options: TestServiceOptions = {}) {
  const service = await startTestService({ dialect: "onyx", files, ...options });
  const { folder: cwd, env, sandbox } = service;
  const run = (...args: string[]) => runHere(args, { cwd, env });
  const upload = await run("ingest", "docs", "--cc-pair-id", "2", "--quiet");
  expect(upload.code).toBe(0);
  await sandbox.idle();
  const trusted = { ...env, KNOWCTL_TRUST_PROJECT: "1" };
  const runTrusted = (...args: string[]) => runHere(args, { cwd, env: trusted });
  return { ...service, run, runTrusted };
}

/** As uploaded(), with a project file that says how and where the files were sent. */
async function configured(options: TestServiceOptions = {}) {
  const service = await uploaded(options);
  const ingest = { ccPairId: 2, include: ["docs"] };
  writeFiles(service.folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
  return service;
}

interface Report {
  summary: Record<string, number>;
  documents: {
    id: string;
    path: string;
    result: string;
    reason: string;
    evidence: { request: string; status: number; proves: string }[];
    sentAt: string;
  }[];
}

/** What happens to single documents. */
const damaged = (index: Record<string, object>): TestServiceOptions => ({
  faults: {
    rules: Object.entries(index).map(([documentId, fault]) => ({
      when: { documentId },
      do: { index: fault },
    })),
  },
});

describe("verify", () => {
  it("finds every document current after an upload", async () => {
    const { run } = await uploaded();
    const { code, stderr, stdout } = await run("verify");
    expect(stderr).toContain("7 current");
    expect(stderr).toMatch(/checking 7 documents at .*: at least 14 requests/);
    expect(stdout).toBe("");
    expect(code).toBe(0);
  });

  it("says right after an upload that the service may still index it, and later does not", async () => {
    const { run, folder } = await uploaded(damaged({ "docs/1.md": { keeps: "nothing" } }));
    const soon = await run("verify");
    expect(soon.stderr).toContain("a service indexes later: `knowctl verify --wait 10m` waits");
    expect(soon.code).toBe(13);
    const state = await openDatabase(join(folder, ".knowctl", "state.db"));
    state.exec("UPDATE accepted SET sent_at = sent_at - 3600000");
    state.close();
    const later = await run("verify");
    expect(later.stderr).not.toContain("--wait");
    expect(later.stderr).toContain("`knowctl retry --missing` sends");
    expect(later.code).toBe(13);
  });

  it("tells the damages apart", async () => {
    const { run } = await uploaded(
      damaged({
        "docs/1.md": { keeps: "nothing" },
        "docs/2.md": { keeps: "row" },
        "docs/3.md": { hidden: true },
        "docs/4.md": { private: true },
        "docs/5.md": { unlisted: true },
        "docs/6.md": { delayMs: 1e9 },
      }),
    );
    const { code, stdout } = await run("verify", "--json");
    const { summary, documents } = JSON.parse(stdout) as Report;
    const results = Object.fromEntries(documents.map(({ id, result }) => [id, result]));
    expect(results).toMatchObject({
      "docs/1.md": "missing",
      "docs/2.md": "listed-only",
      "docs/3.md": "hidden",
      "docs/4.md": "hidden",
      "docs/5.md": "current",
      "docs/6.md": "listed-only",
    });
    expect(summary).toMatchObject({
      current: 2,
      missing: 1,
      "listed-only": 2,
      hidden: 2,
      documents: 7,
    });
    expect(code).toBe(13);
  });

  it("finds an old version", async () => {
    const { run, folder, sandbox } = await uploaded({
      faults: {
        rules: [{ when: { documentId: "docs/3.md", nth: 2 }, do: { index: { keeps: "old" } } }],
      },
    });
    for (const name of [3, 4]) {
      writeFileSync(
        join(folder, `docs/${name}.md`),
        files[`docs/${name}.md`]!.replace("rule", "norm"),
      );
    }
    await run("ingest", "docs", "--cc-pair-id", "2", "--quiet");
    await sandbox.idle();
    const { code, stdout } = await run("verify");
    expect(stdout).toMatch(
      /^stale +docs\/3\.md: the index holds another text: it lacks "norm number/,
    );
    expect(stdout.trim().split("\n")).toHaveLength(1);
    expect(code).toBe(13);
    const exists = await run("verify", "--depth", "exists");
    expect(exists.stderr).toContain("7 present");
    expect(exists.code).toBe(0);
  });

  it("does not guess about a file that changed since its upload", async () => {
    const { run, folder } = await uploaded();
    writeFileSync(join(folder, "docs/3.md"), "# Page 3\n\nOther.\n");
    rmSync(join(folder, "docs/4.md"));
    const { code, stdout } = await run("verify");
    expect(stdout).toMatch(/^unknown +docs\/3\.md: changed since upload$/m);
    const gone = "the file is gone: see `knowctl status`";
    expect(stdout).toMatch(new RegExp(`^unknown +docs/4\\.md: ${gone}$`, "m"));
    expect(code).toBe(10);
    // What stands behind the link is not known.
    symlinkSync("4.md", join(folder, "docs/4.md"));
    expect((await run("verify")).stdout).toMatch(/^unknown +docs\/4\.md: (?!the file is gone)/m);
  });

  it("reads the files below the root that --root names, with recorded options", async () => {
    const { run, folder, sandbox } = await uploaded();
    const place = ["--root", "docs", "--state", join(folder, "records")];
    await run("ingest", "docs/1.md", "--cc-pair-id", "2", "--sections", "headings", ...place);
    await sandbox.idle();
    expect(await run("verify", ...place)).toMatchObject({
      code: 0,
      stderr: expect.stringContaining("1 current"),
    });
  });

  it("takes the files as the expectation where nothing is recorded", async () => {
    const { folder, runTrusted } = await configured(damaged({ "docs/1.md": { keeps: "nothing" } }));
    rmSync(join(folder, ".knowctl"), { recursive: true });
    const { code, stdout, stderr } = await runTrusted("verify", "docs");
    expect(stderr).toContain("no upload is recorded here");
    expect(stdout).toMatch(/^missing +docs\/1\.md/);
    expect(stderr).toContain("6 current, 1 missing");
    expect(stderr).not.toContain("retry --missing");
    expect(stderr).toContain("`knowctl ingest PATH` sends them");
    expect(code).toBe(13);
    expect((await runTrusted("verify")).code).toBe(13);
    writeFiles(folder, { "empty/.keep": "" });
    expect((await runTrusted("verify", "empty")).code).toBe(2);
  });

  it("takes no files as they are without a record and without how and where they were sent", async () => {
    const { folder, runTrusted, sandbox } = await uploaded();
    rmSync(join(folder, ".knowctl"), { recursive: true });
    const before = sandbox.ledger.requests.length;
    for (const [ingest, args, why] of [
      [undefined, "docs --cc-pair-id 2", "no configuration says how"],
      [undefined, "", "no configuration says how"],
      // Of speed alone.
      [{ concurrency: 2 }, "docs --cc-pair-id 2", "no configuration says how"],
      [{ sections: "headings" }, "docs", "nothing names the target"],
    ] as const) {
      if (ingest) writeFiles(folder, { ".cliconfig.json": JSON.stringify({ ingest }) });
      const ran = await runTrusted("verify", ...args.split(" ").filter(Boolean));
      expect(ran).toMatchObject({ code: 2, stdout: "" });
      expect(ran.stderr).toContain(`nothing to check: no upload is recorded here, and ${why}`);
      expect(ran.stderr).toContain("`knowctl ingest PATH --cc-pair-id N --print-config`");
    }
    expect(sandbox.ledger.requests.length).toBe(before);
  });

  it("checks the files of another checkout by the project file that --print-config prints", async () => {
    const { folder, run, runTrusted, sandbox } = await uploaded();
    const upload = ["ingest", "docs", "--cc-pair-id", "2", "--id-prefix", "kb/", "--tag", "a"];
    expect(await run(...upload, "--allow-id-change")).toMatchObject({ code: 0 });
    await sandbox.idle();
    const { stdout } = await run(...upload, "--print-config");
    rmSync(join(folder, ".knowctl"), { recursive: true });
    expect((await run("verify", "docs", "--cc-pair-id", "2")).code).toBe(2);
    writeFiles(folder, { ".cliconfig.json": stdout });
    const { code, stderr } = await runTrusted("verify");
    expect(stderr).toContain("7 current");
    expect(code).toBe(0);
  });

  it("names the service of the recorded uploads, where it is another one", async () => {
    const { run, folder, env, sandbox } = await uploaded();
    const other = await startTestService({ dialect: "onyx" });
    const trust = { KNOWCTL_TRUST_PROJECT: "1" };
    const elsewhere = {
      cwd: folder,
      env: { ...env, ...trust, KNOWCTL_BASE_URL: other.sandbox.url },
    };
    const nothing = await runHere(["verify"], elsewhere);
    const what = `no upload to ${other.sandbox.url} is recorded, only to ${sandbox.url}`;
    expect(nothing.stderr).toContain(`nothing to check: ${what}, and no configuration`);
    expect(nothing.code).toBe(2);
    expect(nothing.stderr).toContain(`knowctl verify --base-url ${sandbox.url}`);
    expect(await run("verify", "--base-url", sandbox.url)).toMatchObject({ code: 0 });
    writeFiles(folder, { ".cliconfig.json": '{"ingest":{"ccPairId":2}}' });
    const unnamed = await runHere(["verify"], elsewhere);
    expect(unnamed.stderr).toContain(`nothing to check: ${what}; no path is named`);
    const compared = await runHere(["verify", "docs"], elsewhere);
    expect(compared.stderr).toContain(`${what}: the files are compared with the index`);
    expect(compared.code).toBe(13);
  });

  it("reports a file that cannot be read, and so is not checked", async () => {
    const { runTrusted, folder } = await configured();
    rmSync(join(folder, ".knowctl"), { recursive: true });
    writeFiles(folder, { "docs/broken.md": "---\na: [\n---\n" });
    const line = ["verify", "docs", "--report", "v.xml"];
    expect(await runTrusted(...line)).toMatchObject({ code: 10 });
    expect(readFileSync(join(folder, "v.xml"), "utf8")).toContain('<error message="docs/broken.md');
  });

  it("explains the evidence for one file", async () => {
    const { run } = await uploaded(damaged({ "docs/2.md": { keeps: "row" } }));
    const { stdout, code } = await run("verify", "--explain", "docs/2.md");
    expect(stdout).toContain("listed only docs/2.md: the service lists it");
    expect(stdout).toContain("404 GET /document/document-size-info (");
    expect(stdout).toContain("200 GET /onyx-api/connector-docs/2 (");
    expect(stdout).toContain("200 POST /admin/search");
    expect(code).toBe(13);
    const fine = await run("verify", "--explain", "docs/3.md");
    expect(fine.stdout).toContain("(the index holds the text that was sent");
    expect(fine.code).toBe(0);
  });

  it("names no other pair where the list of the own pair is refused", async () => {
    const { run } = await uploaded({
      faults: {
        rules: [
          { when: { documentId: "docs/2.md" }, do: { index: { keeps: "row" } } },
          { when: { path: "/api/onyx-api/connector-docs/2" }, do: { status: 403 } },
        ],
      },
    });
    const { stdout } = await run("verify", "--explain", "docs/2.md");
    expect(stdout).toContain("403 GET /onyx-api/connector-docs/2 (nothing: ");
    expect(stdout).toContain("(a row of it is in some pair)");
  });

  it("checks within paths, samples, and leaves out what it found current", async () => {
    const { run } = await uploaded();
    expect((await run("verify", "docs/1.md", "docs/2.md")).stderr).toContain("2 current");
    expect((await run("verify", "nowhere.md")).code).toBe(2);
    const partly = await run("verify", "docs/1.md", "nowhere.md");
    expect(partly).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("recorded in nowhere.md") as string,
    });
    expect((await run("verify", "--since-last")).stderr).toContain("5 current");
    const sample = await run("verify", "--sample", "4", "--json");
    expect((JSON.parse(sample.stdout) as Report).summary["documents"]).toBe(4);
    expect((await run("verify", "--sample", "4", "--json")).stdout.match(/"id":"[^"]*"/g)).toEqual(
      sample.stdout.match(/"id":"[^"]*"/g),
    );
  });

  it("waits for the index", async () => {
    const { run } = await uploaded(damaged({ "docs/1.md": { delayRequests: 3 } }));
    expect((await run("verify", "docs/1.md")).code).toBe(13);
    expect((await run("verify", "docs/1.md", "--wait", "1m")).code).toBe(0);
  });

  it("keeps as many requests in flight as --concurrency allows", async () => {
    const { run, sandbox } = await uploaded({
      faults: { rules: [{ when: { path: "/api/document" }, do: { delayMs: 20 } }] },
    });
    sandbox.ledger.maxInFlight = 0;
    expect((await run("verify")).code).toBe(0);
    expect(sandbox.ledger.maxInFlight).toBeGreaterThan(1);
    sandbox.ledger.maxInFlight = 0;
    expect((await run("verify", "--concurrency", "1")).code).toBe(0);
    expect(sandbox.ledger.maxInFlight).toBe(1);
  });

  it("refuses a service that cannot tell, and a key that may not ask", async () => {
    const { run } = await uploaded({ dialect: "standard" });
    const { code, stderr } = await run("verify");
    expect(stderr).toContain("the standard dialect cannot show what is indexed\n");
    expect(stderr).toContain("use --dialect onyx");
    expect(code).toBe(9);
    const denied = await uploaded({
      faults: { denied: ["/document/document-size-info"] },
    });
    expect((await denied.run("verify")).code).toBe(4);
    const missing = await uploaded({ faults: { missing: ["/document/document-size-info"] } });
    expect((await missing.run("verify")).code).toBe(9);
    const path = "/api/document/document-size-info";
    const without = await uploaded({
      faults: { rules: [{ when: { path }, do: { status: 501 } }] },
    });
    expect((await without.run("verify")).code).toBe(9);
  });
});

describe("a document that is indexed during the check", () => {
  it("is looked up again, not called hidden", async () => {
    const path = "/api/document/document-size-info";
    const late = {
      when: { path, first: 1 },
      do: { status: 404, body: { detail: "Document not found" } },
    };
    const { run } = await uploaded({ faults: { rules: [late] } });
    const { code, stdout } = await run("verify", "docs/1.md", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ summary: { current: 1, documents: 1 } });
    expect(code).toBe(0);
  });
});

describe("verify --via", () => {
  it("asks the assistant only when its cost is allowed, and never says current", async () => {
    const { run, sandbox } = await uploaded({ dialect: "standard" });
    const chats = () => sandbox.ledger.chats.length;
    const args = ["verify", "docs/1.md", "docs/2.md", "--via", "chat"];
    const refused = await run(...args);
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--allow-tokens 2");
    expect(refused.stderr).not.toContain("checking");
    expect((await run(...args, "--allow-tokens", "1")).code).toBe(2);
    expect(chats()).toBe(0);
    const exists = await run(...args, "--depth", "exists", "--allow-tokens", "2");
    expect(exists).toMatchObject({ code: 0, stderr: expect.stringContaining("2 present") });
    expect(chats()).toBe(2);
    const text = await run(...args, "--allow-tokens", "2");
    expect(text.code).toBe(10);
    expect(text.stdout).toMatch(
      /^unknown +docs\/1\.md: found by chat; its text was not compared$/m,
    );
  });

  it("calls nothing missing that a search does not find", async () => {
    const { run } = await uploaded(damaged({ "docs/1.md": { keeps: "nothing" } }));
    const { code, stdout } = await run("verify", "--via", "indexed", "--depth", "exists");
    expect(stdout).toMatch(/^unknown +docs\/1\.md: .*proves nothing$/m);
    expect(code).toBe(10);
    const denied = await uploaded({ faults: { denied: ["/admin/search"] } });
    expect((await denied.run("verify", "--via", "keyword")).code).toBe(4);
    const standard = await uploaded({ dialect: "standard" });
    expect((await standard.run("verify", "--via", "indexed")).code).toBe(9);
  });
});

describe("verify and ids", () => {
  it("that are encoded twice", async () => {
    const odd = "docs/a b ü%20#1.md";
    const { run } = await uploaded({ files: { ...files, [odd]: "# Odd\n\nText of odd.\n" } });
    const { code, stdout } = await run("verify", "--json", "--verbose");
    const { documents } = JSON.parse(stdout) as Report;
    expect(documents.find(({ path }) => path === odd)).toMatchObject({ result: "current" });
    expect(code).toBe(0);
  });

  it("of uploads that the service may have skipped come first in a sample", async () => {
    const { run, folder, sandbox } = await uploaded();
    const text = files["docs/6.md"]!;
    writeFileSync(join(folder, "docs/6.md"), `---\nteam: people\n---\n${text}`);
    await run("ingest", "docs", "--cc-pair-id", "2");
    await sandbox.idle();
    const { stdout } = await run("verify", "--sample", "3", "--json");
    expect((JSON.parse(stdout) as Report).documents.map(({ id }) => id)).toContain("docs/6.md");
    // The check has ended the suspicion.
    const { stdout: again } = await run("verify", "--since-last", "--json");
    expect((JSON.parse(again) as Report).summary["documents"]).toBe(4);
  });
});

describe("verify --reader", () => {
  const readers = {
    ".cliconfig.json": JSON.stringify({
      defaultProfile: "own",
      profiles: {
        own: {},
        intern: { accessToken: { env: "INTERN_KEY" } },
        same: { accessToken: { env: "OWN_KEY" } },
      },
    }),
  };

  async function withReaders(pair: string, options: TestServiceOptions = {}) {
    const service = await startTestService({
      dialect: "onyx",
      ...options,
      files: { ...files, ...readers },
    });
    const env = {
      ...service.env,
      INTERN_KEY: `${testKey}-reader`,
      OWN_KEY: testKey,
      KNOWCTL_TRUST_PROJECT: "1",
    };
    const run = (...words: (string | Record<string, string>)[]) => {
      const args = words.filter((word) => typeof word === "string");
      const more = words.filter((word) => typeof word !== "string");
      return runHere(args, { cwd: service.folder, env: Object.assign({}, env, ...more) });
    };
    expect((await run("ingest", "docs", "--cc-pair-id", pair)).code).toBe(0);
    await service.sandbox.idle();
    return run;
  }

  it("sees what the reader sees, and is a leak test with --expect hidden", async () => {
    const run = await withReaders("2");
    const seen = await run("verify", "--reader", "intern");
    expect(seen).toMatchObject({ code: 0, stderr: expect.stringContaining("7 current") });
    const leak = await run("verify", "--reader", "intern", "--expect", "hidden");
    expect(leak.code).toBe(13);
    expect(leak.stderr).toContain("7 documents visible to this reader");
    expect(leak.stdout).toMatch(/^current +docs\/0\.md/m);
    const wrong = await run("verify", "--reader", "intern", { INTERN_KEY: "CANARY-wrong-key" });
    expect(wrong.code).not.toBe(0);
    // Where the reader's refused key is set, not the variables of the own one.
    expect(wrong.stderr).toMatch(/does not accept the key from .*\.cliconfig\.json:\d+/);
    expect(wrong.stderr).not.toContain("KNOWCTL_");
    const same = await run("verify", "--reader", "same");
    expect(same).toMatchObject({ code: 2, stderr: expect.stringContaining("the same key") });
    expect((await run("verify", "--reader", "nobody")).code).toBe(3);
  });

  it("says in its JSON that hidden was expected", async () => {
    const run = await withReaders("2");
    const schema = VerifyOutput;
    const last = async (...args: string[]): Promise<unknown> => {
      const { stdout } = await run("verify", "--reader", "intern", ...args);
      const found: unknown = JSON.parse(stdout.trim().split("\n").at(-1) ?? "");
      expect(schema.safeParse(found).error).toBe(undefined);
      return found;
    };
    const leak = { status: "failed", expected: "hidden", summary: { current: 7 } };
    expect(await last("--expect", "hidden", "--output", "ndjson")).toMatchObject(leak);
    const report = await run("verify", "--reader", "intern", "--expect", "hidden", "--json");
    expect(schema.safeParse(JSON.parse(report.stdout)).error).toBe(undefined);
    expect(JSON.parse(report.stdout)).toMatchObject(leak);
    const member = await run(
      "verify",
      "--reader",
      "intern",
      "--expect",
      "hidden",
      "--fields",
      "expected",
    );
    expect(JSON.parse(member.stdout)).toEqual({ expected: "hidden" });
    const none = await run("verify", "--reader", "intern", "--fields", "expected");
    expect(none).toMatchObject({ code: 2, stderr: expect.not.stringContaining("current") });
    expect(await last("--output", "ndjson")).not.toHaveProperty("expected");
  });

  it("passes only where the profile's own key finds the document", async () => {
    // Its owner is the account of the administrator's key.
    const pairs = defaultPairs.map((pair) => ({
      ...pair,
      ...(pair.cc_pair_id === 2 ? { access_type: "private", groups: [] } : {}),
    }));
    const own = await withReaders("2", { pairs });
    const hidden = await own("verify", "--reader", "intern", "--expect", "hidden");
    expect(hidden).toMatchObject({ code: 0, stderr: expect.stringContaining("7 hidden") });
    const all = await own("verify", "--reader", "intern");
    expect(all.code).toBe(13);
    const swallowed = await withReaders("2", {
      pairs,
      ...damaged({ "docs/1.md": { keeps: "nothing" } }),
    });
    const unsure = await swallowed("verify", "--reader", "intern", "--expect", "hidden");
    expect(unsure.stdout).toMatch(/^unknown +docs\/1\.md: .*the test proves nothing/);
    expect(unsure.code).toBe(10);
  });
});
