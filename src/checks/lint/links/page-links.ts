import type { LintPage } from "../rule.ts";
import { relativeLinks, type RelativeLink } from "../../../documents/links/rewrite-links.ts";
import type { LinkingFile } from "../../../documents/links/resolve-link.ts";
import { targetsFor } from "../../../documents/links/targets.ts";
import { effectiveFor } from "../../../documents/map/effective.ts";

/** Whether rules read the links of a page: those of a file that is sent as Markdown. */
export const hasLinks = ({ parsed, part, skipped }: LintPage): boolean =>
  part === 0 && parsed.isMarkdown && !parsed.pages && skipped === undefined;

/** The page as documents/links knows it. */
export function linkingFile({ path, settings }: LintPage): LinkingFile {
  const style = effectiveFor(path, settings).linkStyle?.value;
  return { path, style, targets: targetsFor(settings), note: () => {} };
}

/** The relative links of the body of a page, in order; `text` is that of pageBody(). */
export const linksOf = (page: LintPage, text: string): Iterable<RelativeLink> =>
  relativeLinks(text, linkingFile(page));

/** An address for a message. Not truncated: redaction could not recognise a truncated key. */
export const shownAddress = (address: string): string =>
  address.length > 120 ? `an address of ${address.length} characters` : address;
