import type { Rule } from "../rule.ts";
import { deadLink } from "./links/dead-link.ts";
import { missingAnchor } from "./links/missing-anchor.ts";
import { missingImage } from "./links/missing-image.ts";
import { sharedLink } from "./links/shared-link.ts";

export const linkRules: readonly Rule[] = [deadLink, missingAnchor, missingImage, sharedLink];
