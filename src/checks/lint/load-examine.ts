import type { LoadExamine } from "../../documents/inspect/inspection.ts";
import type { LintSetup } from "./examine.ts";

/** Loads the code of the checks only when a file must be read; `checks` is a LintSetup. */
export const loadExamine: LoadExamine = async (checks, settings) => {
  if (!checks) return undefined;
  const { openExamine } = await import("./examine.ts");
  return await openExamine(checks as LintSetup, settings);
};
