import { ApiError } from "../errors.ts";
import type { Failure, Result } from "./answers.ts";
import type { Gate, Setback } from "./gate.ts";
import { longestRetryAfterMs, type CallPolicy, type FaultKind } from "./policy.ts";
import { backoffMs, clampTimer, describeWait, type Clock } from "./timing.ts";

export interface RetryTools {
  policy: CallPolicy;
  /** For everything together, in ms; 0: no limit. */
  totalMs: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
  gate?: Gate | undefined;
  onFailure?: ((kind: FaultKind) => void) | undefined;
}

function mayRetry(policy: CallPolicy, failure: Failure): boolean {
  if (failure.kind !== "status") return policy.faults.has(failure.kind);
  const status = failure.status ?? 0;
  if (policy.statuses.has(status)) return true;
  return policy.statusesWithRetryAfter.has(status) && failure.retryAfterMs !== undefined;
}

/** Causes that have their own, smaller number of retries. */
function causesOf(failure: Failure): string[] {
  return [failure.kind, String(failure.status ?? ""), failure.code ?? ""];
}

/**
 * How long to wait before the next attempt, or undefined to give up. `attempt`
 * counts from 1; `seen` is how often each cause has come, this time included.
 */
export function planRetry(
  policy: CallPolicy,
  failure: Failure,
  attempt: number,
  seen: ReadonlyMap<string, number>,
  random: number,
): number | undefined {
  if (attempt >= policy.attempts || !mayRetry(policy, failure)) return undefined;
  for (const cause of causesOf(failure)) {
    const allowed = policy.retriesOf[cause];
    if (allowed !== undefined && (seen.get(cause) ?? 0) > allowed) return undefined;
  }
  const shortest = Math.max(policy.waitOf[failure.status ?? 0] ?? 0, failure.retryAfterMs ?? 0);
  return clampTimer(Math.max(backoffMs(attempt, random), shortest));
}

function asLast(failure: Failure, attempts: number): ApiError {
  const { error } = failure;
  if (attempts === 1) return error;
  const { method, url, status, code, hints, retryable } = error;
  return new ApiError(error.exit, `${error.message} (${attempts} attempts)`, {
    method,
    url,
    status,
    code,
    hints,
    retryable,
    cause: error.cause,
  });
}

function tooLongWait(failure: Failure, waitMs: number): ApiError {
  const { exit, message, method, url, status, code } = failure.error;
  const wait = describeWait(waitMs);
  return new ApiError(exit, `${message}; the server asks to wait ${wait}`, {
    method,
    url,
    status,
    code,
    hints: [`run the command again in ${wait}`],
  });
}

/** Whether a failure says that no other call of the run can succeed either. */
function endsRun(policy: CallPolicy, failure: Failure): boolean {
  if (failure.kind === "status") return policy.endsRun.has(failure.status ?? 0);
  return failure.kind === "fatal";
}

async function oneAttempt<T>(
  attempt: (number: number) => Promise<Result<T>>,
  number: number,
  { gate, clock }: RetryTools,
): Promise<{ result: Result<T>; setback: Setback | undefined }> {
  const place = gate?.enter();
  if (place) await place;
  const begun = gate ? clock.now() : 0;
  let result: Result<T> | undefined;
  let setback: Setback | undefined;
  try {
    result = await attempt(number);
    if (!result.ok) {
      const { outcome: kind, retryAfterMs, error } = result.failure;
      setback = { kind, retryAfterMs, error };
      // Obeying would hold everybody for too long; the run ends instead.
      if ((retryAfterMs ?? 0) > longestRetryAfterMs) setback.retryAfterMs = undefined;
    }
    return { result, setback };
  } finally {
    if (result?.ok) gate?.succeed(begun);
    else gate?.fail(setback, begun);
  }
}

/**
 * Runs `attempt` until it succeeds or the policy says no. Throws the last
 * failure's error, the gate's reason to stop, or the reason of an abort.
 */
export async function retrying<T>(
  attempt: (number: number) => Promise<Result<T>>,
  tools: RetryTools,
): Promise<T> {
  const { policy, clock, gate, totalMs } = tools;
  const deadline = totalMs > 0 ? clock.now() + totalMs : Number.POSITIVE_INFINITY;
  let seen: Map<string, number> | undefined;
  for (let number = 1; ; number++) {
    const { result, setback } = await oneAttempt(attempt, number, tools);
    if (result.ok) return result.value;
    const { failure } = result;
    tools.onFailure?.(failure.kind);
    seen ??= new Map();
    for (const cause of causesOf(failure)) seen.set(cause, (seen.get(cause) ?? 0) + 1);
    if ((failure.retryAfterMs ?? 0) > longestRetryAfterMs && mayRetry(policy, failure)) {
      const error = tooLongWait(failure, failure.retryAfterMs ?? 0);
      gate?.stop(error);
      throw error;
    }
    const waitMs = planRetry(policy, failure, number, seen, clock.random());
    if (waitMs === undefined || clock.now() + waitMs > deadline) {
      const error = asLast(failure, number);
      if (endsRun(policy, failure)) gate?.stop(error);
      else if (setback) gate?.giveUp({ ...setback, error });
      throw error;
    }
    if (setback) gate?.spend(number, setback);
    await clock.sleep(waitMs, tools.signal);
  }
}
