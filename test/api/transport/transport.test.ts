import { execFileSync } from "node:child_process";
import { createRequire } from "node:module";
import { describe, expect, it } from "vitest";
import { watch, type Watch } from "../../../src/api/transport/watch.ts";

const require = createRequire(import.meta.url);

/** What a fresh process has loaded after it required these modules. */
function loadedBy(...modules: string[]): string[] {
  const script = `
    for (const name of ${JSON.stringify(modules)}) require(name);
    process.stdout.write(JSON.stringify(Object.keys(require.cache)));`;
  const output = execFileSync(process.execPath, ["-e", script], {
    cwd: new URL("../../..", import.meta.url),
    encoding: "utf8",
  });
  return JSON.parse(output) as string[];
}

describe("undici", () => {
  it("is the version whose inner files are named here", () => {
    const { version } = require("undici/package.json") as { version: string };
    expect(version).toBe("7.30.2");
  });

  it("is loaded by its pool alone: no index, no fetch, no second HTTP stack", () => {
    const loaded = loadedBy("undici/lib/dispatcher/pool.js", "undici/lib/core/connect.js");
    const names = loaded.map((path) => path.split("/undici/")[1] ?? path);
    expect(names).toContain("lib/dispatcher/pool.js");
    expect(
      names.filter((name) => /^index\.js|^lib\/(web|mock|cache|interceptor)\//.test(name)),
    ).toEqual([]);
    expect(names.length).toBeLessThan(40);
    expect(loadedBy("undici").length).toBeGreaterThan(names.length);
  });

  it("still calls the handler that the exchange implements as it is", () => {
    const Pool = require("undici/lib/dispatcher/pool.js") as new (...args: unknown[]) => object;
    expect(Pool.prototype).toHaveProperty("dispatch");
    const wrapper = require("undici/lib/handler/unwrap-handler.js") as {
      unwrap(handler: object): object;
    };
    const exchange = { headersMs: 0, idleMs: 0, totalMs: 0, responseBytes: 1 };
    const listener = { onHeaders() {}, onChunk() {}, onEnd() {}, onError() {} };
    const { handler } = watch(
      { ...exchange, method: "GET", path: "/", headers: {}, fresh: false },
      listener,
      new Set<Watch>(),
    );
    expect(wrapper.unwrap(handler)).toBe(handler);
  });
});
