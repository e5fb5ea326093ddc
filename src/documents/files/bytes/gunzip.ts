import { gunzipSync } from "node:zlib";
import { CliError, codeOf } from "../../../errors.ts";

/** For messages: `1.5 MiB`. Rounded up: one byte above a limit must not look like the limit. */
export const mebibytes = (count: number): string =>
  `${(Math.ceil((count / 1024 / 1024) * 10) / 10).toFixed(1)} MiB`;

function reasonOf(error: unknown, maxBytes: number): string {
  const reasons: Record<string, string> = {
    ERR_BUFFER_TOO_LARGE: `unpacked, it is larger than the limit of ${mebibytes(maxBytes)} per file`,
    Z_BUF_ERROR: "the gzip data ends too early",
    Z_DATA_ERROR: "not gzip, or damaged",
  };
  return reasons[codeOf(error) ?? ""] ?? "the gzip data cannot be unpacked";
}

/** Whether gunzip() failed because of its limit. */
export function isOverLimit(error: unknown): boolean {
  return error instanceof CliError && codeOf(error.cause) === "ERR_BUFFER_TOO_LARGE";
}

/**
 * Unpacks gzip (RFC 1952) of one or several members to at most `maxBytes`, and never keeps more in
 * memory. Throws CliError `usage` with `path`.
 */
export function gunzip(bytes: Uint8Array, path: string, maxBytes: number): Buffer {
  // For empty input, only some versions of zlib report "unexpected end of file".
  if (bytes.length === 0) {
    throw new CliError("usage", `${path}: not gzip: it is empty`, {
      hints: ["pack it again, or exclude it"],
    });
  }
  try {
    return gunzipSync(bytes, { maxOutputLength: Math.max(1, maxBytes) });
  } catch (error) {
    const hints = ["check it with `gzip -t`, or exclude it"];
    throw new CliError("usage", `${path}: ${reasonOf(error, maxBytes)}`, { hints, cause: error });
  }
}
