import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";

/** Throws CliError `usage` when a path has the name of a subcommand. */
export function refuseAmbiguous(context: Context, name: string): void {
  if (!existsSync(join(context.cwd, name))) return;
  throw new CliError("usage", `\`${name}\` is a subcommand, and a path of that name exists`, {
    hints: [`write ./${name} for the path, or run the subcommand from another folder`],
  });
}
