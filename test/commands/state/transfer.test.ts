import { linkSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startSocket } from "../../file-system.ts";
import { startTestService, writeFiles, type TestService } from "../../service.ts";
import { cleanEnvironment, temporaryFolder } from "../../support.ts";
import { expectRun, runIn } from "./support.ts";

const files = { "docs/a.md": "# A\n\nOne.\n", "docs/b.md": "# B\n\nTwo.\n" };

async function startUploaded(): Promise<TestService> {
  const service = await startTestService({ files });
  await expectRun(service, "ingest docs --cc-pair-id 2", 0);
  return service;
}

/** Another checkout of the same project that talks to the same service. */
function otherCheckout({ env, sandbox }: TestService): Pick<TestService, "folder" | "env"> {
  const home = temporaryFolder();
  const folder = join(home, "elsewhere");
  writeFiles(folder, { ".git/HEAD": "", ...files });
  const { KNOWCTL_API_KEY: key = "" } = env;
  return {
    folder,
    env: cleanEnvironment(home, { KNOWCTL_BASE_URL: sandbox.url, KNOWCTL_API_KEY: key }),
  };
}

const header = '{"type":"knowctl-state","version":4}';
const sent = (id: string, sentAt: string, whole = "w"): string =>
  JSON.stringify({
    type: "accepted",
    target: "https://h#2",
    id,
    path: id,
    whole,
    fields: "f",
    sentAt,
  });
const end = (records: number): string => JSON.stringify({ type: "end", records });
const fileOf = (...lines: string[]): string => [header, ...lines, end(lines.length), ""].join("\n");

describe("state export and import", () => {
  it("brings what was sent to another machine: files are read once, nothing is sent", async () => {
    const service = await startUploaded();
    const exported = await expectRun(service, "state export", 0);
    const other = otherCheckout(service);
    const imported = await runIn(other, "state import - --yes", { stdin: exported.stdout });
    expect(imported).toMatchObject({ code: 0, stderr: expect.stringContaining("2 records") });
    const requests = service.sandbox.ledger.documents.size;
    for (const _ of [1, 2]) {
      const again = await runIn(other, "ingest docs --cc-pair-id 2");
      expect(again.stderr).toContain("2 unchanged");
    }
    expect(service.sandbox.ledger.documents.get("docs/a.md")).toHaveLength(1);
    expect(service.sandbox.ledger.documents.size).toBe(requests);
  });

  it("is the same for the same state, ordered, and holds neither key nor stamp", async () => {
    const service = await startUploaded();
    const { stdout } = await runIn(service, "state export");
    expect((await runIn(service, "state export -")).stdout).toBe(stdout);
    const lines = stdout.trim().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { type: string }).type)).toEqual([
      "knowctl-state",
      "options",
      "accepted",
      "accepted",
      "upload",
      "file",
      "file",
      "end",
    ]);
    expect(stdout).not.toContain(service.env["KNOWCTL_API_KEY"]);
    expect(stdout).not.toContain(service.folder);
    expect(Object.keys(JSON.parse(lines[5]!) as object)).toEqual([
      "type",
      "path",
      "content",
      "id",
      "whole",
    ]);
  });

  it("records where each id came from", async () => {
    const service = await startUploaded();
    const rows = { "r.csv": "id,text\n1,One\n", "c.md": "---\nid: own\n---\n# C\n\nThree.\n" };
    writeFiles(service.folder, rows);
    const stdin = "Four.\n";
    await runIn(service, "ingest c.md r.csv --cc-pair-id 2");
    await runIn(service, "ingest - --format text --id four --cc-pair-id 2", { stdin });
    const origins = async (): Promise<string[]> =>
      (await runIn(service, "state export")).stdout
        .split("\n")
        .filter((line) => line.includes('"accepted"'))
        .map((line) => JSON.parse(line) as { id: string; origin: string })
        .map(({ id, origin }) => `${id} ${origin}`);
    const expected = [
      "1 row",
      "docs/a.md path",
      "docs/b.md path",
      "four stdin",
      "own front-matter",
    ];
    expect(await origins()).toEqual(expected);
    await runIn(service, "state export all.ndjson");
    await runIn(service, "state forget --all --yes");
    await runIn(service, "state import all.ndjson --yes");
    expect(await origins()).toEqual(expected.map((each) => each.replace(/ .*/, " imported")));
    await runIn(service, "ingest docs --force --cc-pair-id 2");
    expect((await origins()).filter((each) => each.endsWith(" path"))).toHaveLength(2);
  });

  it("comes back as it was exported", async () => {
    const service = await startUploaded();
    expect(await runIn(service, "state export a.ndjson")).toMatchObject({ code: 0, stdout: "" });
    const other = otherCheckout(service);
    const path = join(service.folder, "a.ndjson");
    await runIn(other, ["state", "import", path, "--yes"]);
    const again = await runIn(other, "state export");
    const exported = readFileSync(path, "utf8");
    expect(again.stdout).toBe(exported.replaceAll('"origin":"path"', '"origin":"imported"'));
    expect(readdirSync(service.folder).filter((name) => name.includes("tmp"))).toEqual([]);
  });

  it("older is left, newer wins", async () => {
    const place = await startTestService();
    for (const [year, whole, kept] of [
      [2025, "mine", "mine"],
      [2020, "older", "mine"],
      [2030, "newer", "newer"],
    ] as const) {
      const stdin = fileOf(sent("a", `${year}-01-01T00:00:00Z`, whole));
      await runIn(place, "state import - --yes", { stdin });
      const { stdout } = await runIn(place, "state export");
      expect(stdout).toContain(`"whole":"${kept}"`);
    }
  });

  it("says what it adds per target, and asks", async () => {
    const place = await startTestService();
    const [old, late] = ["2025-01-01T00:00:00Z", "2026-01-01T00:00:00Z"];
    writeFiles(place.folder, {
      "one.ndjson": fileOf(sent("a", old), sent("b", late), sent("c", old)),
      "two.ndjson": fileOf(
        sent("a", late),
        sent("b", old),
        sent("d", old),
        sent("x", old).replace("#2", "#7"),
      ),
    });
    await expectRun(place, "state import one.ndjson --yes", 0);
    const before = (await runIn(place, "state export")).stdout;
    const refused = await expectRun(place, "state import two.ndjson", 2, "--yes");
    expect(refused.stderr).toMatch(
      /pair 2\)? at https:\/\/h: .*1 new here, 1 newer than here, 1 kept/,
    );
    expect(refused.stderr).toMatch(/pair 7\)? at https:\/\/h: .*1 new here/);
    expect(await runIn(place, "state import two.ndjson", { answer: "n\n" })).toMatchObject({
      code: 0,
    });
    expect(await runIn(place, "state import -", { stdin: fileOf() })).toMatchObject({ code: 2 });
    expect((await runIn(place, "state export")).stdout).toBe(before);
    expect(await runIn(place, "state import two.ndjson", { answer: "y\n" })).toMatchObject({
      code: 0,
    });
    expect((await runIn(place, "state export")).stdout).not.toBe(before);
  });

  it("settles a failure that another machine has mended since", async () => {
    const place = await startTestService();
    const failure = (failedAt: string): string =>
      JSON.stringify({
        type: "failure",
        target: "https://h#2",
        path: "a",
        id: "a",
        reason: "down",
        retryable: true,
        failedAt,
      });
    const at = (time: string): string => `2025-01-01T${time}Z`;
    await runIn(place, "state import - --yes", { stdin: fileOf(failure(at("10:00:00"))) });
    await runIn(place, "state import - --yes", { stdin: fileOf(sent("a", at("09:00:00"))) });
    expect((await runIn(place, "state list --status failed")).stdout).not.toBe("");
    await runIn(place, "state import - --yes", { stdin: fileOf(sent("a", at("11:00:00"))) });
    expect((await runIn(place, "state list --status failed")).stdout).toBe("");
  });

  const good = sent("good", "2025-01-01T00:00:00Z");
  const wrong: [name: string, stdin: string, message: string][] = [
    ["nothing", "", "stdin: the file is empty"],
    ["other JSON", '{"a":1}\n', "stdin:1: not an exported state"],
    ["no JSON", "hello\n", "stdin:1: not valid JSON"],
    [
      "a newer version",
      '{"type":"knowctl-state","version":99}\n',
      "stdin:1: the exported state has the unsupported version",
    ],
    ["a cut", `${header}\n${good}\n`, "stdin:2: the file is cut off"],
    ["a cut line", `${header}\n${good}\n${good.slice(0, 20)}`, "stdin:3: not valid JSON"],
    ["lines lost", `${header}\n${good}\n${end(2)}\n`, "stdin:3: found 1 records, expected 2"],
    ["lines behind", `${fileOf(good)}${good}\n`, "stdin:4: unexpected text after the last line"],
    ["a wrong type", fileOf(good, '{"type":"what"}'), "stdin:3: type: expected"],
    ["no object", fileOf("[]"), "stdin:2: expected a JSON object"],
    ["a wrong time", fileOf(sent("a", "yesterday")), "stdin:2: sentAt: expected a time"],
    ["no id", fileOf(good.replace('"good"', "7")), "stdin:2: id: expected a string"],
    ["a bad target", fileOf(good.replace("https://h#2", "h")), "stdin:2: target: expected"],
    ["a member of the prototype", fileOf('{"type":"file","path":"a"}'), "stdin:2: content:"],
    [
      "an absolute path",
      fileOf(good.replace('"path":"good"', '"path":"/etc/x.md"')),
      "stdin:2: path:",
    ],
    [
      "a path outside",
      fileOf(good.replace('"path":"good"', '"path":"a/../../x.md"')),
      "stdin:2: path:",
    ],
    ...(
      [
        ["sections", { sections: 7 }],
        ["flags.idPrefix", { flags: { idPrefix: {} } }],
        ["flags.metadata", { flags: { metadata: 3 } }],
        ["rules.0", { rules: [null] }],
        ["frontMatter.id", { frontMatter: { id: 3 } }],
        ["columns", { columns: [1] }],
        ["format", { format: "exe" }],
        ["include", { include: "docs" }],
        ["flags", { flags: [] }],
        ["settings", { flags: null, unknown: 1 }],
      ] as const
    ).map(
      ([name, settings]) =>
        [
          `options with a wrong ${name}`,
          fileOf(
            JSON.stringify({
              type: "options",
              key: "k",
              options: { byInclude: true, pairFromFlag: true, mapping: 1, settings },
            }),
          ),
          "stdin:2: options.settings",
        ] as [string, string, string],
    ),
    [
      "options that are a list",
      fileOf(
        '{"type":"options","key":"k","options":{"byInclude":true,"pairFromFlag":true,"mapping":1,"settings":[]}}',
      ),
      "stdin:2: options:",
    ],
    ["NUL", fileOf(good.replace('"good"', String.raw`"go\u0000od"`)), "stdin:2: id: expected"],
  ];
  it("refuses what is no exported state, and imports nothing of it", async () => {
    const place = await startTestService();
    for (const [name, stdin, message] of wrong) {
      const ran = await runIn(place, "state import - --yes", { stdin });
      expect(ran, name).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
    }
    expect((await runIn(place, "state list -o ndjson")).stdout).toBe("");
  });

  it("refuses more targets than an upload makes", async () => {
    const place = await startTestService();
    const many = Array.from({ length: 1001 }, (_, pair) =>
      sent("a", "2026-01-01T00:00:00Z").replace("#2", `#${pair + 1}`),
    );
    const ran = await runIn(place, "state import - --yes", { stdin: fileOf(...many) });
    expect(ran).toMatchObject({
      code: 2,
      stderr: expect.stringContaining("stdin:1002: more than 1000 targets"),
    });
    const most = await runIn(place, "state import - --yes", {
      stdin: fileOf(...many.slice(1)),
    });
    expect(most).toMatchObject({ code: 0 });
  });

  it.each([
    ["nowhere.ndjson", "nowhere.ndjson: cannot be read: no such file"],
    [".", ".: cannot be read: it is a folder"],
  ])("names a file that cannot be read: %s", async (name, message) => {
    const place = await startTestService();
    await expectRun(place, ["state", "import", name], 2, message);
  });
});

it.each(["state export socket"])("%s leaves a socket as it is", async (line) => {
  const place = await startTestService();
  const path = join(place.folder, "socket");
  await startSocket(path);
  const { code, stderr } = await runIn(place, line);
  expect([code, stderr]).toEqual([2, expect.stringContaining("socket: it is not a regular file")]);
  expect(statSync(path).isSocket()).toBe(true);
});

describe("state import of several files", () => {
  const write = (place: TestService, ...texts: string[]): string[] =>
    texts.map((text, index) => {
      writeFileSync(join(place.folder, `${index}.ndjson`), text);
      return `${index}.ndjson`;
    });

  it("makes one of all shards, newest first, in any order", async () => {
    const place = await startTestService();
    const names = write(
      place,
      fileOf(sent("a", "2025-01-01T00:00:00Z", "old"), sent("b", "2025-01-01T00:00:00Z", "x")),
      fileOf(sent("a", "2025-01-02T00:00:00Z", "new"), sent("b", "2025-01-01T00:00:00Z", "y")),
    );
    const results: string[] = [];
    for (const order of [names, names.toReversed()]) {
      await expectRun(place, ["state", "import", "--yes", ...order], 0);
      results.push((await runIn(place, "state export")).stdout);
    }
    expect(results[1]).toBe(results[0]);
    expect(results[0]).toContain('"whole":"new"');
    expect(results[0]).toContain('"whole":"y"');
    expect(results[0]!.trim().split("\n")).toHaveLength(4);
  });

  it("counts a document of several files once", async () => {
    const place = await startTestService();
    const at = "2025-01-01T00:00:00Z";
    const names = write(place, fileOf(sent("a", at), sent("b", at)), fileOf(sent("a", at)));
    const { stderr } = await runIn(place, ["state", "import", "--yes", ...names]);
    expect(stderr).toContain("imported 2 records of sent documents from 2 files");
  });

  it.each([
    ["the same name", "0.ndjson"],
    ["another spelling", "./docs/../0.ndjson"],
    ["a symbolic link", "symbolic"],
    ["a hard link", "hard"],
  ])("refuses a file that is given twice, by %s", async (_name, other) => {
    const place = await startTestService({ files });
    write(place, fileOf(sent("a", "2025-01-01T00:00:00Z")));
    symlinkSync("0.ndjson", join(place.folder, "symbolic"));
    linkSync(join(place.folder, "0.ndjson"), join(place.folder, "hard"));
    await expectRun(
      place,
      ["state", "import", "--yes", "0.ndjson", other],
      2,
      `0.ndjson and ${other} are the same file`,
    );
    expect((await runIn(place, "state list -o ndjson")).stdout).toBe("");
  });

  it("merges nothing when one file is broken", async () => {
    const place = await startTestService();
    const names = write(place, fileOf(sent("a", "2025-01-01T00:00:00Z")), "nonsense\n");
    await expectRun(place, ["state", "import", "--yes", ...names], 2, "1.ndjson:1: not valid JSON");
    expect((await runIn(place, "state list -o ndjson")).stdout).toBe("");
  });
});

it("import puts in doubt what another pair has overwritten, however many pairs there are", async () => {
  const service = await startTestService({ files });
  const pairs = Array.from({ length: 15 }, (_, index) => index + 10);
  const lines = pairs.map((pair) =>
    sent("x", `2026-01-${pair}T00:00:00.000Z`, `w${pair}`).replace("#2", `#${pair}`),
  );
  const notice = sent("x", "2026-01-01T00:00:00.000Z", "removed");
  const stdin = fileOf(...lines, notice);
  expect(await runIn(service, "state import - --yes", { stdin })).toMatchObject({ code: 0 });
  const { stdout } = await runIn(service, "state export");
  const versions = stdout
    .split("\n")
    .filter((line) => line.includes('"accepted"'))
    .map((line) => JSON.parse(line) as { target: string; whole: string })
    .map(({ target, whole }) => `${target.split("#")[1]} ${whole}`);
  const expected = pairs.map((pair) => `${pair} ${pair === 24 ? "" : "~"}w${pair}`);
  expect(versions.toSorted()).toEqual([...expected, "2 removed"].toSorted());
});
