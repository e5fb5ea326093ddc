// The JSON Schemas of schema/ whose data src/ reads as well: from the modules there that check it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { toJSONSchema } from "zod/mini";
import { projectFolder } from "./install.js";

/** Each such file of schema/: its module, and the zod schema there, or the function that makes its JSON Schema. */
const sources = {
  "chat-events": ["output/chat/turn/chat-events.ts", "ChatEventLine"],
  cliconfig: ["config/values/schema.ts", "configJsonSchema"],
  coverage: ["checks/eval/coverage.ts", "CoverageOutput"],
  eval: ["checks/eval/result.ts", "EvalOutput", { reused: "ref" }],
  "eval-suite": ["checks/eval/suite/suite-schema.ts", "suiteJsonSchema"],
  lint: ["output/report/stored/checks.ts", "LintOutput"],
  search: ["output/search/schema.ts", "SearchResults"],
  report: ["output/report/stored/record.ts", "RunReport"],
  verify: ["output/report/stored/checks.ts", "VerifyOutput"],
};

const schemaNames = Object.keys(sources);

/** Loads modules of src/ by name. They are bundled first: Node 20 reads no TypeScript. */
async function readModules(paths) {
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

/** JSON Schema (draft 2020-12) of a zod schema, or what a function returns. */
function jsonSchemaOf(source, options) {
  if (typeof source === "function") return source();
  const { $schema, title, description, ...rest } = toJSONSchema(source, {
    io: "input",
    ...options,
  });
  return { $schema, title, description, ...rest };
}

/** Reads the named schemas. */
export async function readSchemas(names = schemaNames) {
  const paths = Object.fromEntries(names.map((name) => [name, sources[name][0]]));
  const modules = await readModules(paths);
  const all = names.map((name) => [
    name,
    jsonSchemaOf(modules[name][sources[name][1]], sources[name][2]),
  ]);
  return Object.fromEntries(all);
}
