import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { ensureInstalled, projectFolder } from "./install.js";

/** Bundles src/ into dist/ and writes the help texts that the entry answers with. */
export async function build() {
  const { rolldown } = await import("rolldown");
  const { default: config } = await import("../rolldown.config.js");
  const dist = join(projectFolder, "dist");
  rmSync(dist, { recursive: true, force: true });
  const bundle = await rolldown({
    ...config,
    cwd: projectFolder,
    onLog(level, log, handle) {
      // Else the package would be left out, and the tool would miss it when it runs.
      if (log.code === "UNRESOLVED_IMPORT") throw new Error(`${log.message}; run npm ci`);
      handle(level, log);
    },
  });
  await bundle.write({ ...config.output, dir: dist });
  await bundle.close();
  mkdirSync(dist, { recursive: true });
  // dist/ is CommonJS although the package is not.
  writeFileSync(join(dist, "package.json"), '{ "type": "commonjs" }\n');
  const require = createRequire(import.meta.url);
  const { helpTexts } = require(join(dist, "program.cjs"));
  const { version } = JSON.parse(readFileSync(join(projectFolder, "package.json"), "utf8"));
  const help = { version: `${version}\n`, help: helpTexts() };
  writeFileSync(join(dist, "help.json"), JSON.stringify(help));
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  ensureInstalled();
  await build();
}
