import { ApiError } from "../../errors.ts";
import type { Failure, Result } from "../answers/answers.ts";
import type { Gate, Setback } from "./gate.ts";
import { longestRetryAfterMs, type CallPolicy, type FaultKind } from "./policy.ts";
import { backoffMs, clampTimer, describeWait, type Clock } from "./timing.ts";

export interface RetryTools {
  policy: CallPolicy;
  /** Timeout for all attempts and waits together, from the first attempt, in ms; 0: no limit. */
  totalMs: number;
  clock: Clock;
  signal?: AbortSignal | undefined;
  gate?: Gate | undefined;
  onFailure?: ((kind: FaultKind, status?: number) => void) | undefined;
  /** See Call. */
  onHeld?: ((change: 1 | -1) => void) | undefined;
}

function mayRetry(policy: CallPolicy, failure: Failure): boolean {
  if (failure.kind !== "status") return policy.faults.has(failure.kind);
  const status = failure.status ?? 0;
  if (policy.statuses.has(status)) return true;
  return policy.statusesWithRetryAfter.has(status) && failure.retryAfterMs !== undefined;
}

/** Causes of a failure that may have their own limit of retries. */
function causesOf(failure: Failure): string[] {
  return [failure.kind, String(failure.status ?? ""), failure.code ?? ""];
}

/**
 * Milliseconds to wait before the next attempt, or undefined to give up. `attempt`
 * counts from 1; `seen` counts each cause, including this failure.
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
  const minWaitMs = Math.max(policy.waitOf[failure.status ?? 0] ?? 0, failure.retryAfterMs ?? 0);
  return clampTimer(Math.max(backoffMs(attempt, random), minWaitMs));
}

function withAttempts(failure: Failure, attempts: number): ApiError {
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

function retryAfterTooLong(failure: Failure, waitMs: number): ApiError {
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

/** Whether no other call of the run can succeed after this failure. */
function endsRun(policy: CallPolicy, failure: Failure): boolean {
  if (failure.kind === "status") return policy.endsRun.has(failure.status ?? 0);
  return failure.kind === "fatal";
}

/** Converts a failure for the gate. */
function setbackOf({ outcome: kind, retryAfterMs, error }: Failure): Setback {
  // Do not pause all requests for a Retry-After that is too long: the run ends instead.
  const isTooLong = (retryAfterMs ?? 0) > longestRetryAfterMs;
  return { kind, retryAfterMs: isTooLong ? undefined : retryAfterMs, error };
}

/** Failures of a call so far. */
interface Failures {
  /** Number of failures by cause. */
  readonly seen: Map<string, number>;
  /** By `clock.elapsed`: no attempt may begin later. */
  readonly deadline: number;
}

/** Milliseconds to wait before attempt `number` + 1. Throws if there is no further attempt. */
function waitAfter(
  failure: Failure,
  number: number,
  { seen, deadline }: Failures,
  { policy, clock, gate, onFailure }: RetryTools,
): number {
  onFailure?.(failure.kind, failure.status);
  for (const cause of causesOf(failure)) seen.set(cause, (seen.get(cause) ?? 0) + 1);
  if ((failure.retryAfterMs ?? 0) > longestRetryAfterMs && mayRetry(policy, failure)) {
    const error = retryAfterTooLong(failure, failure.retryAfterMs ?? 0);
    gate?.stop(error);
    throw error;
  }
  const waitMs = planRetry(policy, failure, number, seen, clock.random());
  if (waitMs === undefined || clock.elapsed() + waitMs > deadline) {
    const error = withAttempts(failure, number);
    if (endsRun(policy, failure)) gate?.stop(error);
    else gate?.giveUp({ ...setbackOf(failure), error });
    throw error;
  }
  gate?.spend(number, setbackOf(failure), waitMs);
  return waitMs;
}

/** A last attempt gets at least this long. */
const leastAttemptMs = 1000;

/**
 * Runs `attempt` until it succeeds or the policy allows no further retry. An attempt must end
 * within `leftMs`; 0: no limit. Throws the last failure's error, the gate's stop error, or the
 * reason of an abort.
 */
export async function retrying<T>(
  attempt: (number: number, leftMs: number) => Promise<Result<T>>,
  tools: RetryTools,
): Promise<T> {
  const { clock, gate, totalMs } = tools;
  let deadline = Number.POSITIVE_INFINITY;
  let leftMs = totalMs;
  let failures: Failures | undefined;
  // One function on purpose: in a bulk upload every additional promise costs time.
  for (let number = 1; ; number++) {
    const admitted = gate?.enter();
    if (admitted) await admitted;
    const begun = clock.elapsed();
    // The wait for the first slot does not count: the service may permit one request a minute.
    if (totalMs > 0 && number === 1) deadline = begun + totalMs;
    if (totalMs > 0 && number > 1) leftMs = Math.max(leastAttemptMs, deadline - begun);
    let result: Result<T> | undefined;
    try {
      result = await attempt(number, leftMs);
      if (result.ok) return result.value;
    } finally {
      if (result?.ok) gate?.succeed(begun);
      else gate?.fail(result && setbackOf(result.failure), begun);
    }
    failures ??= { seen: new Map(), deadline };
    const waitMs = waitAfter(result.failure, number, failures, tools);
    tools.onHeld?.(1);
    try {
      await clock.sleep(waitMs, tools.signal);
    } finally {
      tools.onHeld?.(-1);
    }
  }
}
