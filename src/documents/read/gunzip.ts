import { gunzipSync } from "node:zlib";
import { CliError, codeOf } from "../../errors.ts";

/** For messages: `1.5 MiB`. */
/** Rounded up: one byte too many must not look like none. */
export const mebibytes = (count: number): string =>
  `${(Math.ceil((count / 1024 / 1024) * 10) / 10).toFixed(1)} MiB`;

function reasonOf(error: unknown, maxBytes: number): string {
  const reasons: Record<string, string> = {
    ERR_BUFFER_TOO_LARGE: `unpacked it is more than the ${mebibytes(maxBytes)} that one file may have`,
    Z_BUF_ERROR: "gzip data that ends too early",
    Z_DATA_ERROR: "not gzip, or damaged",
  };
  return reasons[codeOf(error) ?? ""] ?? "gzip data that cannot be unpacked";
}

/**
 * Unpacks gzip (RFC 1952) of one or several members to at most `maxBytes`; what
 * goes beyond is never held. Throws CliError `usage` naming `path`.
 */
export function gunzip(bytes: Uint8Array, path: string, maxBytes: number): Buffer {
  // zlib says "unexpected end of file" to nothing at all only in some versions.
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
