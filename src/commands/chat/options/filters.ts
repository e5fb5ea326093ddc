import type { Dialect } from "../../../api/dialects.ts";
import { CliError } from "../../../errors.ts";

/**
 * The pairs of `--filter-tag KEY=VALUE`. Throws CliError `usage` for any other text, and for two
 * values of one key where the dialect takes one.
 */
export function parseTags(
  flags: readonly string[],
  dialect: Pick<Dialect, "repeatsTagKeys">,
): [string, string][] {
  const tags = flags.map((flag): [string, string] => {
    const equals = flag.indexOf("=");
    if (equals < 1) {
      throw new CliError("usage", `--filter-tag: "${flag}" is not KEY=VALUE`);
    }
    return [flag.slice(0, equals), flag.slice(equals + 1)];
  });
  const keys = new Set(tags.map(([key]) => key));
  if (keys.size < tags.length && !dialect.repeatsTagKeys) {
    throw new CliError("usage", "--filter-tag: one key can have only one value here", {
      hints: ["this service reads the tags as an object; ask once for each value"],
    });
  }
  return tags;
}

const unitMs: Readonly<Record<string, number>> = {
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000,
};

const isoForm =
  /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i;

// Date.parse reads February 30 as March 2.
function isRealDate(year: string, month: string, day: string): boolean {
  const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day)));
  return date.getUTCMonth() === Number(month) - 1 && date.getUTCDate() === Number(day);
}

function timeOf(text: string, now: number): number {
  const duration = /^(\d{1,6})([mhdw])$/.exec(text);
  if (duration) return now - Number(duration[1]) * (unitMs[duration[2] ?? ""] ?? Number.NaN);
  const [, year = "", month = "", day = "", hour = "00", minute = "00", second = "00", zone = "Z"] =
    isoForm.exec(text) ?? [];
  if (year === "" || !isRealDate(year, month, day)) return Number.NaN;
  const offset = zone.toUpperCase().replace(/^([+-]\d{2})(\d{2})$/, "$1:$2");
  return Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}${offset}`);
}

/**
 * A point in time in the service's form (`YYYY-MM-DDTHH:MM:SSZ`). `text` is a
 * date (midnight UTC), an ISO 8601 time (UTC unless it names an offset), or a
 * duration back from `now` in ms (`30m`, `12h`, `7d`, `2w`). Throws CliError
 * `usage`.
 */
export function parseSince(text: string, now: number, given = "--since"): string {
  const time = timeOf(text.trim(), now);
  if (!Number.isFinite(time) || time < 0) {
    throw new CliError("usage", `${given}: "${text}" is neither a date nor a duration`, {
      hints: ["write 2026-01-31, 2026-01-31T08:00:00Z, 30m, 12h, 7d or 2w"],
    });
  }
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
