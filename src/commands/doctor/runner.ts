import { CliError, messageOf, type ExitName } from "../../errors.ts";
import type { Finding } from "../../output/findings.ts";
import type { Check, Examination, Verdict } from "./check.ts";

export interface Examined {
  findings: Finding[];
  /** The first failed check and its exit name; undefined if none failed. */
  failed: { finding: Finding; exit: ExitName } | undefined;
}

function fromError(error: unknown): Verdict {
  if (!(error instanceof CliError)) {
    const fixes = ["this is a bug in knowctl; please report it"];
    return {
      status: "failure",
      exit: "failure",
      message: `unexpected: ${messageOf(error)}`,
      fixes,
    };
  }
  const { exit, message, hints, details } = error;
  return { status: "failure", exit, message, fixes: hints, details };
}

/** Runs one check within its time limit. Throws the reason of the user's interrupt. */
async function runOne(check: Check, examination: Examination): Promise<Verdict> {
  const { context, limitMs: requestLimitMs } = examination;
  const limitMs = check.limitMs ?? requestLimitMs * 4;
  const timeout = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  ended.catch(() => {});
  const running = (async () => check.run(examination, signal))();
  // Abandoned after the time limit: some operations (a DNS look-up) cannot be aborted.
  running.catch(() => {});
  try {
    return await Promise.race([running, ended]);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!timeout.aborted) return fromError(error);
    return {
      status: "failure",
      exit: "timeout",
      message: `not finished within ${Math.ceil(limitMs / 1000)} s`,
      fixes: ["try a longer --timeout"],
    };
  }
}

/**
 * Runs checks in order. A check that depends on a failed one is skipped. `write` gets each
 * finding at once. Throws the reason of an interrupt.
 */
export async function runChecks(
  checks: readonly Check[],
  examination: Examination,
  write: (finding: Finding) => Promise<void>,
): Promise<Examined> {
  const findings: Finding[] = [];
  let failed: Examined["failed"];
  /** For each failed or skipped check, the failed check that caused it. */
  const causes = new Map<string, string>();
  for (const check of checks) {
    examination.context.signal.throwIfAborted();
    const cause = check.needs.map((name) => causes.get(name)).find((name) => name !== undefined);
    const begun = performance.now();
    const verdict: Verdict =
      cause === undefined
        ? await runOne(check, examination)
        : { status: "skipped", message: `depends on ${cause}, which failed` };
    const because = cause ?? verdict.because;
    const finding: Finding = {
      check: check.name,
      status: verdict.status,
      message: verdict.message,
      fixes: [...(verdict.fixes ?? [])],
      details: [...(verdict.details ?? [])],
      ...(because === undefined ? {} : { because }),
      ms: Math.round(performance.now() - begun),
    };
    if (because !== undefined) causes.set(check.name, because);
    if (verdict.status === "failure") {
      causes.set(check.name, check.name);
      failed ??= { finding, exit: verdict.exit ?? "failure" };
    }
    findings.push(finding);
    await write(finding);
  }
  return { findings, failed };
}
