import type { Config } from "../config/load.ts";
import { isSecretName, secretsOf } from "../config/values/members.ts";
import { headerSecrets } from "./header-secrets.ts";

interface StoredSecrets {
  keys: string[];
  headers: string[];
}

/** The secrets that stand in the configuration files as text, of all profiles; not the sandbox's key. */
export function storedSecrets({ files }: Pick<Config, "files">): StoredSecrets {
  const found: StoredSecrets = { keys: [], headers: [] };
  for (const { content } of files) {
    for (const { path, secret } of Object.values(content.profiles ?? {}).flatMap(secretsOf)) {
      if (typeof secret !== "string" || secret === "sandbox") continue;
      const [kind = "", name = ""] = path;
      if (isSecretName(kind)) found.keys.push(secret);
      else found.headers.push(...headerSecrets({ [name.toLowerCase()]: secret }));
    }
  }
  return found;
}
