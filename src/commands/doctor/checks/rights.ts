import * as z from "zod/mini";
import { readAnswer, type Question } from "../../../api/answers/answers.ts";
import { header } from "../../../api/transport/headers.ts";
import type { Answer } from "../../../api/transport/exchange.ts";
import type { Probed } from "../../../api/retry/prober.ts";
import { ConnectorStatusList } from "../../../api/schemas.ts";
import { describeKey, hintsForStatus, howToChangeKey } from "../../../api/answers/status.ts";
import { readServiceWords } from "../../../api/answers/words.ts";
import { emptyBody } from "./dialect.ts";
import { need, type Check, type Examination, type Verdict } from "../check.ts";
import { dialects, type Dialect } from "../../../api/dialects.ts";

type KeyMember = "accessToken" | "apiKey";

/** The detected dialect, else the dialect of the profile. */
function dialectOf(examination: Examination): Dialect {
  const { config } = need(examination, "connected");
  return dialects[examination.facts.dialect ?? config.dialect];
}

/** The verdict on a check that needs a key which the service does not know; undefined if it knows it. */
function skipUnknown({ facts }: Examination, key: KeyMember): Verdict | undefined {
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

async function examineAccount(examination: Examination): Promise<Verdict> {
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

const listBytes = 64 * 1024 * 1024;

/**
 * The failure of a key that the service does not know at all; undefined for one that only lacks a
 * permission. Where the dialect can tell the two apart only by another request, sends that.
 */
async function unknownKey(
  examination: Examination,
  { question, answer }: { question: Question; answer: Answer },
): Promise<Verdict | undefined> {
  const { status, body, headers } = answer;
  if (status !== 401 && status !== 403) return undefined;
  const prober = need(examination, "prober");
  const { me } = dialectOf(examination).paths;
  if (status === 403) {
    if (me === undefined) return undefined;
    const path = prober.prefix + me;
    const own = await prober.ask({
      what: "read the account",
      method: "GET",
      path,
      key: "accessToken",
    });
    if (own.answer?.status !== 401 && own.answer?.status !== 403) return undefined;
  }
  examination.facts.unknownKeys = new Set(
    question.key === "shared" ? ["accessToken", "apiKey"] : ["accessToken"],
  );
  const { text } = readServiceWords(body, header(headers, "content-type") ?? "", status);
  return {
    status: "failure",
    exit: "auth",
    message: `the service does not accept ${describeKey(question)}: ${status}${text === "" ? "" : ` ${text}`}`,
    fixes: [howToChangeKey(question)],
  };
}

async function examineListing(examination: Examination): Promise<Verdict> {
  const prober = need(examination, "prober");
  const { client } = need(examination, "connected");
  const { answer, error, question } = await prober.ask({
    what: "list connectors",
    method: "GET",
    path: prober.prefix + client.dialect.paths.connectorStatus,
    key: "accessToken",
    mostBytes: listBytes,
  });
  if (!answer) throw error;
  const unknown = await unknownKey(examination, { question, answer });
  if (unknown) return unknown;
  const read = readAnswer(question, answer, ConnectorStatusList, examination.context.now());
  if (!read.ok) throw read.failure.error;
  const count = read.value.length;
  return {
    status: "ok",
    message: `may list connectors: ${count} found`,
    details: count === 0 ? ["uploads need a connector: ask the administrator to create one"] : [],
  };
}

function refused({ question }: Probed, answer: Answer, verb: string): Verdict {
  const { status } = answer;
  const { text, code } = readServiceWords(
    answer.body,
    header(answer.headers, "content-type") ?? "",
    status,
  );
  return {
    status: "failure",
    exit: "auth",
    message: `may not ${verb}: ${status}${text === "" ? "" : ` ${text}`}`,
    fixes: hintsForStatus(question, status, { code, text }),
  };
}

const isRefusedBody = (status: number): boolean => status === 422 || status === 400;

/**
 * Judges a right from the refusal of an empty request. The same request without a key
 * shows whether the service checks the key first.
 */
async function judgeRight(
  examination: Examination,
  probed: Probed,
  verb: string,
): Promise<Verdict> {
  const { answer, error, question } = probed;
  if (!answer) throw error;
  const { status } = answer;
  if (status === 401 || status === 403) return refused(probed, answer, verb);
  if (isRefusedBody(status)) return await compareWithoutKey(examination, question, verb, status);
  if (status === 200) {
    return {
      status: "warning",
      message: `it is not known whether the key may ${verb}: the service accepted an empty request, which it should refuse`,
      fixes: ["inform the service's operator"],
    };
  }
  const read = readAnswer(question, answer, z.unknown(), examination.context.now());
  if (!read.ok) throw read.failure.error;
  return { status: "warning", message: `unexpected status: ${status}` };
}

async function compareWithoutKey(
  examination: Examination,
  question: Question,
  verb: string,
  status: number,
): Promise<Verdict> {
  const prober = need(examination, "prober");
  const path = question.url.slice(prober.origin.length);
  const { what, method } = question;
  const without = await prober.ask({ what, method: method as "POST", path, body: emptyBody });
  const other = without.answer?.status;
  if (other !== undefined && isRefusedBody(other)) {
    return {
      status: "warning",
      message: `it is not known whether the key may ${verb}: an empty request is refused in the same way (${status}) without a key`,
      fixes: ["try it: knowctl ingest FILE, or knowctl chat MESSAGE"],
    };
  }
  return {
    status: "ok",
    message: `may ${verb} (status of an empty request: ${status} with the key, ${other ?? "no response"} without)`,
    details: ["nothing was sent that could be stored"],
  };
}

async function examineIngestion(examination: Examination): Promise<Verdict> {
  const { ingestion } = examination.facts;
  if (!ingestion) return { status: "skipped", message: "depends on dialect, which failed" };
  const skipped = skipUnknown(examination, "apiKey");
  if (skipped) return skipped;
  const probed = ingestion[dialectOf(examination).name];
  const verdict = await judgeRight(examination, probed, "upload documents");
  if (verdict.status !== "ok") return verdict;
  const details = [
    ...(verdict.details ?? []),
    "the first upload shows which connectors it may upload to",
  ];
  return { ...verdict, details };
}

async function examineChat(examination: Examination): Promise<Verdict> {
  const skipped = skipUnknown(examination, "accessToken");
  if (skipped) return skipped;
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
    return {
      status: "failure",
      exit: "not-found",
      message: `the service has no ${chat} (${status}): it is too old for chat`,
      fixes: ["have the service updated; a service that only has /chat/send-message is too old"],
    };
  }
  return await judgeRight(examination, probed, "ask questions");
}

/** The rights of each key. Nothing is written: the service must refuse the requests. */
export const rightsChecks: readonly Check[] = [
  { name: "access-token", needs: ["answer"], run: examineListing },
  { name: "account", needs: ["answer"], run: examineAccount },
  { name: "api-key", needs: ["answer"], run: examineIngestion },
  { name: "chat", needs: ["answer"], run: examineChat },
];
