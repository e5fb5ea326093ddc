import type { Context } from "../../context.ts";

/**
 * Looks up until there is a result, with longer and longer waits. `onWait` is called before each
 * wait. Throws the error of `onLate` before a wait that would end after `limitMs`.
 */
export async function poll<T>(
  { elapsed, sleep, signal }: Pick<Context, "elapsed" | "sleep" | "signal">,
  { firstMs, maxMs, limitMs }: { firstMs: number; maxMs: number; limitMs: number },
  lookUp: () => Promise<T | undefined>,
  { onWait, onLate }: { onWait(): void; onLate(waitedMs: number): Error },
): Promise<T> {
  const started = elapsed();
  let slept = 0;
  for (let waitMs = firstMs; ; waitMs = Math.min(waitMs * 1.5, maxMs)) {
    const found = await lookUp();
    if (found !== undefined) return found;
    // A request may last longer than a wait.
    const waited = Math.max(slept, elapsed() - started);
    if (waited + waitMs > limitMs) throw onLate(waited);
    onWait();
    await sleep(waitMs, signal);
    slept += waitMs;
  }
}
