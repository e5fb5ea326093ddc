import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openDatabase } from "../../../../src/database.ts";
import { main } from "../../../main.ts";
import { startTestService, writeFiles, type TestService } from "../../../service.ts";
import { createTestContext, temporaryFolder } from "../../../support.ts";
import { acceptedIds } from "../support.ts";

const commands = [
  "ingest . --cc-pair-id 2",
  "ingest . --cc-pair-id 2 --dry-run",
  "retry --cc-pair-id 2",
  "prune . --cc-pair-id 2 --tombstone --dry-run",
  "status . --cc-pair-id 2",
  "explain a.md",
  "state list",
  "state export",
  "state forget --all --yes",
];

async function run(service: TestService, line: string, uid?: number, env = {}) {
  const context = createTestContext({ cwd: service.folder, env: { ...service.env, ...env } });
  const code = await main(line.split(" "), { ...context, uid: uid ?? context.uid });
  return { code, stderr: context.stderrText() };
}

describe("a state that came with the checkout", () => {
  it("is not used through a link", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n" } });
    const outside = temporaryFolder();
    mkdirSync(join(service.folder, ".knowctl"));
    symlinkSync(join(outside, "made.db"), join(service.folder, ".knowctl", "state.db"));
    for (const line of commands) {
      const { code, stderr } = await run(service, line);
      expect(stderr).toMatch(/state\.db is a symbolic link: not used\n.*remove the link/);
      // Only an upload has the flag.
      expect(stderr).toContain("an upload also runs with --no-state");
      expect(code, line).toBe(14);
    }
    expect(readdirSync(outside)).toEqual([]);
    expect(acceptedIds(service)).toEqual([]);
  });

  it.skipIf(process.platform === "win32")(
    "is not used when it belongs to another user, unless the environment says so",
    async () => {
      const service = await startTestService({ files: { "a.md": "# A\n" } });
      expect(await run(service, "ingest . --cc-pair-id 2")).toMatchObject({ code: 0 });
      for (const line of commands) {
        const { code, stderr } = await run(service, line, 4_000_000);
        expect(stderr).toContain("belongs to another user");
        expect(stderr).toContain("KNOWCTL_TRUST_PROJECT=1");
        expect(code, line).toBe(14);
        const accepted = await run(service, line, 4_000_000, { KNOWCTL_TRUST_PROJECT: "1" });
        expect(accepted, line).toMatchObject({ code: 0 });
      }
    },
  );

  it("is named where its options cannot be read", async () => {
    const bad = "---\nupdated: never\n---\n# B\n";
    const service = await startTestService({ files: { "docs/a.md": "# A\n", "docs/b.md": bad } });
    expect(await run(service, "ingest docs --cc-pair-id 2")).toMatchObject({ code: 10 });
    writeFiles(service.folder, { "docs/a.md": "---\nid: other\n---\n# A\n", "docs/b.md": "# B\n" });
    const path = join(service.folder, ".knowctl", "state.db");
    for (const [options, line] of [
      ["{", "retry"],
      ["{}", "retry --dry-run"],
      ["null", "ingest docs --cc-pair-id 2 --tag x"],
      ["{", "status docs --cc-pair-id 2"],
      ["{", "state export"],
    ] as const) {
      const database = await openDatabase(path);
      database.prepare("UPDATE options SET json = ?").run(options);
      database.close();
      const { code, stderr } = await run(service, line);
      expect(stderr).toContain(`cannot use the state ${path}: its recorded options cannot be read`);
      expect(code, line).toBe(14);
    }
  });

  /** A service with one sent document, and what puts its state back. */
  async function startSent() {
    const service = await startTestService({ dialect: "onyx", files: { "a.md": "# A\n" } });
    expect(await run(service, "ingest . --cc-pair-id 2")).toMatchObject({ code: 0 });
    const [state, kept] = [".knowctl", "../kept"].map((name) => join(service.folder, name));
    cpSync(state!, kept!, { recursive: true });
    const restore = (): void => {
      rmSync(state!, { recursive: true });
      cpSync(kept!, state!, { recursive: true });
    };
    return { service, path: join(state!, "state.db"), restore };
  }

  it("is not used, and not changed, with what knowctl did not make", async () => {
    const { service, path, restore } = await startSent();
    const contents = async (sql = ""): Promise<unknown> => {
      const database = await openDatabase(path);
      database.exec(sql);
      const master = database
        .prepare("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
        .all();
      const [files] = database.prepare("SELECT count(*) AS n FROM files").all();
      database.close();
      return { master, files };
    };
    // A copy is not in WAL mode: to set it would be a write.
    const copy = join(service.folder, "copy.db");
    for (const made of [
      "CREATE TRIGGER t AFTER INSERT ON meta BEGIN DELETE FROM accepted; END",
      "CREATE VIEW v AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i FROM n) SELECT i FROM n",
      "CREATE TABLE other (a)",
      "CREATE UNIQUE INDEX i ON accepted (path)",
      "DROP TRIGGER accepted_dropped; CREATE TRIGGER accepted_dropped AFTER DELETE ON accepted BEGIN DELETE FROM files; END",
      "DROP TABLE meta; CREATE VIEW meta AS SELECT 'schema' AS key, '6' AS value",
      "DROP TABLE accepted; CREATE TABLE accepted (target, id, path, whole)",
    ]) {
      const crafted = await contents(`${made}; VACUUM INTO '${copy}'`);
      for (const suffix of ["", "-wal", "-shm"]) rmSync(path + suffix, { force: true });
      renameSync(copy, path);
      const bytes = readFileSync(path);
      for (const line of [
        ...commands,
        "verify",
        "prune --yes",
        "state move http://a http://b --yes",
      ]) {
        const { code, stderr } = await run(service, line);
        expect(stderr).toMatch(/state\.db has the \w+ \w+, which knowctl did not make: not used/);
        expect(code, `${line}: ${made}`).toBe(14);
      }
      expect(readFileSync(path).equals(bytes), made).toBe(true);
      expect(readdirSync(join(service.folder, ".knowctl"))).toEqual([".gitignore", "state.db"]);
      expect(await contents()).toEqual(crafted);
      restore();
    }
  });

  it("is not used, and nothing is written beside it, where another program made it", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n" } });
    const folder = temporaryFolder();
    const path = join(folder, "state.db");
    const database = await openDatabase(path);
    database.exec("CREATE TABLE notes (a); PRAGMA journal_mode = DELETE");
    database.close();
    chmodSync(path, 0o644);
    const bytes = readFileSync(path);
    const ran = await run(service, `ingest a.md --cc-pair-id 2 --state ${folder}`);
    expect(ran).toMatchObject({ code: 14, stderr: expect.stringContaining("the table notes") });
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o644);
    expect(readdirSync(folder)).toEqual(["state.db"]);
  });

  it("ends a command that meets a record of another type, or too many targets", async () => {
    const { service, path, restore } = await startSent();
    const invalid = /the state has a record with an invalid (?:sent_at|whole|options)/;
    const readers = ["state list", "state export", "verify"];
    const senders = ["status", "prune --yes", "ingest . --cc-pair-id 2", "verify"];
    const targets = `WITH RECURSIVE n(i) AS (SELECT 10 UNION ALL SELECT i + 1 FROM n WHERE i < 1010)
      INSERT INTO accepted SELECT '${service.sandbox.url}#' || i, 'a', 'a.md', 0, 'w', '', NULL, NULL, 1, NULL, 1, 'path' FROM n`;
    for (const [change, message, lines] of [
      ["UPDATE accepted SET sent_at = 'abc'", invalid, readers],
      ["UPDATE accepted SET sent_at = 9007199254740991", invalid, readers],
      ["UPDATE accepted SET whole = x'00ff'", invalid, readers],
      ["UPDATE accepted SET options = 'all'", invalid, readers],
      [targets, /the state has more than 1000 targets: not used/, senders],
    ] as const) {
      const database = await openDatabase(path);
      database.exec(change);
      database.close();
      for (const line of lines) {
        const { code, stderr } = await run(service, line);
        expect(stderr, change).toMatch(message);
        expect(code, `${line}: ${change}`).toBe(14);
      }
      restore();
    }
  });

  it("is a failure of the doctor, and no help to a chat", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n\nAlpha.\n" } });
    symlinkSync(temporaryFolder(), join(service.folder, ".knowctl"), "junction");
    const { stderr } = await run(service, "doctor");
    expect(stderr).toContain(".knowctl is a symbolic link: not used");
    expect((await run(service, "chat Alpha")).code).not.toBe(14);
  });

  it("does not matter where none is used", async () => {
    const service = await startTestService({ files: { "a.md": "# A\n" } });
    symlinkSync(join(service.folder, "none"), join(service.folder, ".knowctl"), "junction");
    expect(await run(service, "ingest a.md --cc-pair-id 2 --no-state")).toMatchObject({ code: 0 });
    expect(existsSync(join(service.folder, "none"))).toBe(false);
  });
});
