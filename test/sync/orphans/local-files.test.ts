import { chmodSync, existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { dialects } from "../../../src/api/dialects.ts";
import { openDatabase, openForReading } from "../../../src/database.ts";
import { findLocalFiles } from "../../../src/sync/state/look-ups.ts";
import { temporaryFolder } from "../../support.ts";
import { anyOwner, openState } from "../open-state.ts";

const baseUrl = "https://host/prefix";
const now = (): number => 0;

async function stateWith(
  documents: [id: string, path: string, target?: string][],
): Promise<string> {
  const folder = join(temporaryFolder(), ".knowctl");
  const { state } = await openState(folder, now);
  const shared = { part: 0, whole: "w" };
  state.save({
    files: documents.map(([id, path]) => ({
      ...shared,
      path,
      seen: "",
      content: "c",
      document: { id, ccPairId: 7, whole: "w" },
      skipped: undefined,
      target: undefined,
    })),
    accepted: documents.map(([id, path, target = `${baseUrl}#7`]) => ({
      ...shared,
      target,
      id,
      path,
      fields: "",
      updatedAt: undefined,
      storedId: undefined,
      sentAtMs: 1,
    })),
  });
  state.close();
  return folder;
}

const rules = { rules: anyOwner, onRefused: () => {} };

describe("findLocalFiles", () => {
  const { storedId } = dialects.onyx;
  it.each<[name: string, own: string, stored: string, rule: typeof storedId, found: boolean]>([
    ["the id itself", "docs/a.md", "docs/a.md", undefined, true],
    ["an encoded id", "docs/my file (ä).md", "docs%2Fmy_file_%28%C3%A4%29.md", storedId, true],
    ["the same without knowing the rule", "docs/my file.md", "docs%2Fmy_file.md", undefined, true],
    ["an id with a percent sign", "100%/a.md", "100%25%2Fa.md", storedId, true],
    ["an id that cannot be decoded", "100%.md", "100%.md", undefined, true],
    ["another id", "docs/a.md", "docs/b.md", storedId, false],
    ["an id that only looks alike", "a_b.md", "a b.md", storedId, false],
  ])("finds %s", async (_name, own, stored, rule, found) => {
    const folder = await stateWith([[own, "docs/file.md"]]);
    const files = await findLocalFiles(folder, {
      baseUrl,
      ...rules,
      ids: [stored, "gone"],
      storedId: rule,
    });
    expect([...files]).toEqual(found ? [[stored, "docs/file.md"]] : []);
  });

  it("knows only what was sent to this service, whatever the pair", async () => {
    const folder = await stateWith([
      ["a", "a.md", "https://other#7"],
      ["b", "b.md", `${baseUrl}#9`],
      ["c", "c.md", `${baseUrl}/more#9`],
    ]);
    const files = await findLocalFiles(folder, { baseUrl, ...rules, ids: ["a", "b", "c"] });
    expect([...files]).toEqual([["b", "b.md"]]);
  });

  it("makes nothing where there is no state", async () => {
    const folder = join(temporaryFolder(), ".knowctl");
    expect((await findLocalFiles(folder, { baseUrl, ...rules, ids: ["a"] })).size).toBe(0);
    expect(existsSync(folder)).toBe(false);
  });

  it("finds nothing, and changes nothing, in a file that is no state", async () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "state.db"), "no database at all, whatever its name says");
    expect((await findLocalFiles(folder, { baseUrl, ...rules, ids: ["a"] })).size).toBe(0);
    expect(readdirSync(folder)).toEqual(["state.db"]);
  });

  it("finds nothing in a file that may not be read", async () => {
    const folder = await stateWith([["a", "a.md"]]);
    chmodSync(join(folder, "state.db"), 0);
    await expect(findLocalFiles(folder, { baseUrl, ...rules, ids: ["a"] })).resolves.toBeInstanceOf(
      Map,
    );
  });

  it("asks no view", async () => {
    const folder = temporaryFolder();
    const database = await openDatabase(join(folder, "state.db"));
    database.exec(
      `CREATE TABLE accepted (target, id); INSERT INTO accepted VALUES ('${baseUrl}#7', 'a');
       CREATE VIEW files AS SELECT 'a' AS id, 'a.md' AS path`,
    );
    database.close();
    expect((await findLocalFiles(folder, { baseUrl, ...rules, ids: ["a"] })).size).toBe(0);
  });
});

describe("openForReading", () => {
  it("writes nothing", async () => {
    const folder = await stateWith([["a", "a.md"]]);
    const database = await openForReading(join(folder, "state.db"));
    expect(() => database.exec("DELETE FROM files")).toThrow(/readonly/);
    database.close();
  });
});
