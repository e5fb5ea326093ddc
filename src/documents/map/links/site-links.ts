import type { ValueMap } from "../../front-matter/values.ts";
import { configOf } from "../../site/config.ts";
import { madeBy } from "../../site/made.ts";
import { sitePages, type SitePages } from "../../site/site-pages.ts";
import type { AnchorStyle } from "../../text/heading-text.ts";
import type { Effective } from "../effective.ts";
import type { DocumentSettings } from "../settings.ts";
import { anchorsOfStyle, type PageFolder } from "./link-style.ts";

/** What the configuration of a site says about the links and the anchors of its pages. */
interface SiteLinks {
  /** Without a site, the whole project. */
  site: PageFolder;
  pages: SitePages | undefined;
  anchors: AnchorStyle;
  /** See madeBy(). */
  isMade: (path: string) => boolean;
}

const known = new WeakMap<Effective, SiteLinks>();

/**
 * The links of a site by the settings in effect. Reads its configuration, which a plan does not: it
 * knows of it by siteDigest() alone, and its thread loads no parser.
 */
export function siteLinks(effective: Effective, settings: DocumentSettings): SiteLinks {
  let links = known.get(effective);
  if (!links) {
    const { site: own, resolving } = effective;
    const site: PageFolder = own
      ? { prefix: own.prefix, data: configOf(own, settings).data, isFree: resolving === undefined }
      : { prefix: "", data: Object.create(null) as ValueMap };
    const anchors = settings.anchors ?? (resolving && anchorsOfStyle(resolving, site)) ?? "github";
    const pages = own && own.generator === resolving ? sitePages(own, settings) : undefined;
    const isMade = madeBy(own, site.data);
    known.set(effective, (links = { site, pages, anchors, isMade }));
  }
  return links;
}
