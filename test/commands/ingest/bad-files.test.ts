import { describe, expect, it } from "vitest";
import { startTestService } from "../../service.ts";
import { acceptedIds, runIngest } from "./support.ts";

const good = { "d/good.md": "Text.\n" };
const latin = (text: string): Buffer => Buffer.from(text, "latin1");
const utf16 = (text: string): Buffer => Buffer.from(`\ufeff${text}`, "utf16le");

describe("one bad file of each format leaves the others alone", () => {
  it.each<[string, string | Buffer, string]>([
    ["x.html", latin("<p>caf\xe9</p>"), "d/x.html"],
    ["x.mdx", latin("caf\xe9"), "d/x.mdx"],
    ["x.rst", latin("caf\xe9"), "d/x.rst"],
    ["x.adoc", latin("caf\xe9"), "d/x.adoc"],
    ["x.csv", latin("title,text\na,caf\xe9\n"), "d/x.csv"],
    ["x.ndjson", latin('{"text":"caf\xe9"}\n'), "d/x.ndjson"],
    ["x.json", "[{]", "d/x.json:1:3"],
    ["x.csv", "title,text\na,b\nc\n", "d/x.csv:3:1"],
    ["x.docx", "no archive", "d/x.docx"],
    ["x.pdf", "no pdf", "d/x.pdf"],
  ])("%s", async (name, content, place) => {
    const service = await startTestService({ files: { ...good, [`d/${name}`]: content } });
    const { stderr, error } = await runIngest(service, ["d/*"]);
    expect(error).toMatchObject({ exit: "partial" });
    expect(stderr).toContain(`failed ${place}: `);
    expect(stderr).toContain("1 failed");
    expect(acceptedIds(service)).toContain("d/good.md");
    expect(stderr).not.toContain("\ufffd");
  });
});

describe("files without a text are skipped", () => {
  it.each(["x.html", "x.mdx", "x.rst", "x.adoc", "x.csv", "x.tsv", "x.ndjson"])(
    "%s",
    async (name) => {
      const service = await startTestService({ files: { ...good, [`d/${name}`]: " \n" } });
      const { stderr, error } = await runIngest(service, ["d/*"]);
      expect([error?.message, acceptedIds(service)]).toEqual([undefined, ["d/good.md"]]);
      expect(stderr).toContain("1 created");
    },
  );
});

it.each(["x.html", "x.mdx", "x.csv", "x.ndjson"])(
  "UTF-16 with a mark is read: %s",
  async (name) => {
    const texts: Record<string, string> = {
      "x.csv": "id,text\ncafé,Grüße\n",
      "x.ndjson": '{"id":"café","text":"Grüße"}\n',
    };
    const content = utf16(texts[name] ?? "<p>Grüße</p>");
    const service = await startTestService({ files: { [`d/${name}`]: content } });
    const { error } = await runIngest(service, [`d/${name}`]);
    expect(error).toBeUndefined();
    expect(acceptedIds(service)).toHaveLength(1);
  },
);

it("two rows with one id are refused before anything is sent", async () => {
  const service = await startTestService({ files: { "d/x.csv": "id,text\na,1\na,2\n" } });
  const { error } = await runIngest(service, ["d/x.csv"]);
  expect(error).toMatchObject({ exit: "usage" });
  expect(error?.details.join(" ")).toContain("a: d/x.csv (row 1) and d/x.csv (row 2)");
  expect(acceptedIds(service)).toEqual([]);
});

it.each([["d/*.nothing"], ["{a,b}".repeat(18)], ["{1..1000000}"]])(
  "%s: exit 2, also with --format",
  async (pattern) => {
    const service = await startTestService({ files: good });
    for (const options of [{}, { format: "text" as const }]) {
      const { error } = await runIngest(service, [pattern], options);
      expect(error).toMatchObject({ exit: "usage" });
    }
  },
);
