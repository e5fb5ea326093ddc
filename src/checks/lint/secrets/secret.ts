/** Rules of lint about secrets, as the configuration names them. */
export type SecretRule =
  | "secret-own-key"
  | "secret-service-key"
  | "secret-private-key"
  | "secret-url-password"
  | "secret-token"
  | "secret-assigned";

/** A secret in a text. Offsets are UTF-16 units from 0; `end` is the first offset after it. */
export interface Secret {
  rule: SecretRule;
  /** What it is, without its value: the name of the rule of the pack, or our own. */
  kind: string;
  start: number;
  end: number;
}
