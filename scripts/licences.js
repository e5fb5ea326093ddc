import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "./install.js";

function licenceOf(folder) {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
}

/**
 * Licences of this program and of all that is bundled with it, as their terms ask for:
 * of the packages that `moduleIds` (paths of source files) lie in, and of those named.
 */
export function licences(moduleIds, names = []) {
  const folders = new Set(names.map((name) => join(projectFolder, "node_modules", name)));
  for (const id of moduleIds) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/")) ?? [];
    if (folder && existsSync(join(folder, "package.json"))) folders.add(folder);
  }
  return [projectFolder, ...[...folders].toSorted((a, b) => (a < b ? -1 : 1))]
    .map(licenceOf)
    .join(`\n${"-".repeat(72)}\n\n`);
}
