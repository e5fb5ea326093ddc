import type { Link } from "./link-template.ts";

const absolute = /^[A-Za-z][A-Za-z0-9+.-]+:/;
// These schemes run or embed something when somebody clicks on a citation.
const unsafe = /^(?:javascript|data|vbscript):/i;

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
