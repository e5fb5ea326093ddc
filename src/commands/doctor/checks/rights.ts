import * as z from "zod/mini";
import { readAnswer, type Question } from "../../../api/answers/answers.ts";
import { header } from "../../../api/transport/headers.ts";
import type { Answer } from "../../../api/transport/exchange.ts";
import type { Probed } from "../../../api/retry/prober.ts";
import { ConnectorStatusList } from "../../../api/schemas.ts";
import { describeKey, hintsForStatus, howToChangeKey } from "../../../api/answers/status.ts";
import { readServiceWords } from "../../../api/answers/words.ts";
import { emptyBody } from "./dialect.ts";
import {
  dependent,
  failure,
  listBytes,
  need,
  ok,
  skipped,
  warning,
  type Check,
  type Examination,
  type Verdict,
} from "../check.ts";
import { dialects, type Dialect } from "../../../api/dialects.ts";

type KeyMember = "accessToken" | "apiKey";

/** Sends a GET below the base URL with a key. */
async function look(
  examination: Examination,
  what: string,
  path: string,
  key: KeyMember,
): Promise<Probed> {
  const prober = need(examination, "prober");
  const mostBytes = listBytes;
  return await prober.ask({ what, method: "GET", path: prober.prefix + path, key, mostBytes });
}

/** The detected dialect, else the dialect of the profile. */
function dialectOf(examination: Examination): Dialect {
  const { config } = need(examination, "connected");
  return dialects[examination.facts.dialect ?? config.dialect];
}

const Me = z.looseObject({
  is_anonymous_user: z.optional(z.nullable(z.boolean())),
  account_type: z.optional(z.nullable(z.string())),
  effective_permissions: z.optional(z.nullable(z.array(z.string()))),
});

const keyWords: Record<KeyMember, string> = { accessToken: "access token", apiKey: "API key" };

async function accountOf(examination: Examination, path: string, key: KeyMember) {
  const { answer, error, question } = await look(examination, "read the account", path, key);
  if (!answer) throw error;
  const read = readAnswer(question, answer, Me, examination.context.now());
  if (!read.ok) throw read.failure.error;
  return read.value;
}

async function examineAccount(examination: Examination): Promise<Verdict> {
  const { connection } = need(examination, "connected");
  const { name, paths } = dialectOf(examination);
  const { me } = paths;
  if (me === undefined) return skipped(`the ${name} dialect has no endpoint for it`);
  if (examination.facts.unknownKeys?.has("accessToken")) return dependent("access-token");
  const isOne = connection.accessToken === connection.apiKey;
  const keys: KeyMember[] = isOne ? ["accessToken"] : ["accessToken", "apiKey"];
  const descriptions: string[] = [];
  for (const key of keys) {
    const account = await accountOf(examination, me, key);
    const which = isOne ? "key" : keyWords[key];
    if (account.is_anonymous_user === true) {
      const source = {
        key: isOne ? "shared" : key,
        keyOrigin: connection.keyOrigins[key],
      } as const;
      const message = `the service does not know the ${which} and treats it as anonymous: answers use only public documents`;
      return failure("auth", message, hintsForStatus(source, 401));
    }
    const rights = account.effective_permissions?.slice(0, 20).join(", ");
    const kind = (account.account_type ?? "account").toLowerCase();
    const may = rights ? `, may ${rights}` : "";
    // A token with scopes reads the account, and not what the account may do.
    const { answer } = await look(examination, "read the rights", `${me}/permissions`, key);
    descriptions.push(
      answer?.status === 403
        ? `${which}: a token of an account (${kind}${may}); this token's scopes are narrower`
        : `${which}: ${kind}${may}`,
    );
  }
  return ok(descriptions.join("; "));
}

/** The service's words on a status, after a space. */
function wordsOf({ body, headers, status }: Answer) {
  const { text, code } = readServiceWords(body, header(headers, "content-type") ?? "", status);
  return { text, code, shown: `${status}${text === "" ? "" : ` ${text}`}` };
}

/**
 * The failure of a key that the service does not know at all; undefined for one that only lacks a
 * permission. Where the dialect can tell the two apart only by another request, sends that.
 */
async function unknownKey(
  examination: Examination,
  { question, answer }: { question: Question; answer: Answer },
): Promise<Verdict | undefined> {
  const { status } = answer;
  if (!isRefused(status)) return undefined;
  if (status === 403) {
    const { me } = dialectOf(examination).paths;
    if (me === undefined) return undefined;
    const own = await look(examination, "read the account", me, "accessToken");
    if (!isRefused(own.answer?.status)) return undefined;
  }
  examination.facts.unknownKeys = new Set(
    question.key === "shared" ? ["accessToken", "apiKey"] : ["accessToken"],
  );
  const message = `the service does not accept ${describeKey(question)}: ${wordsOf(answer).shown}`;
  return failure("auth", message, [howToChangeKey(question)]);
}

async function examineListing(examination: Examination): Promise<Verdict> {
  const { connectorStatus } = need(examination, "connected").client.dialect.paths;
  const asked = await look(examination, "list connectors", connectorStatus, "accessToken");
  const { answer, error, question } = asked;
  if (!answer) throw error;
  const unknown = await unknownKey(examination, { question, answer });
  if (unknown) return unknown;
  const read = readAnswer(question, answer, ConnectorStatusList, examination.context.now());
  if (!read.ok) throw read.failure.error;
  const count = read.value.length;
  const none = ["uploads need a connector: ask the administrator to create one"];
  return ok(`may list connectors: ${count} found`, count === 0 ? none : []);
}

const isRefused = (status: number | undefined): boolean => status === 401 || status === 403;
const isBadBody = (status: number | undefined): boolean => status === 422 || status === 400;

/**
 * Judges a right from the refusal of an empty request. The same request without a key
 * shows whether the service checks the key first.
 */
async function judgeRight(
  examination: Examination,
  { answer, error, question }: Probed,
  verb: string,
): Promise<Verdict> {
  if (!answer) throw error;
  const { status } = answer;
  if (isRefused(status)) {
    const { shown, ...words } = wordsOf(answer);
    return failure("auth", `may not ${verb}: ${shown}`, hintsForStatus(question, status, words));
  }
  const isUnknown = `it is not known whether the key may ${verb}`;
  if (status === 200) {
    const message = `${isUnknown}: the service accepted an empty request, which it should refuse`;
    return warning(message, ["inform the service's operator"]);
  }
  if (!isBadBody(status)) {
    const read = readAnswer(question, answer, z.unknown(), examination.context.now());
    if (!read.ok) throw read.failure.error;
    return warning(`unexpected status: ${status}`);
  }
  const prober = need(examination, "prober");
  const path = question.url.slice(prober.origin.length);
  const without = await prober.ask({ what: question.what, method: "POST", path, body: emptyBody });
  const other = without.answer?.status;
  if (isBadBody(other)) {
    return warning(
      `${isUnknown}: an empty request is refused in the same way (${status}) without a key`,
      ["try it: knowctl ingest FILE, or knowctl chat MESSAGE"],
    );
  }
  return ok(
    `may ${verb} (status of an empty request: ${status} with the key, ${other ?? "no response"} without)`,
    ["nothing was sent that could be stored"],
  );
}

async function examineIngestion(examination: Examination): Promise<Verdict> {
  const { ingestion } = examination.facts;
  if (!ingestion) return skipped("depends on dialect, which failed");
  const probed = ingestion[dialectOf(examination).name];
  const verdict = await judgeRight(examination, probed, "upload documents");
  if (verdict.status !== "ok") return verdict;
  const more = "the first upload shows which connectors it may upload to";
  return { ...verdict, details: [...(verdict.details ?? []), more] };
}

async function examineChat(examination: Examination): Promise<Verdict> {
  const prober = need(examination, "prober");
  const { chat } = dialectOf(examination).paths;
  const probed = await prober.ask({
    what: "look at chat, with an empty request",
    method: "POST",
    path: prober.prefix + chat,
    key: "accessToken",
    body: emptyBody,
  });
  const status = probed.answer?.status;
  if (status === 404 || status === 405) {
    const message = `the service has no ${chat} (${status}): it is too old for chat`;
    return failure("not-found", message, [
      "have the service updated; a service that only has /chat/send-message is too old",
    ]);
  }
  return await judgeRight(examination, probed, "ask questions");
}

/** The rights of each key. Nothing is written: the service must refuse the requests. */
export const rightsChecks: readonly Check[] = [
  { name: "access-token", needs: ["answer"], run: examineListing },
  { name: "account", needs: ["answer"], run: examineAccount },
  { name: "api-key", needs: ["answer"], key: "apiKey", run: examineIngestion },
  { name: "chat", needs: ["answer"], key: "accessToken", run: examineChat },
];
