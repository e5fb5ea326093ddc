const units: readonly (readonly [unit: Intl.RelativeTimeFormatUnit, seconds: number])[] = [
  ["year", 31_557_600],
  ["month", 2_629_800],
  ["day", 86_400],
  ["hour", 3600],
  ["minute", 60],
];

/**
 * A relative time ("3 days ago"). `value` is ISO 8601 from the service, `now` is
 * milliseconds since the epoch. Returns other text unchanged.
 */
export function relativeTime(value: unknown, now: number): string {
  const text = String(value);
  // The service may omit the zone; its times are UTC (service-interface.md 2.2).
  const zoned = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text) || !text.includes("T") ? text : `${text}Z`;
  const time = Date.parse(zoned);
  if (Number.isNaN(time) || !/^\d{4}-/.test(text)) return text;
  const seconds = (time - now) / 1000;
  const size = Math.abs(seconds);
  for (const [unit, length] of units) {
    if (size < length) continue;
    const count = Math.trunc(size / length);
    const plural = count === 1 ? unit : `${unit}s`;
    return seconds < 0 ? `${count} ${plural} ago` : `in ${count} ${plural}`;
  }
  return "just now";
}
