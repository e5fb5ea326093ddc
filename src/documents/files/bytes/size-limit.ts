const defaultMaxFileBytes = 64 * 1024 * 1024;

interface SizeSettings {
  /** From a profile. */
  maxFileBytes?: number | undefined;
  /** From the command line; these override the profile. */
  flags?: { maxFileBytes?: number | undefined } | undefined;
}

/** Maximum size of a file in bytes. */
export function maxFileBytesOf({ flags, maxFileBytes }: SizeSettings): number {
  return flags?.maxFileBytes ?? maxFileBytes ?? defaultMaxFileBytes;
}
