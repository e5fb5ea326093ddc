import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import type { PlanInspector } from "../../documents/inspect/inspection.ts";
import { openInspector } from "../../documents/inspect/open-inspector.ts";
import type { Output } from "../../output/terminal/output.ts";
import { openSource, type DocumentSource, inspectSetup } from "../ingest/options/settings.ts";

/** The project's files, to read; without a service and without a state. */
export interface Folder {
  source: DocumentSource;
  inspector: PlanInspector;
  close(): Promise<void>;
}

/**
 * Opens the files of `paths`, or of the whole project. `sends`: its configuration is also used for
 * requests. The caller closes it. Throws CliError.
 */
export async function openFolder(
  context: Context,
  output: Output,
  paths: readonly string[],
  options: GlobalFlags,
  sends = false,
): Promise<Folder> {
  const flags = { ...options, idsOnly: true as const, wholeRoot: true, needsProfile: sends };
  const source = await openSource(context, paths, flags, output, sends);
  const targets = { baseUrl: "", pair: { ccPairId: undefined, fromFlag: false } };
  const setup = inspectSetup(source, targets, []);
  const inspector = await openInspector(setup, context.workerScript, 0);
  return { source, inspector, close: () => inspector.close() };
}
