// What `npm run bundle` and `npm run executable` have in common: the program, taken apart into
// the files that one file has to carry.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.js";
import { projectFolder } from "./install.js";
import { licences } from "./licences.js";

/** Where both are written to: not dist/, which npm packs and each build empties. */
export const outputFolder = join(projectFolder, "build");

const inProject = (...names) => join(projectFolder, ...names);

// jq is no file beside the program, so it is asked for where everything else is carried.
const carriedJq = {
  name: "carried-jq",
  load: (id) =>
    id.endsWith("/src/output/formats/jq-library.ts")
      ? `export const readJqLibrary = () => ({ code: carried("jq.js"), wasm: carried("jq.wasm") });`
      : null,
};

/**
 * Builds the program and gives each file that it loads when it runs, by its name
 * (`bin/knowctl.cjs`, `dist/…`, `jq.wasm`), and `LICENSES.txt` for everything in them.
 */
export async function collectFiles() {
  const dist = mkdtempSync(join(tmpdir(), "knowctl-carry-"));
  try {
    const moduleIds = await build({ dist, plugins: [carriedJq] });
    const files = new Map([
      ["bin/knowctl.cjs", readFileSync(inProject("bin", "knowctl.cjs"))],
      ["jq.js", readFileSync(inProject("node_modules", "jq-web", "jq.js"))],
      ["jq.wasm", readFileSync(inProject("node_modules", "jq-web", "jq.wasm"))],
    ]);
    for (const name of readdirSync(dist, { recursive: true })) {
      if (/\.(cjs|json)$/.test(name) && name !== "package.json") {
        files.set(`dist/${name.replaceAll("\\", "/")}`, readFileSync(join(dist, name)));
      }
    }
    files.set("LICENSES.txt", Buffer.from(licences(moduleIds, ["jq-web"])));
    return files;
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}
