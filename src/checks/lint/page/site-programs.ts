import { readdirSync } from "node:fs";
import { join, posix } from "node:path";
import type { DocumentSettings } from "../../../documents/map/settings.ts";
import { hasProgram } from "../../../documents/formats/markdown/mdbook.ts";
import { valueAt } from "../../../documents/front-matter/values.ts";
import { configOf } from "../../../documents/site/config.ts";
import { bytesAt, siteOf, type Site } from "../../../documents/site/sites.ts";
import { explicitIds, headingTexts, type AnchorSources } from "./anchors.ts";

// Where sites keep what makes their pages: vitepress.dev, "File-Based Routing"; jekyllrb.com,
// "Directory structure"; gohugo.io, "Directory structure"; mkdocs-material, "Customization".
const folders = [
  ".vitepress",
  ".vuepress",
  "_plugins",
  "_layouts",
  "layouts",
  "overrides",
  "hooks",
];
const program = /\.(?:[cm]?[jt]sx?|vue|rb|html?|py|lua)$/;
const foreign = /^(?:node_modules|cache|dist|\..*)$/;
const [mostFiles, mostBytes] = [200, 100_000];

function* programsIn(
  folder: string,
  root: string,
  depth = 4,
  pattern = program,
): Generator<string> {
  let entries;
  try {
    entries = readdirSync(join(root, folder), { withFileTypes: true });
  } catch {
    return;
  }
  for (const entry of entries) {
    const path = posix.join(folder, entry.name);
    // A symbolic link may lead out of the project.
    if (entry.isFile() && pattern.test(entry.name)) yield path;
    else if (depth > 0 && entry.isDirectory() && !foreign.test(entry.name))
      yield* programsIn(path, root, depth - 1, pattern);
  }
}

const textAt = (path: string): string => Buffer.from(bytesAt(path, mostBytes)).toString();

/** The headings and ids that the programs of a site write; undefined without one. They are never run. */
function anchorsOfSite({ prefix }: Site, root: string): AnchorSources | undefined {
  const [headings, ids] = [new Set<string>(), new Set<string>()];
  let count = 0;
  for (const folder of folders) {
    for (const path of programsIn(prefix + folder, root)) {
      if (++count > mostFiles) break;
      const text = textAt(join(root, path)).replaceAll(String.raw`\n`, "\n");
      // `## ${title}`: its text is unknown.
      for (const each of headingTexts(text)) if (!/[{}$<>]/.test(each)) headings.add(each);
      for (const each of explicitIds(text)) ids.add(each);
    }
  }
  if (headings.size + ids.size === 0) return undefined;
  return { headings: [...headings].join("\n"), ids: [...ids].join("\n") };
}

const sitesOfRun = new WeakMap<DocumentSettings, Set<string>>();

/**
 * The anchors that the programs of the site of a page add to pages, for the first page of a site that
 * this thread reads: they are the same for all.
 */
export function anchorsOfPrograms(
  path: string,
  settings: DocumentSettings,
): AnchorSources | undefined {
  const site = siteOf(path, settings);
  if (!site) return undefined;
  let known = sitesOfRun.get(settings);
  if (!known) sitesOfRun.set(settings, (known = new Set()));
  if (known.has(site.prefix)) return undefined;
  known.add(site.prefix);
  return anchorsOfSite(site, settings.root);
}

// Where projects keep the programs that build them: scala-sbt.org, "Build definition"; docs.gradle.org,
// "Organizing Gradle Projects".
const buildFolders = ["project", "buildSrc", "scripts", "tools", "ci"];
const buildProgram =
  /^(?:.+\.(?:sbt|scala|gradle|kts|mk|sh|py|rb|[cm]?[jt]s)|(?:Make|Rake|Just|Task)file|justfile|Taskfile\.ya?ml)$/;
const writtenName =
  /["'/\s]([\w-][\w.-]{0,80}\.(?:md|mdx|markdown|rst|adoc|html|txt|ipynb))["'\s]/g;
// Pages of these names stand in many folders.
const anyFolder = /^(?:index|readme|_index|changelog|contributing|licen[cs]e)\./i;
const namesOfRun = new WeakMap<DocumentSettings, ReadonlySet<string>>();

function namesInPrograms(root: string): Set<string> {
  const names = new Set<string>();
  let count = 0;
  const inRoot = programsIn("", root, 0, buildProgram);
  for (const programs of [
    inRoot,
    ...buildFolders.map((each) => programsIn(each, root, 2, buildProgram)),
  ]) {
    for (const path of programs) {
      if (++count > mostFiles) return names;
      for (const [, name = ""] of textAt(join(root, path)).matchAll(writtenName)) names.add(name);
    }
  }
  return names;
}

/** Whether a program that builds the project names a file, by its own name: the build may write it. */
export function isInPrograms(name: string, settings: DocumentSettings): boolean {
  if (anyFolder.test(name)) return false;
  let names = namesOfRun.get(settings);
  if (!names) namesOfRun.set(settings, (names = namesInPrograms(settings.root)));
  return names.has(name);
}

// quarto.org, "Lua Development": a filter makes headings with this function.
const makesHeadings = /\bpandoc\.Header\s*\(/;
const filterName = /[\w./-]+\.lua\b/g;
const filtersOfRun = new WeakMap<DocumentSettings, Map<string, boolean>>();

/** Whether a filter that the configuration of a folder of Quarto names, or of one above it, makes headings. */
function hasFilter(folder: string, prefix: string, settings: DocumentSettings): boolean {
  let known = filtersOfRun.get(settings);
  if (!known) filtersOfRun.set(settings, (known = new Map()));
  let found = known.get(folder);
  if (found === undefined) {
    const textOf = (name: string): string => {
      const path = posix.join(folder, name);
      return path.startsWith("../") ? "" : textAt(join(settings.root, path));
    };
    // quarto.org, "Project Basics > Directory Metadata".
    const names = ["_quarto.yml", "_metadata.yml"].flatMap(
      (name) => textOf(name).match(filterName) ?? [],
    );
    const isTop = folder === "" || `${folder}/` === prefix;
    const above = folder.slice(0, Math.max(0, folder.lastIndexOf("/")));
    found =
      names.some((name) => makesHeadings.test(textOf(name))) ||
      (!isTop && hasFilter(above, prefix, settings));
    known.set(folder, found);
  }
  return found;
}

/** Whether a filter of its site may add headings to a page. */
export function hasHeadingFilter(path: string, settings: DocumentSettings): boolean {
  const site = siteOf(path, settings);
  return (
    site?.generator === "quarto" &&
    hasFilter(path.slice(0, Math.max(0, path.lastIndexOf("/"))), site.prefix, settings)
  );
}

/** Whether a program reads the pages of a book before they are made: it may write links and ids. */
export function hasPreprocessor(path: string, settings: DocumentSettings): boolean {
  const site = siteOf(path, settings);
  if (site?.generator !== "mdbook") return false;
  return hasProgram(valueAt(configOf(site, settings).data, "preprocessor"));
}
