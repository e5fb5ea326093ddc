/**
 * Flags, by long name, that have no effect together with others or without others. The command
 * line must not contain them. A variable (`KNOWCTL_STATE`) is a default for all commands: it is never
 * rejected, and a flag of the command line wins over it. The command itself checks rules that depend on a configuration or on files.
 */
export interface FlagRule {
  flags: readonly string[];
  /** Rejected unless one of these is set. */
  without?: readonly string[];
  /** Rejected together with any of these; `argument` is any argument of the command. */
  beside?: readonly string[];
  /** Why the flag has no effect; follows a colon in the message. */
  why: string;
  hint: string;
}
