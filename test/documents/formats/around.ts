import type { Value } from "../../../src/documents/front-matter/values.ts";
import { compileSettings } from "../../../src/documents/map/settings.ts";
import { noIncludes } from "../../../src/documents/parts/includes.ts";
import type { PageSite, Surroundings } from "../../../src/documents/formats/format.ts";

const { componentAttributes } = compileSettings({ root: "/" });

/** What a reader has around a text without a folder. */
export const around: Surroundings = { includes: noIncludes, componentAttributes };

/** A site of a generator in the root, with these values in its configuration. */
export const siteOf = (
  generator: PageSite["generator"],
  values: Readonly<Record<string, Value>> = {},
): PageSite => ({ generator, prefix: "", value: (path) => values[path], data: () => values });
