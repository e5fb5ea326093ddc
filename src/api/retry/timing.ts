/** Computes waits before the next attempt. Pure: no clock, no timer. */

/** Source of time and randomness; tests pass their own. */
export interface Clock {
  /** Milliseconds since the epoch: only for dates. */
  now(): number;
  /** Milliseconds of a monotonic clock: for waits and durations. */
  elapsed(): number;
  /** Rejects with the signal's reason if the signal is aborted first. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
  /** Between 0 (included) and 1 (excluded). */
  random(): number;
}

/** A timer above this fires at once (`setTimeout` overflows to 1 ms). */
export const longestTimerMs = 2 ** 31 - 1;

const baseMs = 500;
const capMs = 30_000;

/** Rounds a wait to whole milliseconds that `setTimeout` supports. */
export function clampTimer(ms: number): number {
  if (!(ms > 0)) return 0;
  return Math.min(Math.ceil(ms), longestTimerMs);
}

/**
 * Full jitter: a random wait between 0 and min(30 s, 0.5 s · 2^(retry − 1)).
 * `retry` counts from 1; `random` is between 0 and 1.
 */
export function backoffMs(retry: number, random: number): number {
  return Math.floor(random * Math.min(capMs, baseMs * 2 ** (retry - 1)));
}

const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
const imfDate =
  /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun), (\d{2}) ([A-Z][a-z]{2}) (\d{4}) (\d{2}):(\d{2}):(\d{2}) GMT$/;

/**
 * Milliseconds since the epoch of an IMF-fixdate (RFC 9110, 5.6.7), or undefined.
 * Not `Date.parse`, which accepts `-3` and many other texts as a date.
 */
export function parseHttpDate(text: string): number | undefined {
  const match = imfDate.exec(text);
  if (!match) return undefined;
  const [day, year, hour, minute, second] = [1, 3, 4, 5, 6].map((group) => Number(match[group]));
  const month = months.indexOf(match[2] ?? "");
  if (month < 0) return undefined;
  const time = Date.UTC(year ?? 0, month, day, hour, minute, second);
  // Rejects 31 Feb and 25 o'clock, which Date.UTC rolls over.
  return new Date(time).toUTCString().slice(5, 25) === text.slice(5, 25) ? time : undefined;
}

/**
 * Milliseconds of a `Retry-After` header: digits are seconds, any other text must be a
 * strict HTTP date. The date is relative to the response's own `Date`, because the local
 * clock may be wrong, or to `now` without one. Undefined for any other text: use backoff.
 */
export function parseRetryAfter(
  value: string | undefined,
  date: string | undefined,
  now: number,
): number | undefined {
  const text = value?.trim() ?? "";
  if (/^\d+$/.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  const until = parseHttpDate(text);
  if (until === undefined) return undefined;
  return Math.max(0, until - (parseHttpDate(date?.trim() ?? "") ?? now));
}

/** A wait for display: `45 s`, `3 min`, `24 h`, `2 days`. */
export function describeWait(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.ceil(seconds / 60)} min`;
  if (seconds <= 172_800) return `${Math.ceil(seconds / 3600)} h`;
  const days = Math.ceil(seconds / 86_400);
  return days > 1000 ? "more than 1000 days" : `${days} days`;
}
