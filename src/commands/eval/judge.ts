import * as z from "zod/mini";
import { createClient, type ClientOptions } from "../../api/client.ts";
import {
  judgeMessages,
  readJudgement,
  rubricsOf,
  type Rubric,
  type Judgement,
} from "../../checks/eval/replies.ts";
import type { EvalCase, Judge } from "../../checks/eval/suite/suite.ts";
import { isLoopback } from "../../config/values/url.ts";
import type { Context } from "../../context.ts";
import { CliError } from "../../errors.ts";
import type { Output } from "../../output/terminal/output.ts";
import { createAsking, type Asking } from "./ask.ts";

/** Judges the answer to a case: one model call for each rubric of the case. */
export interface JudgeReply {
  /** A judge that fails gives a judgement with an error. */
  judge(evalCase: EvalCase, answer: string): Promise<Judgement[]>;
  close(): Promise<void>;
}

export interface JudgeRequest {
  /** The judge of each suite that has one, by file. */
  judges: ReadonlyMap<string, Judge>;
  /** The options of the service's client: the judge shares its network settings, never its keys. */
  options: ClientOptions;
  output: Output;
  concurrency: number;
}

const Completion = z.looseObject({
  choices: z.array(z.looseObject({ message: z.looseObject({ content: z.nullable(z.string()) }) })),
});

function configurationError(message: string, hint: string): CliError {
  return new CliError("not-configured", message, { hints: [hint] });
}

/**
 * The judge's key from its variable; empty if the suite names none. A key of the service never goes
 * to the judge. Throws CliError `not-configured`.
 */
function keyOf(
  context: Context,
  { keyVariable, baseUrl }: Judge,
  { options, output }: Pick<JudgeRequest, "options" | "output">,
): string {
  if (keyVariable === undefined) return "";
  const key = context.env[keyVariable] ?? "";
  if (key === "") {
    throw configurationError(
      `the judge's key is missing: ${keyVariable} is not set`,
      `set ${keyVariable} to a key of ${baseUrl}`,
    );
  }
  if (
    [options.accessToken, options.apiKey].includes(key) ||
    // The keys of the readers are registered as well.
    output.secrets.holdsKey(key)
  ) {
    throw configurationError(
      `${keyVariable} holds a key of the service, which is not sent to the judge`,
      "name a variable with a key of the judge's own",
    );
  }
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol === "http:" && !isLoopback(hostname)) {
    throw configurationError(
      `the judge's key is not sent over plain http to ${baseUrl}`,
      "use https, or a server on this machine",
    );
  }
  return key;
}

interface OpenJudge extends Asking {
  model: string;
}

async function askJudge(
  { client, gate, model }: OpenJudge,
  question: string,
  answer: string,
  { rubric }: Rubric,
): Promise<Pick<Judgement, "score" | "reason" | "error">> {
  const messages = judgeMessages(question, answer, rubric);
  const body = { model, messages, temperature: 0, stream: false };
  const { choices } = await client.call(
    {
      what: "judge the answer",
      policy: "chatWhole",
      method: "POST",
      path: "/chat/completions",
      key: "accessToken",
      body: Buffer.from(JSON.stringify(body)),
      contentType: "application/json",
      gate,
    },
    Completion,
  );
  return readJudgement(choices[0]?.message.content ?? "");
}

function openOne(
  context: Context,
  judge: Judge,
  key: string,
  { options, output, concurrency }: JudgeRequest,
): OpenJudge {
  if (key !== "") output.secrets.add(key);
  const baseUrl = judge.baseUrl.replace(/\/+$/, "");
  // Headers and certificates of the profile are meant for the service.
  const { headers: _h, client: _c, keyOrigins: _k, onTrace: _t, ...network } = options;
  const client = createClient({ ...network, baseUrl, accessToken: key, apiKey: key });
  return { ...createAsking(context, client, concurrency), model: judge.model };
}

/**
 * Opens the judges of suites, after the clients of all readers. Redirects are not followed, so that a key goes to its origin only.
 * Throws CliError `not-configured` for an unusable address or key.
 */
export function openJudges(context: Context, request: JudgeRequest): JudgeReply {
  // All keys are checked before the first one is registered: judges may share one.
  const keys = [...request.judges.values()].map((judge) => keyOf(context, judge, request));
  const open = new Map(
    [...request.judges].map(([file, judge], index) => [
      file,
      openOne(context, judge, keys[index] ?? "", request),
    ]),
  );
  return {
    async judge(evalCase, answer) {
      const judge = open.get(evalCase.place.file);
      const judgements: Judgement[] = [];
      for (const { index, expectation } of judge ? rubricsOf(evalCase) : []) {
        const rubric = expectation.value as Rubric;
        try {
          judgements.push({
            index,
            ...(await askJudge(judge!, evalCase.question, answer, rubric)),
          });
        } catch (error) {
          if (!(error instanceof CliError) && !context.signal.aborted) throw error;
          const why = error instanceof CliError ? error.message : "the run was interrupted";
          judgements.push({ index, error: `the judge failed: ${why}` });
        }
      }
      return judgements;
    },
    async close() {
      for (const { client } of open.values()) await client.close();
    },
  };
}
