import { expect, it } from "vitest";
import { systemContext } from "../src/context.ts";

it("lets many wait on one signal without a warning of Node's", async () => {
  const warnings: unknown[] = [];
  const { emitWarning } = process;
  const before = (["SIGINT", "SIGTERM", "SIGHUP"] as const).map(
    (name) => [name, process.listeners(name)] as const,
  );
  try {
    const { sleep } = systemContext();
    process.emitWarning = ((warning: unknown) => warnings.push(warning)) as typeof emitWarning;
    const abort = new AbortController();
    const waiting = Array.from({ length: 20 }, () => sleep(60_000, abort.signal));
    abort.abort(new Error("enough"));
    await expect(Promise.all(waiting)).rejects.toThrow("enough");
    await Promise.allSettled(waiting);
  } finally {
    process.emitWarning = emitWarning;
    for (const [name, listeners] of before) {
      for (const each of process.listeners(name)) {
        if (!listeners.includes(each)) process.off(name, each);
      }
    }
  }
  expect(warnings).toEqual([]);
});
