import { rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { expectRun, runIn } from "../../state/support.ts";

type Json = Record<string, unknown>;

const document = (id: string, members: Json = {}): Json => ({
  id,
  semantic_identifier: id,
  sections: [{ text: `Text of ${id}.` }],
  ...members,
});
const restricted = { external_access: { external_user_emails: ["a@b.example"], is_public: false } };
const toLines = (...values: Json[]): string =>
  values.map((each) => JSON.stringify(each)).join("\n");
const sent = ({ sandbox }: TestService): string[] => [...sandbox.ledger.documents.keys()];
const last = ({ sandbox }: TestService, id: string) =>
  sandbox.ledger.documents.get(id)?.at(-1)?.document;

describe("a document member that restricts access", () => {
  it("fails that document alone, from a file and from stdin, or is left out with --drop-access", async () => {
    const service = await startTestService();
    for (const members of [
      restricted,
      // Nobody has access.
      { external_access: { is_public: false } },
      { externalAccess: ["a@b.example"] },
      { access: "private" },
      { private: true },
    ]) {
      const stdin = toLines(document("a"), document("b", members));
      writeFiles(service.folder, { "d.ndjson": stdin });
      for (const line of ["ingest d.ndjson", "ingest -"]) {
        const ran = await runIn(
          service,
          `${line} --cc-pair-id 2`,
          line.endsWith("-") ? { stdin } : {},
        );
        expect(ran.stderr).toContain("the service drops it: the pair alone decides who can read");
        expect(ran.stderr).toContain("--drop-access");
        expect(ran.code, JSON.stringify(members)).toBe(10);
        expect(sent(service)).toEqual(["a"]);
      }
    }
    const stdin = toLines(document("b", { ...restricted, acl: ["x"] }));
    writeFiles(service.folder, { "d.ndjson": stdin });
    for (const line of ["ingest d.ndjson", "ingest -"]) {
      service.sandbox.ledger.documents.clear();
      const dropped = `${line} --cc-pair-id 2 --drop-access --force`;
      const ran = await runIn(service, dropped, line.endsWith("-") ? { stdin } : {});
      expect(ran.code, line).toBe(0);
      expect(last(service, "b")).toEqual({ ...document("b"), source: "file", metadata: {} });
    }
  });

  it("is noticed again when --drop-access is no longer given", async () => {
    const service = await startTestService({
      files: { "d.ndjson": toLines(document("b", restricted)) },
    });
    await expectRun(service, "ingest d.ndjson --cc-pair-id 2 --drop-access", 0);
    await expectRun(service, "ingest d.ndjson --cc-pair-id 2", 10);
  });

  it("is not dropped by a retry, unless that is asked for again", async () => {
    const broken = "---\nupdated: never\nexternal_access: [a@b.example]\n---\n# A\n";
    const mended = { "docs/a.md": broken.replace("updated: never\n", "") };
    const service = await startTestService({ files: { "docs/a.md": broken } });
    const line = "ingest docs --cc-pair-id 2 --drop-access --tag t1 --report run.json";
    await expectRun(service, line, 10);
    writeFiles(service.folder, mended);
    for (const again of ["retry", "retry run.json"]) {
      await expectRun(
        service,
        again,
        10,
        "docs/a.md:2:1: front matter external_access",
        "--drop-access",
      );
    }
    expect(sent(service)).toEqual([]);
    await expectRun(service, "retry --drop-access", 0);
    expect(last(service, "docs/a.md")?.metadata).toEqual({ tags: ["t1"] });
    // What it was sent with is recorded: the same upload has nothing to do.
    const same = await runIn(service, "ingest docs --cc-pair-id 2 --drop-access --tag t1");
    expect(same.stderr).toContain("1 unchanged");
    await expectRun(service, "retry run.json --drop-access", 0);
  });

  it("hinders no removal, and its document is no orphan", async () => {
    const files = {
      "docs/a.md": "---\nexternal_access: [a@b.example]\n---\nText.\n",
      "docs/b.md": "Text.\n",
      "docs/c.md": "Text.\n",
    };
    const service = await startTestService({ files, dialect: "onyx" });
    await expectRun(service, "ingest docs --cc-pair-id 2 --drop-access", 0);
    rmSync(join(service.folder, "docs/c.md"));
    const { code, stdout } = await runIn(service, "prune docs --yes");
    expect({ code, stdout }).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^deleted\tdocs\/c\.md\t.*\n$/) as unknown,
    });
    const listed = await runIn(service, "prune docs");
    expect(listed).toMatchObject({ code: 0, stdout: "" });
    expect(listed.stderr).toContain("nothing to remove");
    await expectRun(service, "ingest docs --cc-pair-id 2 --drop-access", 0, "2 unchanged");
  });

  it("is none where it lets everybody read", async () => {
    const service = await startTestService();
    const open: Json[] = [
      { external_access: null },
      { external_access: { is_public: true } },
      { private: false },
      { access: "public" },
    ];
    const stdin = toLines(...open.map((members, index) => document(`d${index}`, members)));
    expect(await runIn(service, "ingest - --cc-pair-id 2", { stdin })).toMatchObject({ code: 0 });
    expect(sent(service)).toHaveLength(open.length);
  });

  it("fails a file whose front matter, and a row, has external_access", async () => {
    const files = {
      "docs/a.md": "---\nexternal_access: [a@b.example]\n---\nText.\n",
      "docs/b.md": "Text.\n",
      "rows.csv": "id,text,external_access\nr,Text.,a@b.example\n",
    };
    const service = await startTestService({ files });
    const ran = await runIn(service, "ingest docs rows.csv --cc-pair-id 2");
    expect(ran.stderr).toContain("docs/a.md:2:1: front matter external_access: the service drops");
    expect({ code: ran.code, sent: sent(service) }).toEqual({ code: 10, sent: ["docs/b.md"] });
    await expectRun(service, "ingest docs rows.csv --cc-pair-id 2 --drop-access", 0);
    expect(last(service, "docs/a.md")?.metadata).toEqual({});
  });
});

describe("front matter that seems to restrict access", () => {
  const matter = (text: string): string => `---\n${text}\n---\nText.\n`;
  const files = {
    "docs/a.md": matter("access: public"),
    "docs/b.md": matter("private: true\naccess: internal"),
    "docs/c.md": matter("groups: [hr, board]"),
    "docs/d.md": matter("visibility: everyone\nprivate: no\ngroups: []"),
    "docs/e.md": matter("audience: staff"),
  };

  it("is one warning with count and first file, under the keys of ingest.accessKeys", async () => {
    const service = await startTestService({ files });
    const warningsOf = async (flags: string): Promise<string[]> => {
      const { stderr } = await expectRun(service, `ingest docs --cc-pair-id 2 ${flags}`, 0);
      return stderr.split("\n").filter((line) => line.startsWith("warning"));
    };
    for (const flags of ["--dry-run", "--force"]) {
      expect(await warningsOf(flags)).toEqual([
        "warning: 2 documents say who may read (access, groups; first: docs/b.md): this is only metadata and restricts nobody; the pair decides who can read",
      ]);
    }
    const put = (accessKeys: string[]): void =>
      writeFiles(service.folder, { "c.json": JSON.stringify({ ingest: { accessKeys } }) });
    put([]);
    expect(await warningsOf("--config c.json --force")).toEqual([]);
    put(["audience"]);
    expect((await warningsOf("--config c.json --force")).join()).toContain(
      "1 document says who may read (audience; first: docs/e.md)",
    );
  });

  it("is counted over many files, which are read while others are sent", async () => {
    const many = Array.from({ length: 200 }, (_, index) => [
      `docs/${index}.md`,
      matter("private: 1"),
    ]);
    const service = await startTestService({ files: Object.fromEntries(many) as typeof files });
    const { stderr } = await runIn(service, "ingest docs --cc-pair-id 2");
    expect(stderr).toContain("200 documents say who may read (private; first: docs/0.md)");
  });
});

describe("members that have no effect", () => {
  const useless = [
    document("a", { chunk_count: 3, docupdated: "2024-01-01" }),
    document("b", {
      chunk_count: 4,
      sections: [
        { text: "x", txt: "y" },
        { text: "z", txt: "y" },
      ],
    }),
    { document: document("c"), cc_pair_id: 2, ccpair: 5 },
  ];
  const told = [
    "warning: 2 documents have chunk_count (first: PLACE1): the service drops this member",
    "warning: 1 document has docupdated (first: PLACE1): the service does not know this member; did you mean doc_updated_at?",
    "warning: 1 document has sections.txt (first: PLACE2): the service does not know this member; did you mean sections.text?",
    "warning: 1 document has request.ccpair (first: PLACE3): the service does not know this member; did you mean cc_pair_id?",
  ];

  it("are one line each, with count, place and nearest name", async () => {
    const stdin = toLines(...useless);
    const service = await startTestService({ files: { "d.ndjson": stdin } });
    for (const [line, place] of [
      ["ingest d.ndjson --cc-pair-id 2 --dry-run", "d.ndjson#"],
      ["ingest d.ndjson --cc-pair-id 2 --force", "d.ndjson#"],
      ["ingest - --cc-pair-id 2 --dry-run --force", "stdin:"],
      ["ingest - --cc-pair-id 2 --force", "stdin:"],
      ["convert d.ndjson", "d.ndjson#"],
    ] as const) {
      const { code, stderr } = await runIn(service, line, line.includes(" - ") ? { stdin } : {});
      expect(code, line).toBe(0);
      expect(
        stderr.split("\n").filter((each) => each.startsWith("warning")),
        line,
      ).toEqual(told.map((each) => each.replace("PLACE", place)));
    }
  });

  it("are counted together beyond fifty names", async () => {
    const lines = toLines(
      ...Array.from({ length: 60 }, (_, index) => document(`${index}`, { [`zz${index}`]: 1 })),
    );
    const { stderr } = await runIn(await startTestService(), "ingest - --cc-pair-id 2", {
      stdin: lines,
    });
    expect(stderr.split("\n").filter((each) => each.startsWith("warning"))).toHaveLength(51);
    expect(stderr).toContain("10 documents have others");
  });

  it("do not include a pair inside the document, which would go elsewhere: that document fails", async () => {
    const stdin = toLines(document("a", { cc_pair_id: 7 }));
    const service = await startTestService();
    const { code, stderr } = await runIn(service, "ingest - --cc-pair-id 2", { stdin });
    expect(stderr).toContain("stdin:1:1: cc_pair_id: is inside the document");
    expect({ code, sent: sent(service) }).toEqual({ code: 10, sent: [] });
  });
});

it.each<[string, Json, Json[]]>([
  [
    "text and image",
    { text: "T", image_file_id: "i", link: "l", heading: "h" },
    [
      { text: "T", heading: "h", link: "l" },
      { image_file_id: "i", link: "l" },
    ],
  ],
  ["a blank text", { text: "", image_file_id: "i" }, [{ image_file_id: "i" }]],
  [
    "all kinds",
    { type: "image", csv_file_id: "c", image_file_id: "i", text: "T", link: "l" },
    [
      { text: "T", link: "l" },
      { image_file_id: "i", link: "l" },
      { csv_file_id: "c", link: "l" },
    ],
  ],
])("a section with %s is split, in order", async (_, section, sections) => {
  const [before, after] = [{ text: "before" }, { text: "after" }];
  const line = toLines(document("a", { sections: [before, section, after] }));
  const service = await startTestService({ files: { "d.ndjson": line } });
  const { code, stdout } = await runIn(service, "convert d.ndjson");
  const written = JSON.parse(stdout) as { sections: Json[] };
  expect({ code, sections: written.sections }).toEqual({
    code: 0,
    sections: [before, ...sections, after],
  });
});
