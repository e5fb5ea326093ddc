import { chmodSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  holdsPassword,
  parseSharedUrl,
  sharedSecrets,
  type SharedDatabase,
  type SharedMachine,
} from "../../../src/sync/shared/address.ts";
import { connectShared } from "../../../src/sync/shared/connect.ts";
import {
  checkTables,
  createProject,
  findProject,
  migrateTables,
} from "../../../src/sync/shared/tables.ts";
import { CliError } from "../../../src/errors.ts";
import { hasPostgres, newDatabase, startPostgres } from "../../postgres.ts";
import { temporaryFolder } from "../../support.ts";

const waits: number[] = [];
const machine = (env: Record<string, string> = {}): SharedMachine => ({
  env: { HOME: "/nonexistent", ...env },
  uid: process.getuid?.() ?? -1,
  sleep: async (ms) => void waits.push(ms),
  random: () => 0.5,
  signal: new AbortController().signal,
});

async function failureOf(work: Promise<unknown>): Promise<CliError> {
  const error = await work.then(
    () => undefined,
    (each: unknown) => each,
  );
  if (error instanceof CliError) return error;
  throw new Error("expected a CliError", { cause: error });
}

async function withDatabase(
  url: string,
  work: (database: SharedDatabase) => Promise<void>,
  env?: Record<string, string>,
): Promise<void> {
  const database = await connectShared(url, machine(env));
  try {
    await work(database);
  } finally {
    await database.close();
  }
}

describe("the URL of a shared record", () => {
  it.each([
    ["postgres://u:p%40s@db:6543/kb?sslmode=require", ["db", 6543, "kb", "u", "p@s"]],
    ["postgresql://db/kb", ["db", 5432, "kb", undefined, undefined]],
    ["postgres:///kb?host=/run/pg&port=6000", ["/run/pg", 6000, "kb", undefined, undefined]],
    ["postgres://x@localhost/kb?host=%2Frun%2Fpg", ["/run/pg", 5432, "kb", "x", undefined]],
    ["postgres://[::1]:6543/kb", ["::1", 6543, "kb", undefined, undefined]],
    ["postgres://x:p@/kb?host=/run/pg", ["/run/pg", 5432, "kb", "x", "p"]],
    ["postgres://x@:6000/kb", ["localhost", 6000, "kb", "x", undefined]],
  ])("%s", (url, expected) => {
    const { host, port, database, user, password } = parseSharedUrl(url);
    expect([host, port, database, user, password]).toEqual(expected);
  });

  it.each([
    ["no url", "is not a URL"],
    ["mysql://db/kb", "must begin with postgres://"],
    ["postgres://u:sesame@db", "names no database"],
    ["postgres://u:sesame@db/", "names no database"],
    ["postgres://u:sesame@db/a/b", "names no database"],
    ["postgres://u:sesame@db/kb?sslmode=maybe", "unknown sslmode; known: disable"],
    ["postgres://u:sesame@db/kb?port=0", "invalid port"],
    ["postgres://u:%zz@db/kb", "invalid percent-encoding"],
  ])("%s is exit 2, without the password", (url, problem) => {
    let error: unknown;
    try {
      parseSharedUrl(url);
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toMatchObject({ exit: "usage", message: expect.stringContaining(problem) });
    expect(String(error)).not.toContain("sesame");
  });

  it("is a secret with its password, as written and decoded", () => {
    const url = "postgres://u:p%40s@db/kb";
    expect(sharedSecrets(url)).toEqual([url, "p%40s", "p@s"]);
    expect(["postgres://u@db/kb", "postgres://db/kb?user=u"].map(holdsPassword)).toEqual([
      false,
      false,
    ]);
    const held = [url, "postgres://db/kb?password=x", "u:p@", "postgres://u:p@[db/kb"];
    expect(held.map(holdsPassword)).toEqual([true, true, true, true]);
  });
});

describe("a server that is not there, or is none", () => {
  it("is unreachable, with its place", async () => {
    const server = createServer();
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const { port } = server.address() as AddressInfo;
    await new Promise((done) => server.close(done));
    const url = `postgres://u:sesame@127.0.0.1:${port}/kb`;
    const error = await failureOf(connectShared(url, machine()));
    expect(error.exit).toBe("unreachable");
    expect(error.message).toContain(`127.0.0.1:${port}/kb: cannot be reached`);
    expect(`${error.message} ${error.hints.join(" ")}`).not.toContain("sesame");
    const socket = await failureOf(connectShared("postgres:///kb?host=/nonexistent", machine()));
    expect(socket.exit).toBe("unreachable");
  });
});

describe.runIf(hasPostgres)("a shared record in PostgreSQL", () => {
  it("has its tables after a migration, which may run twice and at once", async () => {
    const { url, sql } = await newDatabase();
    await withDatabase(url, async (database) => {
      const error = await failureOf(checkTables(database));
      expect(error).toMatchObject({
        exit: "not-configured",
        hints: [expect.stringContaining("state share")],
      });
      await withDatabase(url, async (other) => {
        const both = await Promise.all([migrateTables(database), migrateTables(other)]);
        expect(both.toSorted()).toEqual([false, true]);
      });
      await checkTables(database);
      await Promise.all([createProject(database, "kb"), createProject(database, "kb")]);
      expect(await findProject(database, "kb")).toMatchObject({
        name: "kb",
        revision: 0,
        target: undefined,
      });
      expect(await findProject(database, "other")).toBeUndefined();
      sql("insert into knowctl_migrations (version) values (99)");
      for (const each of [checkTables, migrateTables]) {
        const newer = await failureOf(each(database));
        expect(newer).toMatchObject({
          exit: "local",
          message: expect.stringContaining("version 99"),
        });
      }
    });
  });

  it("takes the password of the URL or of a passfile that only its owner reads", async () => {
    const server = await startPostgres({ tcp: true });
    try {
      const url = server.url("postgres");
      await withDatabase(url, async ({ query }) => {
        expect(await query("SELECT 1 AS one")).toEqual([{ one: 1 }]);
      });
      const { password } = new URL(url);
      const wrong = await failureOf(connectShared(url.replace(password, "sesame"), machine()));
      expect(wrong).toMatchObject({
        exit: "auth",
        message: expect.stringContaining("refuses the user"),
      });
      expect(wrong.message).not.toContain("sesame");
      const bare = url.replace(`:${password}@`, "@");
      expect(await failureOf(connectShared(bare, machine()))).toMatchObject({ exit: "auth" });
      const file = join(temporaryFolder(), "pass");
      writeFileSync(file, `# comment\nother:*:*:*:no\n127.0.0.1:*:postgres:knowctl:${password}\n`);
      chmodSync(file, 0o600);
      await withDatabase(bare, async () => {}, { PGPASSFILE: file });
      await withDatabase(`${bare}?passfile=${encodeURIComponent(file)}`, async () => {});
      chmodSync(file, 0o644);
      const open = await failureOf(connectShared(bare, machine({ PGPASSFILE: file })));
      expect(open).toMatchObject({ exit: "auth", hints: [`chmod 600 ${file}`] });
      // The server has no TLS: `prefer` goes on, `require` does not.
      const strict = await failureOf(connectShared(`${url}?sslmode=require`, machine()));
      expect(strict).toMatchObject({
        exit: "unreachable",
        message: expect.stringContaining("SSL"),
      });
      const none = await failureOf(connectShared(server.url("missing"), machine()));
      expect(none).toMatchObject({
        exit: "usage",
        message: expect.stringContaining("no such database"),
      });
    } finally {
      await server.close();
    }
  });

  it("waits for a connection where the server has none left, then says so", async () => {
    const server = await startPostgres({
      settings: { max_connections: 5, superuser_reserved_connections: 2 },
    });
    try {
      server.sql("postgres", "create role worker login");
      const url = server.url("postgres").replace("knowctl@", "worker@");
      const all = await Promise.all(Array.from({ length: 3 }, () => connectShared(url, machine())));
      waits.length = 0;
      const error = await failureOf(connectShared(url, machine()));
      expect(error).toMatchObject({
        exit: "unreachable",
        message: expect.stringContaining("no connection left"),
      });
      expect(waits).toEqual([200, 400, 800, 1600, 3200]);
      await Promise.all(all.map((each) => each.close()));
    } finally {
      await server.close();
    }
  });

  it("connects again after the server was restarted, and rolls back what was cut", async () => {
    const { url, server } = await newDatabase();
    await withDatabase(url, async (database) => {
      await migrateTables(database);
      const cut = await failureOf(
        database.transaction(async (query) => {
          await query("INSERT INTO knowctl_projects (id, name) VALUES ('x', 'lost')");
          await server.stop("SIGQUIT");
          await query("SELECT 1");
        }),
      );
      expect(cut.exit).toBe("unreachable");
      expect((await failureOf(database.query("SELECT 1"))).exit).toBe("unreachable");
      await server.start();
      expect(await findProject(database, "lost")).toBeUndefined();
    });
  });

  it("refuses a role without rights to create, and tables that another program changed", async () => {
    const { url, sql } = await newDatabase();
    sql("create role reader_" + url.length + " login");
    const reader = url.replace("knowctl@", `reader_${url.length}@`);
    await withDatabase(reader, async (database) => {
      const error = await failureOf(migrateTables(database));
      expect(error).toMatchObject({
        exit: "auth",
        message: expect.stringContaining("lacks a right"),
      });
    });
    await withDatabase(url, async (database) => {
      await migrateTables(database);
      sql("alter table knowctl_projects drop column target");
      const error = await failureOf(findProject(database, "kb"));
      expect(error).toMatchObject({
        exit: "local",
        message: expect.stringContaining("not as knowctl made them"),
      });
    });
  });
});
