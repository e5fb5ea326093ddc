/** How a site makes anchors of headings. */
export type AnchorStyle = "github" | "docusaurus" | "mkdocs";

/** Site generators whose links link-style.ts makes. */
export type LinkStyle = "docusaurus" | "hugo" | "mkdocs" | "starlight" | "github";
