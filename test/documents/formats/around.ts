import { compileSettings } from "../../../src/documents/map/settings.ts";
import { noIncludes } from "../../../src/documents/parts/includes.ts";
import type { Surroundings } from "../../../src/documents/formats/format.ts";

const { componentAttributes } = compileSettings({ root: "/" });

/** What a reader has around a text without a folder. */
export const around: Surroundings = { includes: noIncludes, componentAttributes };
