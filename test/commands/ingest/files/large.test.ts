import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { acceptedIds, runIngest } from "../support.ts";

// Beyond the first 32 new files, a file is only glanced at before others are sent.
const many = Object.fromEntries(
  Array.from({ length: 60 }, (_, index) => [`d/a${1000 + index}.md`, `Text ${index}.\n`]),
);
const files = {
  ...many,
  "d/x-bad.md": "---\nupdated: never\n---\nText.\n",
  "d/x-draft.md": "---\ndraft: true\n---\nText.\n",
  "d/x-empty.md": "---\ntitle: T\n---\n",
  "d/x-own.md": "---\nid: own\n---\nText.\n",
  "d/x-same.txt": "Text 0.\n",
};

it("tells and records of files that are read late what it does of the others", async () => {
  const service = await startTestService({ files });
  const { stderr, error } = await runIngest(service, ["d"]);
  expect(error).toMatchObject({ exit: "partial" });
  expect(stderr).toContain("failed d/x-bad.md:2:1: front matter updated");
  expect(stderr).toContain("skipped 1: draft: true in the front matter");
  expect(stderr).toContain("skipped 1: empty: no text after the front matter");
  expect(acceptedIds(service)).toEqual([...Object.keys(many), "d/x-same.txt", "own"].toSorted());
  writeFileSync(join(service.folder, "d/x-bad.md"), "Text.\n");
  const second = await runIngest(service, ["d"]);
  expect(second.error).toBeUndefined();
  expect(second.stderr).toContain("1 created");
  expect(second.stderr).toContain("62 unchanged");
  expect(second.stderr).toContain("skipped 1: draft");
});

it("finds the id of a file that is read late twice before anything is sent", async () => {
  const service = await startTestService({
    files: { ...files, "d/y.md": "---\nid: d/x-same.txt\n---\nText.\n" },
  });
  const { stderr, error } = await runIngest(service, ["d"]);
  expect(error).toMatchObject({
    exit: "usage",
    details: ["d/x-same.txt: d/x-same.txt and d/y.md"],
  });
  expect([stderr.includes("created"), acceptedIds(service)]).toEqual([false, []]);
});

it("sends a moved file under its new id, and knows what was accepted for another path", async () => {
  const service = await startTestService({ files: many });
  await runIngest(service, ["d"]);
  rmSync(join(service.folder, "d/a1000.md"));
  const moved = { "d/b.md": "Text 0.\n" };
  const fresh = Object.fromEntries(
    Object.keys(many).map((path) => [path.replace("d/", "d/e/"), "Text.\n"]),
  );
  writeFiles(service.folder, { ...fresh, ...moved });
  const { stderr } = await runIngest(service, ["d"]);
  expect(stderr).toContain("61 created");
  expect(stderr).toContain("59 unchanged");
});

const hundreds = (text: string): Record<string, string> =>
  Object.fromEntries(Array.from({ length: 1200 }, (_, index) => [`d/${10_000 + index}.md`, text]));
const linesOf = (service: TestService): string[] =>
  service.sandbox.ledger.requests.map(({ method }) => method);

it("asks for the pairs once, before anything is sent, and never when nothing is to be sent", async () => {
  const service = await startTestService({ files: hundreds("Text.\n") });
  await runIngest(service, ["d"]);
  const first = linesOf(service);
  expect([first[0], first.filter((each) => each === "GET").length]).toEqual(["GET", 1]);
  expect(acceptedIds(service)).toHaveLength(1200);
  await runIngest(service, ["d"]);
  expect(linesOf(service)).toHaveLength(first.length);
  const elsewhere = await runIngest(service, ["d"], { ccPairId: 99 });
  expect(elsewhere.error).toMatchObject({ exit: "not-found" });
  expect(elsewhere.stderr).not.toContain("created");
});

it("sends nothing where an id comes twice among more than a thousand", async () => {
  const service = await startTestService({
    files: { ...hundreds("Text.\n"), "d/z.md": "---\nid: d/10000.md\n---\nText.\n" },
  });
  expect((await runIngest(service, ["d"])).error).toMatchObject({ exit: "usage" });
  expect(linesOf(service).filter((each) => each !== "GET")).toEqual([]);
});
