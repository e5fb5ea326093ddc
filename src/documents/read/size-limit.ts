const defaultMaxFileBytes = 64 * 1024 * 1024;

interface SizeSettings {
  /** Of a profile. */
  maxFileBytes?: number | undefined;
  /** Of the command line, which comes first. */
  flags?: { maxFileBytes?: number | undefined } | undefined;
}

/** Most bytes that a file may have. */
export function maxFileBytesOf({ flags, maxFileBytes }: SizeSettings): number {
  return flags?.maxFileBytes ?? maxFileBytes ?? defaultMaxFileBytes;
}
