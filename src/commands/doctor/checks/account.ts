import * as z from "zod/mini";
import { readAnswer } from "../../../api/answers/answers.ts";
import { hintsForStatus } from "../../../api/answers/status.ts";
import { dialects, type Dialect } from "../../../api/dialects.ts";
import { need, type Examination, type Verdict } from "../check.ts";

type KeyMember = "accessToken" | "apiKey";

/** The detected dialect, else the dialect of the profile. */
export function dialectOf(examination: Examination): Dialect {
  const { config } = need(examination, "connected");
  return dialects[examination.facts.dialect ?? config.dialect];
}

/** The verdict on a check that needs a key which the service does not know; undefined if it knows it. */
export function skipUnknown({ facts }: Examination, key: KeyMember): Verdict | undefined {
  if (!facts.unknownKeys?.has(key)) return undefined;
  const message = "depends on access-token, which failed";
  return { status: "skipped", message, because: "access-token" };
}

const Me = z.looseObject({
  is_anonymous_user: z.optional(z.nullable(z.boolean())),
  account_type: z.optional(z.nullable(z.string())),
  effective_permissions: z.optional(z.nullable(z.array(z.string()))),
});

const keyWords: Record<KeyMember, string> = { accessToken: "access token", apiKey: "API key" };

async function accountOf(examination: Examination, path: string, key: KeyMember) {
  const prober = need(examination, "prober");
  const probed = await prober.ask({
    what: "read the account",
    method: "GET",
    path: prober.prefix + path,
    key,
  });
  const { answer, error, question } = probed;
  if (!answer) throw error;
  const read = readAnswer(question, answer, Me, examination.context.now());
  if (!read.ok) throw read.failure.error;
  return read.value;
}

/** Whether the key is a token with scopes: it reads the account, and not what the account may do. */
async function isNarrowed(examination: Examination, me: string, key: KeyMember): Promise<boolean> {
  const prober = need(examination, "prober");
  const path = `${prober.prefix}${me}/permissions`;
  const { answer } = await prober.ask({ what: "read the rights", method: "GET", path, key });
  return answer?.status === 403;
}

export async function examineAccount(examination: Examination): Promise<Verdict> {
  const { connection } = need(examination, "connected");
  const { name, paths } = dialectOf(examination);
  const { me } = paths;
  if (me === undefined)
    return { status: "skipped", message: `the ${name} dialect has no endpoint for it` };
  const isOne = connection.accessToken === connection.apiKey;
  const skipped = skipUnknown(examination, "accessToken");
  if (skipped) return skipped;
  const keys: KeyMember[] = isOne ? ["accessToken"] : ["accessToken", "apiKey"];
  const descriptions: string[] = [];
  for (const key of keys) {
    const account = await accountOf(examination, me, key);
    const which = isOne ? "key" : keyWords[key];
    if (account.is_anonymous_user === true) {
      return {
        status: "failure",
        exit: "auth",
        message: `the service does not know the ${which} and treats it as anonymous: answers use only public documents`,
        fixes: hintsForStatus(
          { key: isOne ? "shared" : key, keyOrigin: connection.keyOrigins[key] },
          401,
        ),
      };
    }
    const rights = account.effective_permissions?.slice(0, 20).join(", ");
    const kind = (account.account_type ?? "account").toLowerCase();
    const may = rights ? `, may ${rights}` : "";
    descriptions.push(
      (await isNarrowed(examination, me, key))
        ? `${which}: a token of an account (${kind}${may}); this token's scopes are narrower`
        : `${which}: ${kind}${may}`,
    );
  }
  return { status: "ok", message: descriptions.join("; ") };
}
