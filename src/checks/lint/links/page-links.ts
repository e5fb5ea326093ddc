import type { LintPage } from "../rule.ts";
import { findLinks, type FoundLink } from "../../../documents/links/find-links.ts";
import { relativeLinks, type RelativeLink } from "../../../documents/links/rewrite-links.ts";
import type { LinkingFile } from "../../../documents/links/resolve-link.ts";
import { targetsFor } from "../../../documents/links/targets.ts";
import { effectiveFor } from "../../../documents/map/effective.ts";
import { oncePerPage } from "../page/once.ts";
import { pageBody } from "./page-body.ts";

/** Whether rules read the links of a page: those of a file that is sent as Markdown. */
export const hasLinks = ({ parsed, part, skipped }: LintPage): boolean =>
  part === 0 && parsed.isMarkdown && !parsed.pages && skipped === undefined;

/** The page as documents/links knows it. */
function linkingFile({ path, settings }: LintPage): LinkingFile {
  const style = effectiveFor(path, settings).linkStyle?.value;
  return { path, style, targets: targetsFor(settings), note: () => {} };
}

/** The links of a page, each list in the order of the text. */
export interface PageLinks {
  relative: readonly RelativeLink[];
  /** To a place in the page itself. */
  own: readonly FoundLink[];
}

/** The links of the body of a page, see pageBody(). */
export const linksOf = oncePerPage((page): PageLinks => {
  const found = findLinks(pageBody(page).text);
  const own = found.filter(({ target }) => target.startsWith("#"));
  return { relative: [...relativeLinks(found, linkingFile(page))], own };
});

/** An address for a message. Not truncated: redaction could not recognise a truncated key. */
export const shownAddress = (address: string): string =>
  address.length > 120 ? `an address of ${address.length} characters` : address;
