import type { GlobalFlags } from "../../config/global-flags.ts";

export interface ApiOptions extends GlobalFlags {
  method?: string;
  rawField?: string[];
  field?: string[];
  /** --input; `input` is the global --no-input. */
  inputFile?: string;
  header?: string[];
  include?: boolean;
  paginate?: boolean;
  silent?: boolean;
  key?: "api" | "access";
}
