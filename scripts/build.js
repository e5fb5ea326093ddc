import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureInstalled, projectFolder } from "./install.js";
import { billOfMaterials, licences } from "./licences.js";
import { readSchemas } from "./schemas.js";

/** Dotted keys of a configuration file, from its schema: as `config get` takes them. */
async function configKeys() {
  const { cliconfig: schema } = await readSchemas(["cliconfig"]);
  const visit = (node, path) =>
    Object.entries(node.properties ?? {}).flatMap(([name, each]) => {
      const key = path === "" ? name : `${path}.${name}`;
      return each.properties ? [key, ...visit(each, key)] : [key];
    });
  const { $schema: _, profiles, ...shared } = schema.properties;
  const own = visit(profiles.additionalProperties, "");
  const byName = (a, b) => (a < b ? -1 : 1);
  return [...new Set([...visit({ properties: shared }, ""), ...own])].toSorted(byName);
}

/** Returns the paths of all source files that went into the bundle. */
async function bundle(rolldown, config, dist) {
  const bundled = await rolldown({
    ...config,
    cwd: projectFolder,
    onLog(level, log, handle) {
      // Else the package would be left out, and the tool would miss it when it runs.
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(`${log.message}; run npm ci`);
      handle(level, log);
    },
  });
  const { output } = await bundled.write({ ...config.output, dir: dist });
  await bundled.close();
  return output.flatMap((each) => each.moduleIds ?? []);
}

/**
 * Bundles src/ into dist/ and writes the help texts that the entry answers with.
 * Returns the paths of all source files that went into it.
 */
export async function build({ dist = join(projectFolder, "dist"), plugins = [] } = {}) {
  const { rolldown } = await import("rolldown");
  const { default: program, completion } = await import("../rolldown.config.js");
  rmSync(dist, { recursive: true, force: true });
  const own = { ...program, plugins: [...program.plugins, ...plugins] };
  const sources = [
    ...(await bundle(rolldown, own, dist)),
    ...(await bundle(rolldown, completion, dist)),
  ];
  mkdirSync(dist, { recursive: true });
  // dist/ is CommonJS although the package is not.
  writeFileSync(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  const require = createRequire(import.meta.url);
  const { helpTexts, topicTexts, surfaceTable } = require(join(dist, "program.cjs"));
  const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  const { "": short, ...ofCommands } = helpTexts("short");
  const { "": full, ...fullOfCommands } = helpTexts("full");
  const whole = { version: `${version}\n`, short: { "": short }, full: { "": full } };
  const commands = { short: ofCommands, full: fullOfCommands, topics: topicTexts() };
  writeFileSync(join(dist, "help.json"), JSON.stringify(whole));
  writeFileSync(join(dist, "help-commands.json"), JSON.stringify(commands));
  const rules = require(join(dist, "rules.cjs")).rules.map(({ name }) => name);
  const table = surfaceTable({ keys: await configKeys(), rules });
  writeFileSync(join(dist, "completion.json"), JSON.stringify(table));
  writeFileSync(join(dist, "LICENSES.txt"), licences(sources));
  writeFileSync(join(dist, "sbom.json"), billOfMaterials(sources));
  return sources;
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  ensureInstalled();
  await build();
}
