import type { PageRule } from "../rule.ts";
import type { SecretRule } from "../secrets/pack.ts";
import { secretsInPage } from "../secrets/find-secrets.ts";

interface Words {
  name: SecretRule;
  summary: string;
  advice: string;
  bad: string;
  good: string;
}

const revoke =
  "Everybody who may search can read it. Revoke it, remove it from the text, and name the place where readers get their own.";

function secretRule(words: Words): PageRule {
  return {
    kind: "page",
    group: "secrets",
    severity: "error",
    ...words,
    check: (page) => secretsInPage(page, words.name),
  };
}

const made = "Zq7Lw2Rk9TxV4bNc8YpM";

/** Rules about secrets. `ingest` refuses a document with such a finding. */
export const secretsRules: readonly PageRule[] = [
  secretRule({
    name: "secret-own-key",
    summary: "The page contains a key of the profile, word for word",
    advice: revoke,
    bad: "Sign in with the key (here stands the key of your profile).\n",
    good: "Sign in with the key from the password manager, entry `knowctl`.\n",
  }),
  secretRule({
    name: "secret-service-key",
    summary: "The page contains a key in the form of the service's own ones",
    advice: revoke,
    bad: `export KNOWCTL_API_KEY=onyx_pat_${made}\n`,
    good: "export KNOWCTL_API_KEY=onyx_pat_<your-token>\n",
  }),
  secretRule({
    name: "secret-private-key",
    summary: "The page contains a private key: PEM, OpenSSH, PGP, PuTTY or SSH2",
    advice: revoke,
    bad: "-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQEFAASC\n-----END PRIVATE KEY-----\n",
    good: "-----BEGIN PRIVATE KEY-----\n…\n-----END PRIVATE KEY-----\n",
  }),
  secretRule({
    name: "secret-url-password",
    summary: "A URL contains a password",
    advice: revoke,
    bad: "Clone https://reader:Kp4-tulip-Vx@git.intra.acme.io/handbook.git\n",
    good: "Clone https://reader:<password>@git.intra.acme.io/handbook.git\n",
  }),
  secretRule({
    name: "secret-token",
    summary: "The page contains a token in the form of a known service",
    advice: `${revoke} Placeholders such as \`ghp_<your-token>\` are no finding.`,
    bad: `The ledger signs in with sm_pat_${made.slice(4)}.\n`,
    good: "The ledger signs in with `sm_pat_<your-token>`.\n",
  }),
  secretRule({
    name: "secret-assigned",
    summary:
      "A random value is assigned to a name such as `api_key` or `password`, or stands in `curl --user`",
    advice: `${revoke} If it is the example of an API, write a placeholder: readers copy what they see.`,
    bad: `api_key: ${made}\n`,
    good: "api_key: $API_KEY\n",
  }),
];
