import { CliError, messageOf, type ExitName } from "../../errors.ts";
import type { Finding } from "../../output/findings.ts";
import type { Check, Examination, Verdict } from "./check.ts";

export interface Examined {
  findings: Finding[];
  /** The check that failed first and what that is to a script; undefined when none did. */
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

/** Runs one check within its time. Throws the reason of the user's interrupt. */
async function runOne(check: Check, examination: Examination): Promise<Verdict> {
  const { context, limitMs: waitMs } = examination;
  const limitMs = check.limitMs ?? waitMs * 4;
  const timeout = AbortSignal.timeout(limitMs);
  const signal = AbortSignal.any([context.signal, timeout]);
  const ended = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  ended.catch(() => {});
  const running = (async () => check.run(examination, signal))();
  // Left behind when time is up: some waits (a name server's) cannot be ended.
  running.catch(() => {});
  try {
    return await Promise.race([running, ended]);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!timeout.aborted) return fromError(error);
    return {
      status: "failure",
      exit: "timeout",
      message: `not done in ${Math.ceil(limitMs / 1000)} s`,
      fixes: ["a longer --timeout may help"],
    };
  }
}

/**
 * Runs checks in order. One whose ground has failed is skipped and says which.
 * `tell` gets each finding as it is made. Throws the reason of an interrupt.
 */
export async function runChecks(
  checks: readonly Check[],
  examination: Examination,
  tell: (finding: Finding) => Promise<void>,
): Promise<Examined> {
  const findings: Finding[] = [];
  let failed: Examined["failed"];
  /** Of a check that failed, or was skipped for one that did: the one that failed. */
  const causes = new Map<string, string>();
  for (const check of checks) {
    examination.context.signal.throwIfAborted();
    const cause = check.needs.map((name) => causes.get(name)).find((name) => name !== undefined);
    const begun = performance.now();
    const verdict: Verdict =
      cause === undefined
        ? await runOne(check, examination)
        : { status: "skipped", message: `not checked, because ${cause} failed` };
    const finding: Finding = {
      check: check.name,
      status: verdict.status,
      message: verdict.message,
      fixes: [...(verdict.fixes ?? [])],
      details: [...(verdict.details ?? [])],
      ...(cause === undefined ? {} : { because: cause }),
      ms: Math.round(performance.now() - begun),
    };
    if (cause !== undefined) causes.set(check.name, cause);
    if (verdict.status === "failure") {
      causes.set(check.name, check.name);
      failed ??= { finding, exit: verdict.exit ?? "failure" };
    }
    findings.push(finding);
    await tell(finding);
  }
  return { findings, failed };
}
