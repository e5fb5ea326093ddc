import { Readable } from "node:stream";
import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { main } from "../../../main.ts";
import { startTestService, testKey, type TestService } from "../../../service.ts";
import { createTestContext } from "../../../support.ts";
import { acceptedIds, lastAccepted } from "../support.ts";

const pair = ["--cc-pair-id", "2"];

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
  it.each([
    ["csv", csv],
    ["csv", gzipSync(csv)],
    ["csv", Buffer.from(`\ufeff${csv}`, "utf16le")],
    ["tsv", tsv],
    ["ndjson", ndjson],
    ["json", JSON.stringify(objects)],
  ])("of %s maps each to a document", async (format, stdin) => {
    const service = await startTestService();
    const args = [
      "--format",
      format,
      ...map,
      "--metadata",
      "team=x",
      "--link",
      "https://x.example/{id}",
    ];
    const first = await run(service, stdin, ...args);
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(acceptedIds(service)).toEqual(["c1", "c2"]);
    expect(lastAccepted(service, "c1")).toMatchObject({
      title: "Chair",
      sections: [{ text: "Four\nlegs.", link: "https://x.example/c1" }],
      metadata: { size: "40", team: "x" },
    });
    expect((await run(service, stdin, ...args)).stderr).toContain("2 unchanged");
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

  it.each([
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
    ["csv", `${csv},Lamp,Light.,7\n`, ["stdin:5:1: a row from stdin needs an id; name its column"]],
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
  ])("of %s sends what is whole, and names the rest: %#", async (format, stdin, reasons) => {
    const service = await startTestService();
    const { code, stderr } = await run(service, stdin, "--format", format, ...map);
    expect(code).toBe(10);
    for (const reason of reasons) expect(stderr).toContain(reason);
    expect(acceptedIds(service)).toEqual(["c1", "c2"]);
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

  it.each([
    [["--format", "csv", "--sections", "headings"], "--sections: these flags"],
    [["--format", "csv", "--updated-at", "mtime"], "--updated-at: these flags need files"],
    [["--format", "json", "--id", "x"], "--id names one document; each row has its own id"],
    [["--format", "text", "--id", "x", ...map], "--map: these flags need files"],
  ])("refuses %j, which would have no effect", async (args, message) => {
    const service = await startTestService();
    const { code, stderr } = await run(service, csv, ...args);
    expect(stderr).toContain(message);
    expect(code).toBe(2);
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
        for (let taken = 0; taken < 400; taken++) {
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
    expect(sandbox.ledger.documents.size).toBe(400);
    // What is in flight, and the stream's own buffer of 16 pieces.
    expect(most).toBeLessThan(40);
  });
});
