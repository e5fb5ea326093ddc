// The JSON Schemas of schema/, from the modules of src/ that describe the data.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { projectFolder } from "./install.js";

/** Each file of schema/: its module and the function that returns the schema. */
const sources = {
  "chat-events": ["output/chat/turn/chat-events.ts", "chatEventsJsonSchema"],
  cliconfig: ["config/values/json-schema.ts", "configJsonSchema"],
  "connectors-errors": ["output/connectors-schema.ts", "connectorsErrorsJsonSchema"],
  "connectors-status": ["output/connectors-schema.ts", "connectorsStatusJsonSchema"],
  doctor: ["output/report/doctor-schema.ts", "doctorJsonSchema"],
  drift: ["output/drift-schema.ts", "driftJsonSchema"],
  "ingest-events": ["output/ingest-events.ts", "ingestEventsJsonSchema"],
  lint: ["output/lint/lint-schema.ts", "lintJsonSchema"],
  plan: ["output/plan-schema.ts", "planJsonSchema"],
  search: ["output/search/schema.ts", "searchJsonSchema"],
  report: ["output/report/record.ts", "reportJsonSchema"],
  verify: ["output/verify-schema.ts", "verifyJsonSchema"],
};

const schemaNames = Object.keys(sources);

/** Reads the named schemas. The modules are bundled first: Node 20 reads no TypeScript. */
export async function readSchemas(names = schemaNames) {
  const { rolldown } = await import("rolldown");
  const folder = mkdtempSync(join(tmpdir(), "knowctl-schemas-"));
  const input = Object.fromEntries(
    names.map((name) => [name, join(projectFolder, "src", sources[name][0])]),
  );
  try {
    const bundled = await rolldown({ input, cwd: projectFolder, platform: "node" });
    const fileNames = { entryFileNames: "[name].mjs", chunkFileNames: "[name]-[hash].mjs" };
    await bundled.write({ dir: folder, format: "esm", ...fileNames });
    await bundled.close();
    const read = async (name) => {
      const module = await import(pathToFileURL(join(folder, `${name}.mjs`)).href);
      return [name, module[sources[name][1]]()];
    };
    return Object.fromEntries(await Promise.all(names.map(read)));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
