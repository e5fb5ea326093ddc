import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { RunLine } from "../try/try.ts";
import type { ClientName } from "./clients.ts";
import { printConfig } from "./install.ts";
import { checkPermission, rootOf, type PermissionFlags } from "./permission.ts";
import { createRunTool } from "./run-line.ts";
import { serve } from "./server.ts";
import { createAllowance, type Permission } from "./toolbox.ts";
import { createOutput } from "../../output/terminal/output.ts";

export interface McpFlags extends GlobalFlags, PermissionFlags {
  printConfig?: ClientName;
}

/**
 * `mcp`: serves the tools over stdin and stdout until stdin ends. Throws CliError `usage` for a folder
 * that is no project and for flags that do not fit, and the signal's reason.
 */
export async function serveMcp(context: Context, flags: McpFlags, runLine: RunLine): Promise<void> {
  if (flags.printConfig !== undefined) return await printConfig(context, flags.printConfig, flags);
  const root = rootOf(context, flags);
  const permission: Permission = {
    allowance: createAllowance(flags.allowTokens ?? 0),
    ingest: checkPermission(context, root, flags),
    ccPairId: flags.ccPairId,
  };
  const output = createOutput(context, flags);
  await output.note(`serving ${root} to an agent over stdin and stdout; Ctrl-C ends it`);
  const run = createRunTool(context, flags, root, runLine);
  await serve(context, run, { root, flags, ...permission });
}
