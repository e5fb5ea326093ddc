/** Returns the value of a name in a link template. */
export type LinkValue = (name: string) => string | undefined;

const absolute = /^[A-Za-z][A-Za-z0-9+.-]+:/;
// These schemes run or embed something when somebody clicks on a citation.
const unsafe = /^(?:javascript|data|vbscript):/i;

export type Link = { link: string } | { problem: string };

/** Percent-encodes each segment, so that "/" stays. */
function encodePath(path: string): string {
  return path.split("/").map(encodeURIComponent).join("/");
}

/**
 * Fills a template, for example `https://docs.example.com/{path}`. An empty value also removes the
 * slash after it (`{dir}` of a file in the root). Returns a `problem` when a name has no value.
 */
export function expandTemplate(template: string, valueOf: LinkValue): Link {
  const missing: string[] = [];
  const link = template.replace(/\{([^{}]+)\}(\/?)/g, (_whole, name: string, slash: string) => {
    const value = valueOf(name);
    if (value === undefined) missing.push(name);
    return value ? encodePath(value) + slash : "";
  });
  return missing.length === 0 ? { link } : { problem: `no value for {${missing.join("}, {")}}` };
}

/** Keeps an absolute link; joins a relative link to `base`. Returns a `problem` for a bad link. */
export function joinLink(link: string, base: string | undefined): Link {
  // Browsers skip blanks and control characters in front of a scheme and in it.
  const bare = link.replace(/[^!-~\u00a1-\uffff]/g, "");
  if (unsafe.test(bare))
    return { problem: `${bare.slice(0, bare.indexOf(":"))}: links are unsafe` };
  if (absolute.test(link)) return { link };
  if (base === undefined)
    return {
      problem: link === "" ? "the link is empty" : "the link is relative and linkBase is not set",
    };
  // Joined as text: `new URL("/x", "https://host/prefix")` would lose the prefix.
  return { link: `${base.replace(/\/+$/, "")}/${link.replace(/^(?:\.?\/)+/, "")}` };
}
