import { existsSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { hasPostgres, newDatabase, startPostgres } from "./postgres.ts";

describe.runIf(hasPostgres)("the PostgreSQL of the tests", () => {
  it("gives each caller a database of its own", async () => {
    const [one, other] = [await newDatabase(), await newDatabase()];
    one.sql("create table things (name text); insert into things values ('a'), ('b')");
    expect(one.sql("select name from things order by 1")).toBe("a\nb");
    expect(() => other.sql("select * from things")).toThrow(/"things" does not exist/);
    expect(one.url).not.toBe(other.url);
  });

  it("keeps what was committed when the server crashes, and is back at the same address", async () => {
    const { sql, server } = await newDatabase();
    sql("create table things (name text); insert into things values ('a')");
    await server.stop("SIGQUIT");
    expect(() => sql("select 1")).toThrow(/connect/);
    await server.start();
    expect(sql("select name from things")).toBe("a");
  });

  it("listens on a port, with a password, only where that is asked for", async () => {
    const server = await startPostgres({ tcp: true, settings: { max_connections: 7 } });
    onTestFinished(() => server.close());
    expect(new URL(server.url("postgres"))).toMatchObject({
      hostname: "127.0.0.1",
      username: "knowctl",
    });
    expect(server.sql("postgres", "show max_connections")).toBe("7");
    await server.close();
    expect(existsSync(server.folder)).toBe(false);
  });
});
