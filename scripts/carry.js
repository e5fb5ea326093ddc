// What `npm run bundle` and `npm run executable` have in common: the program, taken apart into
// the files that one file has to carry.
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "./build.js";
import { projectFolder } from "./install.js";

/** Where both are written to: not dist/, which npm packs and each build empties. */
export const outputFolder = join(projectFolder, "build");

const inProject = (...names) => join(projectFolder, ...names);

// jq is no file beside the program, so it is asked for where everything else is carried.
const carriedJq = {
  name: "carried-jq",
  load: (id) =>
    id.endsWith("/src/output/jq-library.ts")
      ? `export const readJqLibrary = () => ({ code: carried("jq.js"), wasm: carried("jq.wasm") });`
      : null,
};

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
}

/** Licences of this program and of all that is bundled with it, as their terms ask for. */
function licences(moduleIds) {
  const folders = new Set([inProject("node_modules", "jq-web")]);
  for (const id of moduleIds) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/")) ?? [];
    if (folder && existsSync(join(folder, "package.json"))) folders.add(folder);
  }
  return [projectFolder, ...[...folders].toSorted()].map(licenceOf).join(`\n${"-".repeat(72)}\n\n`);
}

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
    files.set("LICENSES.txt", Buffer.from(licences(moduleIds)));
    return files;
  } finally {
    rmSync(dist, { recursive: true, force: true });
  }
}
