import { valueAt } from "../../../documents/front-matter/values.ts";
import { configOf } from "../../../documents/site/config.ts";
import { siteOf } from "../../../documents/site/sites.ts";
import { isAdoc } from "../page/anchors.ts";
import { bodyOf } from "../page/body.ts";
import { findInProse, isUnescaped } from "../page/spans.ts";
import type { Cause, LintPage, PageRule } from "../rule.ts";
import { sentAsIs } from "./markup.ts";

// docs.asciidoctor.org, "Handle unresolved references".
const attribute = /\{[a-z][\w-]{1,60}\}/gi;
const mostKept = 100;

/**
 * An attribute that many pages name has one definition. gitlab.com/antora/antora-collector-extension: a
 * program of the site may define many of them.
 */
function causeOf(name: string, { path, settings }: LintPage): Cause {
  const site = siteOf(path, settings);
  const isMade = site && valueAt(configOf(site, settings).data, "ext.collector") !== undefined;
  const what = "places name attributes that ext.collector of antora.yml may define";
  const wider = { key: `collector of ${site?.prefix}`, least: 1, what };
  return { key: name, least: 0, what: "pages name it", ...(isMade ? { wider } : {}) };
}

/** Attributes of AsciiDoc that a build or a configuration would define. */
export const undefinedAttribute: PageRule = {
  kind: "page",
  name: "undefined-attribute",
  group: "content",
  severity: "warning",
  summary: "Pages of AsciiDoc name an attribute that nothing defines",
  advice:
    "A build may define it, and an upload knows only the page and the configuration of its site: an answer quotes `{name}`. " +
    "Set the value in `ingest.attributes`, or put an example in code marks. An attribute has one finding in a project.",
  bad: "<!-- file: rooms.adoc -->\n= Rooms\n\nRelease {release-name} of the plan shows all four floors of the house.\n",
  good: "<!-- file: rooms.adoc -->\n= Rooms\n:release-name: Aare\n\nRelease {release-name} of the plan shows all four floors of the house.\n",
  *check(page) {
    const { text } = bodyOf(page);
    const { source } = page;
    if (source === undefined || !isAdoc(page) || !text.includes("{")) return;
    const found = findInProse(page, attribute, (name, at) => {
      // `/users/{id}`: a part of an address; `@{upstream}`, `^{tree}`: the syntax of a program.
      const isPart =
        /[\w/={$@^-]/.test(text.charAt(at - 1)) || text.charAt(at + name.length) === "/";
      return isPart || !isUnescaped(source, name) ? undefined : name;
    });
    const known = new Set<string>();
    for (const { message: name, span } of found) {
      // The author protects the name: `\{name}`.
      if (known.has(name) || (span && source[span.start - 1] === "\\")) continue;
      if (known.size === mostKept) return;
      known.add(name);
      yield { span, message: sentAsIs(name), cause: causeOf(name, page) };
    }
  },
};
