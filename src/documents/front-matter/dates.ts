const pattern =
  /^(\d{4})([-/])(\d{2})\2(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)? ?([Zz]|[+-]\d{2}(?::?\d{2})?)?)?$/;

// Dates that need no calculation: days that every month has, in UTC, in whole seconds.
const simpleDate =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])(?:T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\dZ)?$/;

function offsetMinutes(zone: string | undefined): number {
  // No zone means UTC: the document must not depend on the machine that reads it.
  if (zone === undefined || zone === "" || /^z$/i.test(zone)) return 0;
  const digits = zone.slice(1).replace(":", "");
  const minutes = Number(digits.slice(0, 2)) * 60 + Number(digits.slice(2) || 0);
  return zone.startsWith("-") ? -minutes : minutes;
}

/**
 * Converts a date to ISO 8601 in UTC with `Z`. Accepts `YYYY-MM-DD` (midnight) and RFC 3339, also
 * with `/` between year, month and day, a space for the `T`, without seconds or without a zone (then UTC). Undefined for everything
 * else, also for the 30th of February: no guessing.
 */
export function parseDate(text: string): string | undefined {
  if (simpleDate.test(text)) return text.length === 10 ? `${text}T00:00:00Z` : text;
  const match = pattern.exec(text.trim());
  if (!match) return undefined;
  const [, year, , month, day, hour = "00", minute = "00", second = "00", fraction = "", zone] =
    match;
  const offset = offsetMinutes(zone);
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  // The minutes of the zone alone: `+02:75` would be read as +03:15.
  if (Math.abs(offset) > 14 * 60 || Number(zone?.slice(-2) ?? 0) > 59) return undefined;
  const milliseconds = fraction.slice(0, 3).padEnd(3, "0");
  const date = new Date(`${year}-${month}-${day}T${hour}:${minute}:${second}.${milliseconds}Z`);
  // Date reads the 30th of February as a day in March.
  if (Number.isNaN(date.getTime()) || date.getUTCDate() !== Number(day)) return undefined;
  const time = formatTime(date.getTime() - offset * 60_000);
  // The zone may move the date out of the four-digit years.
  return time.startsWith("+") || time.startsWith("-") ? undefined : time;
}

/** Milliseconds since the epoch as ISO 8601 with `Z`, without empty milliseconds. */
export function formatTime(ms: number): string {
  return new Date(ms).toISOString().replace(".000Z", "Z");
}
