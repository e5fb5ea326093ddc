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
 * of the packages that `moduleIds` (paths of source files) lie in, and of those named. A source file
 * with data of others has their terms beside it: `FILE.licence`.
 */
export function licences(moduleIds, names = []) {
  const folders = new Set(names.map((name) => join(projectFolder, "node_modules", name)));
  for (const id of moduleIds) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/")) ?? [];
    if (folder && existsSync(join(folder, "package.json"))) folders.add(folder);
  }
  const ofPackages = [projectFolder, ...[...folders].toSorted((a, b) => (a < b ? -1 : 1))];
  const beside = [...new Set(moduleIds)].map((id) => `${id}.licence`).filter(existsSync);
  const ofData = beside.toSorted().map((file) => readFileSync(file, "utf8"));
  return [...ofPackages.map(licenceOf), ...ofData].join(`\n${"-".repeat(72)}\n\n`);
}
