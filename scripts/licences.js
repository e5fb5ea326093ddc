import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { projectFolder } from "./install.js";

const manifestOf = (folder) => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

function licenceOf(folder) {
  const { name, version, license } = manifestOf(folder);
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file ? readFileSync(join(folder, file), "utf8").trim() : `Licence: ${license}`;
  return `${name} ${version}\n\n${text}\n`;
}

/** The folders of the packages that `moduleIds` (paths of source files) lie in, and of those named. */
function packageFolders(moduleIds, names = []) {
  const folders = new Set(names.map((name) => join(projectFolder, "node_modules", name)));
  for (const id of moduleIds) {
    const [folder] = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(id.replaceAll("\\", "/")) ?? [];
    if (folder && existsSync(join(folder, "package.json"))) folders.add(folder);
  }
  return [...folders].toSorted((a, b) => (a < b ? -1 : 1));
}

/** One licence, or an expression of several (spdx.org/licenses). */
const licenceChoice = (license) =>
  / /.test(license) ? { expression: license } : { license: { id: license } };

/**
 * The bill of materials of a bundle: JSON of CycloneDX 1.5. It has no time and no number of its own, so
 * that the same sources make the same file.
 */
export function billOfMaterials(moduleIds) {
  const component = (type, { name, version, license }) => ({
    type,
    name,
    version,
    purl: `pkg:npm/${name.replace("@", "%40")}@${version}`,
    licenses: license === undefined ? [] : [licenceChoice(license)],
  });
  const bill = {
    bomFormat: "CycloneDX",
    specVersion: "1.5",
    version: 1,
    metadata: { component: component("application", manifestOf(projectFolder)) },
    components: packageFolders(moduleIds).map((folder) => component("library", manifestOf(folder))),
  };
  return `${JSON.stringify(bill, null, 2)}\n`;
}

/**
 * Licences of this program and of all that is bundled with it, as their terms ask for:
 * of the packages that `moduleIds` (paths of source files) lie in, and of those named. A source file
 * with data of others has their terms beside it: `FILE.licence`.
 */
export function licences(moduleIds, names = []) {
  const ofPackages = [projectFolder, ...packageFolders(moduleIds, names)];
  const beside = [...new Set(moduleIds)].map((id) => `${id}.licence`).filter(existsSync);
  const ofData = beside.toSorted().map((file) => readFileSync(file, "utf8"));
  return [...ofPackages.map(licenceOf), ...ofData].join(`\n${"-".repeat(72)}\n\n`);
}
