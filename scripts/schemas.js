// The JSON Schemas of schema/, from the modules of src/ that describe the data.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectFolder } from "./install.js";

/** Each file of schema/: its module and the function that returns the schema. */
const sources = {
  "chat-events": ["output/chat/turn/chat-events.ts", "chatEventsJsonSchema"],
  cliconfig: ["config/values/schema.ts", "configJsonSchema"],
  "connectors-errors": ["output/schemas/connectors.ts", "connectorsErrorsJsonSchema"],
  "connectors-status": ["output/schemas/connectors.ts", "connectorsStatusJsonSchema"],
  doctor: ["output/schemas/doctor.ts", "doctorJsonSchema"],
  eval: ["output/schemas/eval.ts", "evalJsonSchema"],
  "eval-suite": ["checks/eval/suite/suite-schema.ts", "suiteJsonSchema"],
  "ingest-events": ["output/schemas/ingest-events.ts", "ingestEventsJsonSchema"],
  lint: ["output/schemas/lint.ts", "lintJsonSchema"],
  plan: ["output/schemas/plan.ts", "planJsonSchema"],
  search: ["output/search/schema.ts", "searchJsonSchema"],
  report: ["output/report/stored/record.ts", "reportJsonSchema"],
  status: ["output/schemas/status.ts", "statusJsonSchema"],
  verify: ["output/schemas/verify.ts", "verifyJsonSchema"],
};

const schemaNames = Object.keys(sources);

/** Loads modules of src/ by name. They are bundled first: Node 20 reads no TypeScript. */
export async function readModules(paths) {
  const { rolldown } = await import("rolldown");
  const folder = mkdtempSync(join(tmpdir(), "knowctl-modules-"));
  const input = Object.fromEntries(
    Object.entries(paths).map(([name, path]) => [name, join(projectFolder, "src", path)]),
  );
  try {
    const checks = { eval: false };
    const bundled = await rolldown({ input, cwd: projectFolder, platform: "node", checks });
    const fileNames = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
    await bundled.write({ dir: folder, format: "esm", ...fileNames });
    await bundled.close();
    const read = async (name) => [
      name,
      await import(pathToFileURL(join(folder, `${name}.mjs`)).href),
    ];
    return Object.fromEntries(await Promise.all(Object.keys(paths).map(read)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Reads the named schemas. */
export async function readSchemas(names = schemaNames) {
  const paths = Object.fromEntries(names.map((name) => [name, sources[name][0]]));
  const modules = await readModules(paths);
  return Object.fromEntries(names.map((name) => [name, modules[name][sources[name][1]]()]));
}
