import type { Context } from "../context.ts";

/** A command. `args`: positional arguments as typed; `options`: flags and variables, merged. */
export type CommandFunction<Options> = (
  context: Context,
  args: string[],
  options: Options,
) => Promise<void>;

/**
 * Turns a command function into a commander action. The command's module is loaded
 * when the command runs, so that help and version start fast.
 */
export type Run = <Options>(
  load: () => Promise<CommandFunction<Options>>,
) => (...commanderArguments: unknown[]) => Promise<void>;
