import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import type { FaultRule } from "../../../../src/sandbox/http/faults.ts";
import { main } from "../../../main.ts";
import { type TestService, startTestService, testKey } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds, lastAccepted } from "../support.ts";

const pair = ["--cc-pair-id", "2"];

describe("stdin", () => {
  type Json = Record<string, unknown>;

  function document(id: string, text = `Text of ${id}.`): Json {
    return { id, semantic_identifier: `Name ${id}`, sections: [{ text }], metadata: {} };
  }

  const toLines = (...values: unknown[]): string =>
    values.map((each) => `${typeof each === "string" ? each : JSON.stringify(each)}\n`).join("");

  async function run(service: TestService, stdin: string | Buffer, ...args: string[]) {
    const { folder: cwd, env } = service;
    const context = createTestContext({ cwd, env, stdin: stdin as string });
    const code = await main(["ingest", "-", ...args], context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  /** What was accepted, in order: pair and document. */
  function accepted({ sandbox }: TestService, id: string) {
    return sandbox.ledger.documents.get(id) ?? [];
  }

  const refused: FaultRule = {
    when: { documentId: "a", first: 1 },
    do: { status: 422, body: { detail: "no" } },
  };

  describe("ingest -", () => {
    it("sends each line, with its own pair where it names one, and no line twice", async () => {
      const service = await startTestService();
      const own = (id: string, cc_pair_id: number): Json => ({
        document: document(id),
        cc_pair_id,
      });
      const first = await run(service, toLines(own("a", 2), own("b", 7), "", " \r"));
      expect(first).toMatchObject({ code: 0, stdout: "" });
      expect(accepted(service, "a")).toMatchObject([{ cc_pair_id: 2, document: { id: "a" } }]);
      expect(accepted(service, "b")).toMatchObject([{ cc_pair_id: 7, document: { id: "b" } }]);
      const second = await run(service, toLines(document("a"), document("c")), ...pair);
      expect(second.stderr).toContain("1 created, 1 unchanged");
      expect(accepted(service, "a")).toHaveLength(1);
      const forced = await run(service, toLines(document("a")), ...pair, "--force");
      expect(forced.stderr).toContain("1 updated");
    });

    it("forgets the failure of a line once its id is accepted", async () => {
      const service = await startTestService();
      const { folder: cwd, env } = service;
      for (const [id, line] of [
        ["empty sections", { ...document("z"), sections: [] }],
        ["no sections, beside a pair", { document: { id: "z" }, cc_pair_id: 2 }],
        ["a restriction", { ...document("z"), private: true }],
        ["a key", { ...document("z"), title: testKey }],
        // In NFD.
        ["e\u0301".repeat(200), { ...document("z"), sections: [] }],
      ] as const) {
        const named = (value: Json): string =>
          toLines(value).replaceAll('"id":"z"', `"id":"${id}"`);
        const failed = await run(service, named(line), ...pair, "--report", "run.json");
        expect(failed.code, id).toBe(10);
        const list = "state list --status failed --fields id -o tsv".split(" ");
        const before = createTestContext({ cwd, env });
        await main(list, before);
        expect(before.stdoutText()).toBe(`${id.normalize()}\n`);
        expect(await run(service, named(document("z")), ...pair), id).toMatchObject({ code: 0 });
        const after = createTestContext({ cwd, env });
        await main(list, after);
        expect(after.stdoutText()).toBe("");
        expect(await main(["retry"], createTestContext({ cwd, env }))).toBe(0);
      }
    });

    it("does not offer a retry of what is not kept", async () => {
      const { code, stderr } = await run(await startTestService(), "null\n", ...pair);
      expect(code).toBe(10);
      expect(stderr).toContain("→ fix them and send them again");
      expect(stderr).not.toContain("retry");
    });

    it("lets a flag win over the pair of a line", async () => {
      const service = await startTestService();
      await run(service, toLines({ document: document("a"), cc_pair_id: 3 }), ...pair);
      expect(accepted(service, "a")).toMatchObject([{ cc_pair_id: 2 }]);
    });

    it("takes each bad line for a failure of its own", async () => {
      const service = await startTestService();
      const bad: [line: string, reason: RegExp][] = [
        ['{"id": "x", ', /^stdin:2:13: JSON is broken at the end; /m],
        ["null", /^stdin:3:1: document: expected an object/m],
        ['{"id": "x", "title": "T"}', /^stdin:4:1: sections: expected a list, found nothing; /m],
        ['{"id": "x\0"}', /^stdin:5:1: a NUL byte \(a binary file\?\) at byte 9; /m],
        ["a".repeat(40), /^stdin:6:1: JSON is broken at "a"/m],
      ];
      const lines = bad.map(([line]) => line);
      const { code, stderr } = await run(
        service,
        toLines(document("a"), ...lines, document("b")),
        ...pair,
      );
      for (const [, reason] of bad) expect(stderr.replace(/^failed /gm, "")).toMatch(reason);
      expect(code).toBe(10);
      expect(acceptedIds(service)).toEqual(["a", "b"]);
    });

    it("takes bytes that are no UTF-8, and a line cut in the middle, for failures", async () => {
      const service = await startTestService();
      const bytes = Buffer.concat([Buffer.from(toLines(document("a"))), Buffer.from([0xe4, 0x0a])]);
      const cut = Buffer.from(JSON.stringify(document("c")).slice(0, -1));
      const { code, stderr } = await run(service, Buffer.concat([bytes, cut]), ...pair);
      expect(code).toBe(10);
      expect(stderr).toContain("stdin:2:1: not valid UTF-8 at byte 0");
      expect(stderr).toMatch(/stdin:3:\d+: JSON is broken at the end/);
      expect(accepted(service, "a")).toHaveLength(1);
    });

    it("takes a last line without an end", async () => {
      const service = await startTestService();
      expect(await run(service, JSON.stringify(document("a")), ...pair)).toMatchObject({ code: 0 });
      expect(accepted(service, "a")).toHaveLength(1);
    });

    it.each([
      ["standard", "a b", "a b", 1],
      ["onyx", "a b", "a_b", 1],
      ["standard", "a b", "a_b", 0],
    ] as const)(
      "in %s, takes %j then %j for %i failures",
      async (dialect, one, other, failures) => {
        const service = await startTestService({ dialect });
        const { code, stderr } = await run(
          service,
          toLines(document(one), document(other)),
          ...pair,
        );
        expect(code).toBe(failures === 0 ? 0 : 10);
        if (failures > 0) {
          expect(stderr).toContain(`stdin:2:1: id "${other}" names the same document as line 1`);
        }
      },
    );

    it("unpacks gzip, and sends what came before its damage", async () => {
      const service = await startTestService();
      const packed = gzipSync(toLines(document("a"), document("b")));
      expect(await run(service, packed, ...pair)).toMatchObject({ code: 0 });
      const cut = await run(service, packed.subarray(0, -12), ...pair);
      expect(cut.stderr).toContain(
        "stdin: cannot be read completely: the gzip data ends too early",
      );
      expect(cut.code).toBe(10);
    });

    it("refuses flags that have no say in finished documents", async () => {
      const service = await startTestService();
      const flags = ["--metadata", "a=b", "--tag", "t", "--link-base", "https://x.example"];
      const ran = await run(service, toLines(document("a")), ...pair, ...flags);
      expect(ran.stderr).toContain("--link-base, --metadata, --tag: documents from stdin are sent");
      expect(ran.code).toBe(2);
      const text = await run(service, "Text.", ...pair, ...flags, "--format", "text", "--id", "t");
      expect(text.code).toBe(0);
      expect(accepted(service, "t")[0]?.document.metadata).toEqual({ a: "b", tags: ["t"] });
    });

    it("takes UTF-16 with a byte order mark, wherever its bytes are cut", async () => {
      const service = await startTestService();
      const little = Buffer.from(
        `\ufeff${toLines(document("a", "é😀"), document("b"))}`,
        "utf16le",
      );
      const big = Buffer.from(little).swap16();
      const emojiAt = little.indexOf(Buffer.from("😀", "utf16le"));
      for (const cut of [1, 2, 3, emojiAt + 1, emojiAt + 2, emojiAt + 3]) {
        for (const bytes of [little, big]) {
          const { folder: cwd, env } = service;
          const stream = Readable.from([bytes.subarray(0, cut), bytes.subarray(cut)]);
          const stdin = { isTTY: false, stream, [Symbol.asyncIterator]: () => stream.iterator() };
          const context = createTestContext({ cwd, env });
          const code = await main(["ingest", "-", ...pair, "--force"], { ...context, stdin });
          expect([code, context.stderrText()]).toEqual([0, expect.stringContaining("done: 2 ")]);
          expect(accepted(service, "a").at(-1)?.document.sections).toEqual([{ text: "é😀" }]);
        }
      }
      const half = await run(service, little.subarray(0, -1), ...pair);
      expect(half.stderr).toContain("stdin: begins as UTF-16, but is not valid UTF-16");
      expect(half.code).toBe(10);
    });

    it("refuses what is no input", async () => {
      const service = await startTestService();
      const { folder: cwd, env } = service;
      for (const [args, stdin, message] of [
        [["-", "docs"], "", "cannot be combined with other paths"],
        [["-"], "", "0 documents found on stdin"],
        [["-"], "\n \n", "0 documents found on stdin"],
        [["-", "--id", "x"], "{}", "--id names one document"],
        [["-", "--format", "markdown"], "x", "needs an id"],
        [["-", "--format", "pdf"], "x", "stdin must be NDJSON or one text"],
        [["-", "--format", "markdown", "--id", " "], "x", "option '--id <id>' argument"],
        [["-", "--format", "markdown", "--id", "x"], "", "0 documents found on stdin"],
        [["docs", "--id", "x"], "", "names the one document on stdin"],
      ] as const) {
        const context = createTestContext({ cwd, env, stdin });
        expect(await main(["ingest", ...args, ...pair], context), args.join()).toBe(2);
        expect(context.stderrText()).toContain(message);
      }
      expect(service.sandbox.ledger.documents.size).toBe(0);
    });

    it("takes nothing for enough with --allow-empty", async () => {
      const service = await startTestService();
      expect(await run(service, "", ...pair, "--allow-empty")).toMatchObject({ code: 0 });
    });

    it("never waits for a terminal", async () => {
      const { folder: cwd, env } = await startTestService();
      const context = createTestContext({ cwd, env, isTTY: true });
      expect(await main(["ingest", "-", ...pair], context)).toBe(2);
      expect(context.stderrText()).toContain("stdin is a terminal");
    });

    it("refuses documents without a pair, and fails those that come later", async () => {
      const service = await startTestService();
      const none = await run(service, toLines(document("a")));
      expect(none.code).toBe(2);
      expect(none.stderr).toContain("no cc_pair_id");
      const some = await run(
        service,
        toLines({ document: document("a"), cc_pair_id: 2 }, document("b")),
      );
      expect(some.code).toBe(10);
      expect(some.stderr).toContain("stdin:2:1: no cc_pair_id; ");
      expect(accepted(service, "a")).toHaveLength(1);
    });

    it("stops at a pair that is not there, before anything is read where it is the run's", async () => {
      const service = await startTestService();
      const own = await run(service, toLines(document("a")), "--cc-pair-id", "999");
      expect(own.code).toBe(9);
      expect(own.stderr).toContain("no pair 999; nothing was sent");
      const met = await run(
        service,
        toLines(document("a"), { document: document("b"), cc_pair_id: 999 }),
      );
      expect(met.code).toBe(2);
      const line = await run(service, toLines({ document: document("b"), cc_pair_id: 999 }));
      expect(line.code).toBe(9);
      expect(service.sandbox.ledger.documents.size).toBe(0);
    });

    it("takes no more from stdin than it can send", async () => {
      const { folder: cwd, env, sandbox } = await startTestService();
      let most = 0;
      const stream = Readable.from(
        (function* () {
          for (let taken = 0; taken < 60; taken++) {
            most = Math.max(most, taken - sandbox.ledger.documents.size);
            yield Buffer.from(toLines(document(`doc ${taken}`)));
          }
        })(),
      );
      const stdin = { isTTY: false, stream, [Symbol.asyncIterator]: () => stream.iterator() };
      const context = { ...createTestContext({ cwd, env }), stdin };
      expect(await main(["ingest", "-", ...pair, "--concurrency", "4"], context)).toBe(0);
      // What is in flight, and the stream's own buffer of 16 pieces.
      expect(most).toBeLessThan(40);
    });

    it("keeps no state with --no-state", async () => {
      const service = await startTestService();
      const stdin = toLines(document("a"));
      await run(service, stdin, ...pair, "--no-state");
      await run(service, stdin, ...pair, "--no-state");
      expect(accepted(service, "a")).toHaveLength(2);
    });

    it("stops after --max-failures", async () => {
      const service = await startTestService();
      const bad = Array.from({ length: 50 }, () => "bad");
      const { code, stderr } = await run(service, toLines(...bad), ...pair, "--max-failures", "3");
      expect(code).toBe(10);
      expect(stderr).toContain("stopped after 3 failed documents");
    });

    it("tells line by line and as a whole in JSON", async () => {
      const service = await startTestService();
      const stdin = toLines(document("a"), "bad");
      const { stdout } = await run(service, stdin, ...pair, "--output", "ndjson");
      const lines = stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line) as Json);
      expect(lines).toContainEqual(
        expect.objectContaining({ type: "document", status: "created", id: "a", path: "", row: 1 }),
      );
      expect(lines).toContainEqual(
        expect.objectContaining({ type: "document", status: "failed", path: "", row: 2 }),
      );
      expect(lines.at(-1)).toMatchObject({
        type: "result",
        status: "partial",
        planned: 2,
        counts: { created: 1, failed: 1 },
      });
    });

    it("plans without a key and a service", async () => {
      const service = await startTestService();
      await run(service, toLines(document("a"), document("b")), ...pair);
      const { documents } = service.sandbox.ledger;
      const before = documents.size;
      const { KNOWCTL_API_KEY: _, ...env } = service.env;
      const stdin = toLines(
        document("a"),
        document("b", "New."),
        document("c"),
        "bad",
        document("c"),
      );
      const context = createTestContext({ cwd: service.folder, env, stdin });
      expect(await main(["ingest", "-", ...pair, "--dry-run"], context)).toBe(10);
      expect(
        context
          .stdoutText()
          .split("\n")
          .map((line) => line.split("\t").slice(0, 3)),
      ).toEqual([
        ["update", "stdin:2", "b"],
        ["create", "stdin:3", "c"],
        ["failed", "stdin:4", ""],
        ["failed", "stdin:5", ""],
        [""],
      ]);
      expect(documents.size).toBe(before);
      expect(context.stderrText()).not.toContain(testKey);
    });

    it("names the document that the service refused, and forgets it once it is sent", async () => {
      const service = await startTestService({ faults: { rules: [refused] } });
      const stdin = toLines(document("a"));
      const failed = await run(service, stdin, ...pair);
      expect(failed.code).toBe(10);
      expect(failed.stderr).toContain("stdin:1: a: ");
      expect(await run(service, stdin, ...pair)).toMatchObject({ code: 0 });
    });
  });

  describe("ingest - --format", () => {
    const text = "---\nid: other\ntags: [x]\n---\n# Leave\n\nAsk.\n";

    it("maps one text as a file of the name of its id", async () => {
      const service = await startTestService();
      const args = [...pair, "--format", "markdown", "--id", "hr/leave.md", "--link", "/{slug}"];
      const done = await run(service, text, ...args, "--link-base", "https://wiki.example.com");
      expect(done).toMatchObject({ code: 0 });
      expect(accepted(service, "hr/leave.md")).toMatchObject([
        {
          cc_pair_id: 2,
          document: {
            id: "hr/leave.md",
            semantic_identifier: "Leave",
            sections: [{ text: "# Leave\n\nAsk.\n", link: "https://wiki.example.com/hr/leave" }],
            metadata: { tags: ["x"] },
          },
        },
      ]);
      expect([...service.sandbox.ledger.documents.keys()]).toEqual(["hr/leave.md"]);
      const again = await run(service, text, ...args, "--link-base", "https://wiki.example.com");
      expect(again.stderr).toContain("1 unchanged");
    });

    it("forgets the failure of a text once its id is accepted", async () => {
      const service = await startTestService();
      const args = [...pair, "--format", "markdown", "--id", "leave"];
      expect(await run(service, "---\ntitle: [\n---\nx", ...args)).toMatchObject({ code: 10 });
      expect(await run(service, "x", ...args)).toMatchObject({ code: 0 });
      const retry = createTestContext({ cwd: service.folder, env: service.env });
      expect(await main(["retry"], retry)).toBe(0);
    });

    it("tells what is wrong with a text", async () => {
      const service = await startTestService();
      for (const [stdin, exit, message] of [
        ["---\ntitle: [\n---\nx", 10, "failed stdin:3:1: front matter"],
        ["---\ndraft: true\n---\nx", 0, "1 skipped"],
        ["\0", 10, "stdin: a NUL byte"],
      ] as const) {
        const args = [...pair, "--format", "markdown", "--id", "leave"];
        const { code, stderr } = await run(service, stdin, ...args);
        expect(stderr).toContain(message);
        expect(code).toBe(exit);
      }
    });
  });
});

describe("stdin rows", () => {
  async function run(service: TestService, stdin: string | Buffer, ...args: string[]) {
    const { folder: cwd, env } = service;
    const context = createTestContext({ cwd, env, stdin: stdin as string });
    const code = await main(["ingest", "-", ...pair, ...args], context);
    return { code, stdout: context.stdoutText(), stderr: context.stderrText() };
  }

  const map = ["--map", "id=sku,title=name,text=body"];
  const csv = 'sku,name,body,size\nc1,Chair,"Four\nlegs.",40\nc2,Table,One top.,80\n';
  const tsv = csv.replaceAll(",", "\t");
  const objects = [
    { sku: "c1", name: "Chair", body: "Four\nlegs.", size: 40 },
    { sku: "c2", name: "Table", body: "One top.", size: 80 },
  ];
  const ndjson = objects.map((each) => `${JSON.stringify(each)}\n`).join("");

  describe("ingest - with rows", () => {
    it("maps each to a document, in each format", async () => {
      const service = await startTestService();
      const mapped = [...map, "--metadata", "team=x", "--link", "https://x.example/{id}"];
      for (const [format, stdin] of [
        ["csv", csv],
        ["csv", gzipSync(csv)],
        ["csv", Buffer.from(`\ufeff${csv}`, "utf16le")],
        ["tsv", tsv],
        ["ndjson", ndjson],
        ["json", JSON.stringify(objects)],
      ] as const) {
        service.sandbox.ledger.documents.clear();
        const args = ["--format", format, ...mapped];
        const sent = await run(service, stdin, ...args, "--force");
        expect(sent, format).toMatchObject({ code: 0, stdout: "" });
        expect(acceptedIds(service)).toEqual(["c1", "c2"]);
        expect(lastAccepted(service, "c1")).toMatchObject({
          title: "Chair",
          sections: [{ text: "Four\nlegs.", link: "https://x.example/c1" }],
          metadata: { size: "40", team: "x" },
        });
        expect((await run(service, stdin, ...args)).stderr).toContain("2 unchanged");
      }
    });

    it("of NDJSON needs no --format with --map, and takes documents among them", async () => {
      const service = await startTestService();
      const document = { id: "d", semantic_identifier: "D", sections: [{ text: "x" }] };
      const stdin = `${ndjson}\n${JSON.stringify({ document, cc_pair_id: 3 })}\n`;
      const { folder: cwd, env } = service;
      const context = createTestContext({ cwd, env, stdin });
      expect(await main(["ingest", "-", ...map, "--dry-run", ...pair], context)).toBe(0);
      expect(await run(service, stdin, ...map)).toMatchObject({ code: 0 });
      expect(acceptedIds(service)).toEqual(["c1", "c2", "d"]);
    });

    it("sends what is whole, and names the rest", async () => {
      const service = await startTestService();
      for (const [format, stdin, reasons] of [
        [
          "csv",
          `${csv}c3,x\n${csv.split("\n").at(-2)}\n`,
          [
            "stdin:5:1: expected 4 columns, found 2",
            'stdin:6:1: id "c2" names the same document as line 4',
          ],
        ],
        [
          "csv",
          `${csv}c3,Lamp,"never\nclosed,7\n`,
          ["stdin:5:1: a quote opens in this row and is never closed"],
        ],
        [
          "csv",
          `${csv},Lamp,Light.,7\n`,
          ["stdin:5:1: a row from stdin needs an id; name its column"],
        ],
        ["csv", `${csv}c3,Lamp,${testKey},7\n`, ["stdin:5:1: it contains a key of a profile"]],
        [
          "csv",
          Buffer.concat([Buffer.from(`${csv}c3,`), Buffer.from([0xfc])]),
          ["stdin: not valid UTF-8 at byte"],
        ],
        [
          "ndjson",
          Buffer.concat([Buffer.from([0xfc, 10]), Buffer.from(`{\n${ndjson}`)]),
          ["stdin:1:1: not valid UTF-8 at byte 0", "stdin:2:2: JSON is broken at the end"],
        ],
        [
          "json",
          `${JSON.stringify(objects).slice(0, -1)},\n{"sku":}]`,
          ['stdin:2:8: JSON is broken at "}"'],
        ],
      ] as const) {
        service.sandbox.ledger.documents.clear();
        const { code, stderr } = await run(service, stdin, "--format", format, ...map, "--force");
        expect(code).toBe(10);
        for (const reason of reasons) expect(stderr).toContain(reason);
        expect(acceptedIds(service)).toEqual(["c1", "c2"]);
      }
    });

    it("sends nothing where the map names a column that is not there", async () => {
      const service = await startTestService();
      const { code, stderr } = await run(service, csv, "--format", "csv", "--map", "text=boddy");
      expect(stderr).toContain("stdin:1:1: no column boddy, which --map names");
      expect(code).toBe(10);
      const members = await run(service, ndjson, ...map, "--map", "owner=who");
      expect(members.stderr).toContain("stdin: no row has a member who, which --map names");
      expect(members.code).toBe(10);
    });

    it("refuses flags that would have no effect", async () => {
      const service = await startTestService();
      for (const [args, message] of [
        ["--format csv --sections headings", "--sections: these flags"],
        ["--format csv --updated-at mtime", "--updated-at: these flags need files"],
        ["--format json --id x", "--id names one document; each row has its own id"],
        [`--format text --id x ${map.join(" ")}`, "--map: these flags need files"],
      ] as const) {
        const { code, stderr } = await run(service, csv, ...args.split(" "));
        expect(stderr).toContain(message);
        expect(code).toBe(2);
      }
      expect(service.sandbox.ledger.documents.size).toBe(0);
    });

    it.each([
      ["csv", "id,text\n", (id: number) => `${id},"a\n${id}"\n`],
      ["json", "[", (id: number) => `${id > 0 ? "," : ""}{"id":"${id}","text":"a"}`],
    ] as const)("of %s takes no more from stdin than it can send", async (format, head, row) => {
      const { folder: cwd, env, sandbox } = await startTestService();
      let most = 0;
      const stream = Readable.from(
        (function* () {
          yield Buffer.from(head);
          for (let taken = 0; taken < 60; taken++) {
            most = Math.max(most, taken - sandbox.ledger.documents.size);
            yield Buffer.from(row(taken));
          }
          if (format === "json") yield Buffer.from("]");
        })(),
      );
      const stdin = { isTTY: false, stream, [Symbol.asyncIterator]: () => stream.iterator() };
      const context = { ...createTestContext({ cwd, env }), stdin };
      const args = ["ingest", "-", ...pair, "--format", format, "--concurrency", "4"];
      expect(await main(args, context)).toBe(0);
      expect(sandbox.ledger.documents.size).toBe(60);
      // What is in flight, and the stream's own buffer of 16 pieces.
      expect(most).toBeLessThan(40);
    });
  });
});
