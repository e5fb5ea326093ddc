import type { Context } from "../context.ts";

/** A command: a context, the positional arguments as typed, and the merged options. */
export type CommandFunction<Options> = (
  context: Context,
  args: string[],
  options: Options,
) => Promise<void>;

/**
 * Turns a lazily loaded command function into a commander action. The command's
 * module is loaded when the command runs, so help and version pay for nothing.
 */
export type Run = <Options>(
  load: () => Promise<CommandFunction<Options>>,
) => (...commanderArguments: unknown[]) => Promise<void>;
