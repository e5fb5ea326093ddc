import { existsSync } from "node:fs";
import type { GlobalFlags } from "../../config/global-flags.ts";
import { stateFolder } from "../../config/find/folders.ts";
import { configJsonSchema } from "../../config/values/schema.ts";
import { trustStore } from "../../config/trust.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import { checkFormat, writeList, type Column } from "../../output/formats/formats.ts";
import { createOutput } from "../../output/terminal/output.ts";
import { loadToShow, machineOf, userFile } from "./files.ts";

interface PathRow {
  kind: string;
  path: string;
  exists: boolean;
}

const pathColumns: Column<PathRow>[] = [
  { name: "kind" },
  { name: "path", cut: "start" },
  { name: "exists" },
];

/** `config path`: lists the paths of configuration and state. */
export async function configPath(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  checkFormat(options);
  const output = createOutput(context, options);
  const machine = machineOf(context);
  // Works with a broken file too: this command shows which file to fix.
  const project = await loadToShow(context, options, output).then(
    (config) => config.files.find((file) => file.layer === "project")?.path,
    async (error: unknown) => {
      if (!(error instanceof CliError)) throw error;
      await output.warn(error.message);
      return undefined;
    },
  );
  const paths: [kind: string, path: string][] = [
    ["user", userFile(machine)],
    ...(project ? [["project", project] as [string, string]] : []),
    ["state", stateFolder(machine)],
    ["trust", trustStore(machine)],
  ];
  const rows = paths.map(([kind, path]) => ({ kind, path, exists: existsSync(path) }));
  await writeList(output, options, pathColumns, rows);
}

/** `config schema`: the JSON Schema of a configuration file. */
export async function configSchema(
  context: Context,
  _args: string[],
  options: GlobalFlags,
): Promise<void> {
  await createOutput(context, options).json(`${JSON.stringify(configJsonSchema(), null, 2)}\n`);
}
