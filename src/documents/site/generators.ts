/** How links to pages look, and how links between files lead to pages. */
export type LinkStyle =
  | "antora"
  | "docusaurus"
  | "hugo"
  | "jekyll"
  | "mkdocs"
  | "sphinx"
  | "starlight"
  | "vitepress"
  | "github"
  | "obsidian"
  | "docfx"
  | "myst"
  | "quarto";

/** A site generator as `ingest.generator` names it. */
export type GeneratorName =
  | "antora"
  | "docfx"
  | "docusaurus"
  | "eleventy"
  | "hugo"
  | "jekyll"
  | "jupyterbook"
  | "mdbook"
  | "mintlify"
  | "mkdocs"
  | "myst"
  | "obsidian"
  | "quarto"
  | "sphinx"
  | "starlight"
  | "vitepress";

/** What a site generator does with the files of a folder and below it. */
export interface Generator {
  /** For people. */
  title: string;
  /** A file or folder that only this generator has in the folder of a site. */
  config: RegExp;
  /** Another name of it, in a folder that has a file or folder `beside` and none `without`. */
  otherConfig?: { config: RegExp; beside: RegExp; without?: RegExp };
  /** Paths below the folder of files that pages include or that make menus: no pages themselves. */
  partials?: RegExp;
  /** How links between its files resolve, and what anchors its headings have. */
  linkStyle?: LinkStyle;
}

/**
 * The generators. To add one, add its name above and an entry here. Where a folder has files of
 * two, the first one counts.
 */
export const generators: Readonly<Record<GeneratorName, Generator>> = {
  // docs.antora.org, "Standard file set": partials, navigation files and names that begin with "_"
  // are not published.
  antora: {
    title: "Antora",
    config: /^antora\.ya?ml$/,
    partials:
      /^modules\/(?:[^/]+\/)+?(?:partials|examples)\/|^modules\/[^/]+\/nav[^/]*\.adoc$|\/_[^/]/,
    linkStyle: "antora",
  },
  // docusaurus.io, "Markdown features > Importing Markdown" and "Project structure": of `src`, only
  // `pages` has pages, and no file of another format than Markdown is one.
  docusaurus: {
    title: "Docusaurus",
    config: /^docusaurus\.config\.[cm]?[jt]s$/,
    partials: /(?:^|\/)_[^/]|^src\/(?!pages\/)|^(?:build|static)\/|\.(?:html?|txt)$/,
    linkStyle: "docusaurus",
  },
  // quarto.org, "Website navigation", and "Includes": HTML files are parts of pages, or copied as they are.
  quarto: {
    title: "Quarto",
    config: /^_quarto\.ya?ml$/,
    // "Website basics > Render targets": files called README are no pages. "Custom Listings": templates.
    partials: /(?:^|\/)(?:_[^/]|readme\.\w+$)|\.(?:html?|txt)$|\.ejs\.md$/i,
    linkStyle: "quarto",
  },
  hugo: {
    title: "Hugo",
    config: /^hugo\.(?:toml|ya?ml|json)$/,
    // gohugo.io, "Configure Hugo": the name before 0.110, and the folder `config/_default`. Zola has
    // a `config.toml` and a `content` as well, and no `layouts`.
    otherConfig: {
      config: /^config(?:\.(?:toml|ya?ml|json))?$/,
      beside: /^content(?:\..*)?$/,
      without: /^(?:templates|sass)$/,
    },
    // gohugo.io, "Directory structure": HTML of `static` is copied as it is; "Content formats": text is none.
    partials:
      /^(?:layouts|archetypes|themes|public|resources)\/|(?:^|\/)_includes\/|^static\/.*\.html?$|\.txt$/,
    linkStyle: "hugo",
  },
  sphinx: {
    title: "Sphinx",
    config: /^conf\.py$/,
    partials: /^_(?:templates|static|build)\//,
    linkStyle: "sphinx",
  },
  myst: {
    title: "MyST",
    config: /^myst\.ya?ml$/,
    // mystmd.org, "Table of Contents": Markdown, notebooks and TeX are pages.
    partials: /^_build\/|\.(?:html?|txt)$/,
    linkStyle: "myst",
  },
  // jupyterbook.org, "Structure and organize content": its `_config.yml` is not one of Jekyll.
  jupyterbook: {
    title: "Jupyter Book",
    config: /^_toc\.yml$/,
    partials: /^_build\//,
    // Sphinx builds it.
    linkStyle: "sphinx",
  },
  // mintlify.com, "Reusable snippets"; other tools have a `docs.json` as well.
  mintlify: {
    title: "Mintlify",
    config: /^mint\.json$/,
    otherConfig: { config: /^docs\.json$/, beside: /\.mdx$/, without: /^docusaurus\.config\./ },
    partials: /^snippets\//,
  },
  // starlight.astro.build: a collection of Astro.
  starlight: {
    title: "Starlight",
    config: /^astro\.config\.(?:[cm]?js|ts)$/,
    // docs.astro.build, "Project structure" and "Content collections": only `content` and `pages` have
    // pages, and names that begin with "_" are none.
    partials:
      /^src\/(?!content\/|pages\/)|^src\/content\/(?:.*\/)?_[^/]|^(?:public|dist|scripts)\//,
    linkStyle: "starlight",
  },
  jekyll: {
    title: "Jekyll",
    config: /^_config\.ya?ml$/,
    // jekyllrb.com, "Directory structure", and "Configuration options > include": of names that begin
    // with "_", only folders of collections and posts have pages.
    partials: /(?:^|\/)_(?:includes|layouts|data|sass|plugins|site)\/|(?:^|\/)_[^/]*$/,
    linkStyle: "jekyll",
  },
  eleventy: {
    title: "Eleventy",
    config: /^(?:\.eleventy\.js|eleventy\.config\.[cm]?js)$/,
    partials: /(?:^|\/)_(?:includes|layouts)\//,
  },
  mkdocs: {
    title: "MkDocs",
    config: /^mkdocs\.ya?ml$/,
    // mkdocs.org, "Command line interface": `--config-file` names another one.
    otherConfig: { config: /^mkdocs[-_.][\w.-]*\.ya?ml$/, beside: /^docs$/ },
    // squidfunk.github.io/mkdocs-material, "Customization": templates beside the pages.
    partials: /^overrides\//,
    linkStyle: "mkdocs",
  },
  // VuePress is its predecessor: the same Markdown, links and anchors.
  vitepress: {
    title: "VitePress",
    config: /^\.(?:vite|vue)press$/,
    // vitepress.dev, "Routing": Markdown alone is a page.
    partials: /^public\/|\.(?:html?|txt)$/,
    linkStyle: "vitepress",
  },
  // rust-lang.github.io/mdBook, "SUMMARY.md": it is the menu. Markdown alone is a page.
  mdbook: {
    title: "mdBook",
    config: /^book\.toml$/,
    partials: /(?:^|\/)SUMMARY\.md$|^(?:book|theme)\/|\.(?:html?|txt)$/,
  },
  obsidian: { title: "Obsidian", config: /^\.obsidian$/, linkStyle: "obsidian" },
  docfx: {
    title: "DocFX",
    config: /^docfx\.json$/,
    // "docfx.json": Markdown and descriptions of an API are content.
    partials: /(?:^|\/)(?:includes\/|toc\.md$)|\.(?:html?|txt)$/i,
    linkStyle: "docfx",
  },
};

export const generatorNames = Object.keys(generators) as GeneratorName[];
