import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { FaultAction, FaultRule } from "../../../src/sandbox/http/faults.ts";
import {
  startTestService,
  writeFiles,
  type TestService,
  type TestServiceOptions,
} from "../../service.ts";
import { runIn } from "../state/support.ts";
import { storedIn } from "../status/support.ts";

const removal = "--yes --max-delete 100%";
const zebra = "docs/zebra.md";
const gone = { [zebra]: "# Zebra\n", "docs/own.md": "# Own\n" };
// Files that stay: a folder without any recorded file is refused.
const left = Object.fromEntries(["1", "2"].map((name) => [`docs/left-${name}.md`, "# Left\n"]));
const files = { ...gone, ...left };

/** Another folder of the same service, with a state of its own. */
function otherProject({ folder, env }: TestService): Pick<TestService, "folder" | "env"> {
  const other = join(folder, "../other");
  mkdirSync(join(other, ".git"), { recursive: true });
  writeFiles(other, { [zebra]: "# Zebra of the others\n" });
  return { folder: other, env };
}

/** Two projects, in the pairs 2 and 7, that share docs/zebra.md; the first has no files any more. */
async function startTwo(options: TestServiceOptions = {}) {
  const service = await startTestService({ dialect: "onyx", files, ...options });
  expect(await runIn(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 0 });
  const other = otherProject(service);
  expect(await runIn(other, "ingest docs --cc-pair-id 7 --overwrite")).toMatchObject({ code: 0 });
  for (const path of Object.keys(gone)) rmSync(join(service.folder, path));
  return { service, other };
}

const deletions = ({ sandbox }: TestService): number =>
  sandbox.ledger.requests.filter(({ method }) => method === "DELETE").length;

describe("a document that another pair has too", () => {
  it("is kept, and named with the ways on; the others are deleted", async () => {
    const { service, other } = await startTwo();
    const ran = await runIn(service, `prune docs ${removal}`);
    expect(ran.stderr).toContain("kept: docs/zebra.md (pair 7 (");
    expect(ran.stderr).toContain("error: 1 document was kept: another pair has it too");
    expect(ran.stderr).toContain("knowctl state forget ID");
    expect(ran.stderr).toContain("knowctl prune --class shared");
    expect(ran.code).toBe(10);
    expect(deletions(service)).toBe(1);
    expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
    expect((await runIn(other, "ingest docs --cc-pair-id 7")).stderr).toContain("1 unchanged");
    expect(await runIn(service, `state forget ${zebra} --yes`)).toMatchObject({ code: 0 });
    expect(await runIn(service, `prune docs ${removal}`)).toMatchObject({ code: 0 });
    expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
  });

  it("is a row of the output", async () => {
    const { service } = await startTwo();
    const ran = await runIn(
      service,
      `prune docs ${removal} --output tsv --fields status,path,reason`,
    );
    const reason = "kept: pair 7 (Release notes) has it too";
    const rows = ["deleted\tdocs/own.md\tthe file is gone", `kept\t${zebra}\t${reason}`];
    expect(ran.stdout.trim().split("\n").toSorted()).toEqual(rows);
  });

  it("is no removal notice either", async () => {
    const { service } = await startTwo();
    const ran = await runIn(service, `prune docs --tombstone ${removal}`);
    expect(ran.code).toBe(10);
    expect(service.sandbox.ledger.documents.get(zebra)).toHaveLength(2);
    expect(service.sandbox.ledger.documents.get("docs/own.md")).toHaveLength(2);
  });

  it("is removed with --class shared", async () => {
    const { service } = await startTwo();
    expect(await runIn(service, `prune docs --class shared ${removal}`)).toMatchObject({ code: 0 });
    expect(await storedIn(service, 7)).toEqual([]);
  });

  it("is found although it arrived while the question stood", async () => {
    const service = await startTestService({ dialect: "onyx", files });
    await runIn(service, "ingest docs --cc-pair-id 2");
    for (const path of Object.keys(gone)) rmSync(join(service.folder, path));
    expect((await runIn(service, "prune docs --dry-run --max-delete 100%")).code).toBe(0);
    await runIn(otherProject(service), "ingest docs --cc-pair-id 7 --overwrite");
    expect((await runIn(service, `prune docs ${removal}`)).code).toBe(10);
    expect(await storedIn(service, 7)).toEqual(["docs%2Fzebra.md"]);
  });
});

const connectors = "/api/manage/admin/connector/status";
const pairList = "/api/onyx-api/connector-docs/7";
const failing: [string, string, FaultAction, number][] = [
  ["the list of a pair is refused", pairList, { status: 403, body: { detail: "no" } }, 4],
  ["the list of connectors is refused", connectors, { status: 403, body: { detail: "no" } }, 4],
  ["the list of a pair fails", pairList, { status: 500 }, 8],
  ["the list of connectors fails", connectors, { status: 500 }, 8],
  ["the list ends in the middle", pairList, { status: 200, body: '[{"document_id":"a"},{"d' }, 8],
  ["the list is cut", pairList, { body: '[{"document_id":"a"},{"d', cutAfterBytes: 20 }, 8],
  ["the list has another shape", pairList, { status: 200, body: { items: [] } }, 8],
  ["ids have a wrong type", pairList, { status: 200, body: [{ document_id: 7 }] }, 8],
  [
    "a pair has an id of a wrong type",
    connectors,
    { status: 200, body: [{ cc_pair_id: 2 }, { cc_pair_id: "7" }] },
    8,
  ],
  [
    "a pair is unknown",
    connectors,
    { status: 200, body: [{ cc_pair_id: 2 }, { cc_pair_id: 99 }] },
    4,
  ],
  ["the own pair is not listed", connectors, { status: 200, body: [{ cc_pair_id: 7 }] }, 4],
];

describe("nothing is removed", () => {
  it.each(failing)("where %s", async (_, path, action, code) => {
    const rules: FaultRule[] = [];
    const { service } = await startTwo({ faults: { rules } });
    rules.push({ when: { method: "GET", path }, do: action });
    const ran = await runIn(service, `prune docs ${removal}`);
    expect(ran.code).toBe(code);
    expect(ran.stderr).toMatch(/nothing was removed|list connectors/);
    expect(deletions(service)).toBe(0);
    expect((await storedIn(service, 2)).length).toBeGreaterThan(0);
  });

  it("where the service lists the same for every pair", async () => {
    const rules: FaultRule[] = [];
    const { service } = await startTwo({ faults: { rules } });
    const body = [zebra, "docs/own.md"].map((id) => ({ document_id: id.replace("/", "%2F") }));
    rules.push({
      when: { method: "GET", path: "/api/onyx-api/connector-docs/" },
      do: { status: 200, body },
    });
    expect((await runIn(service, `prune docs ${removal}`)).code).toBe(10);
    expect(deletions(service)).toBe(0);
  });
});

describe("an interface that cannot list", () => {
  it("is named before the question", async () => {
    const { service } = await startTwo({ dialect: "standard" });
    const answered = await runIn(service, "prune docs --tombstone --max-delete 100%", {
      answer: "n\n",
    });
    expect(answered.stderr).toMatch(/this service cannot be asked[^?]*Replace 2 documents/);
    expect(service.sandbox.ledger.documents.get(zebra)).toHaveLength(2);
  });
});

it("an adopted document outside the prefix is not removed without --class adopted", async () => {
  const other = "---\nid: theirs\n---\n# Theirs\n";
  const service = await startTestService({
    dialect: "onyx",
    files: { "docs/a.md": other, "docs/b.md": "# B\n", ...left },
  });
  await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
  rmSync(join(service.folder, ".knowctl"), { recursive: true });
  const again = await runIn(service, "ingest docs --cc-pair-id 2 --id-prefix kb/");
  expect(again.stderr).toContain("adopted");
  for (const name of ["a", "b"]) rmSync(join(service.folder, `docs/${name}.md`));
  const ran = await runIn(service, `prune docs ${removal}`);
  expect(ran.code).toBe(0);
  expect(ran.stderr).toContain("1 adopted");
  const stay = Object.keys(left).map((path) => `kb%2F${path.replace("/", "%2F")}`);
  expect((await storedIn(service, 2)).toSorted()).toEqual([...stay, "theirs"]);
  expect((await runIn(service, `prune docs --class adopted ${removal}`)).code).toBe(0);
  expect((await storedIn(service, 2)).toSorted()).toEqual(stay);
});
