import type { RawSettings } from "../map/settings.ts";

const defaultMaxFileBytes = 64 * 1024 * 1024;

/** Most bytes that a file may have. */
export function maxFileBytesOf({ flags, maxFileBytes }: RawSettings): number {
  return flags?.maxFileBytes ?? maxFileBytes ?? defaultMaxFileBytes;
}
