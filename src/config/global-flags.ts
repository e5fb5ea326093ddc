import type { DialectName } from "./values/schema.ts";

/** Flags that every command accepts. A member is absent if no flag and no variable set it. */
export interface GlobalFlags {
  profile?: string;
  config?: string;
  baseUrl?: string;
  dialect?: DialectName;
  /** Seconds. */
  timeout?: number;
  caFile?: string;
  clientCert?: string;
  clientKey?: string;
  proxy?: string;
  output?: string;
  json?: boolean;
  fields?: string;
  filter?: string[];
  jq?: string;
  quiet?: boolean;
  verbose?: boolean;
  debug?: boolean;
  root?: string;
  /** False for `--no-color`. */
  color?: boolean;
  /** False for `--no-input`. */
  input?: boolean;
  /** Source of each member above. */
  flagSources?: Record<string, "flag" | "env">;
  /** Warning for each variable that no flag has, by its name; loading the configuration empties it. */
  unknownVariables?: Map<string, string>;
}
