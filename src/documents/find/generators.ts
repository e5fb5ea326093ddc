/** What belongs to a site generator in the folder of its configuration file and below it. */
interface Generator {
  name: string;
  /** A name in the folder that only this generator gives. */
  config: RegExp;
  /** Paths below the folder of files that pages include or that make menus: no pages themselves. */
  partials: RegExp;
}

const generators: readonly Generator[] = [
  // docs.antora.org, "Standard file set": partials, navigation files and names that begin with "_"
  // are not published.
  {
    name: "Antora",
    config: /^antora\.ya?ml$/,
    partials:
      /^modules\/(?:[^/]+\/)+?(?:partials|examples)\/|^modules\/[^/]+\/nav[^/]*\.adoc$|\/_[^/]/,
  },
  // docusaurus.io, "Markdown features > Importing Markdown"; quarto.org, "Website navigation".
  { name: "Docusaurus", config: /^docusaurus\.config\.[cm]?[jt]s$/, partials: /(?:^|\/)_[^/]/ },
  { name: "Quarto", config: /^_quarto\.ya?ml$/, partials: /(?:^|\/)_[^/]/ },
  {
    name: "Hugo",
    config: /^hugo\.(?:toml|ya?ml|json)$/,
    partials: /^(?:layouts|archetypes)\/|(?:^|\/)_includes\//,
  },
  { name: "Sphinx", config: /^conf\.py$/, partials: /^_(?:templates|static|build)\// },
  { name: "Jekyll", config: /^_config\.ya?ml$/, partials: /(?:^|\/)_(?:includes|layouts)\// },
  {
    name: "Eleventy",
    config: /^(?:\.eleventy\.js|eleventy\.config\.[cm]?js)$/,
    partials: /(?:^|\/)_(?:includes|layouts)\//,
  },
  { name: "DocFX", config: /^docfx\.json$/, partials: /(?:^|\/)includes\// },
];

/** A generator and the folder of its configuration file, root-relative with a trailing "/"; "" for the root. */
export interface Site {
  generator: Generator;
  prefix: string;
}

/** The generator whose configuration file is among the names of a folder. */
export function siteIn(prefix: string, names: readonly { name: string }[]): Site | undefined {
  for (const { name } of names) {
    const generator = generators.find(({ config }) => config.test(name));
    if (generator) return { generator, prefix };
  }
  return undefined;
}

/** Why a file of a site is no page; undefined if it may be one. */
export function partialReason({ generator, prefix }: Site, path: string): string | undefined {
  return generator.partials.test(path.slice(prefix.length))
    ? `a partial of ${generator.name}, no page (a run includes it if you name it)`
    : undefined;
}
