import {
  failureOfFault,
  redirected,
  refused,
  unexpected,
  type Question,
  type Result,
} from "./answers/answers.ts";
import { header } from "./transport/headers.ts";
import { readErrorBody, type Answer, type StreamedAnswer } from "./transport/exchange.ts";
import type { Redactor } from "./answers/redaction.ts";
import { shorten } from "./answers/words.ts";

/** Streams the body and reports its faults like those of any other call. */
async function* convertFaults(
  question: Question,
  body: AsyncGenerator<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
  } catch (error) {
    throw failureOfFault(question, error, false).error;
  }
}

/**
 * Judges the head of a response of any kind. A redirect and an error status are failures.
 * `onRefused` receives such a response with the beginning of its body, for display.
 */
export async function readRaw(
  question: Question,
  answer: StreamedAnswer,
  {
    now,
    secrets,
    onRefused,
  }: {
    now: number;
    secrets: Redactor;
    onRefused?: ((answer: Answer) => void) | undefined;
  },
): Promise<Result<StreamedAnswer>> {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) {
    const coding = header(headers, "content-encoding");
    if (coding === undefined || coding === "identity") {
      return { ok: true, value: { ...answer, body: convertFaults(question, answer.body) } };
    }
    await answer.body.return(undefined);
    const words = `unexpected response (${shorten(coding, 40)} coding)`;
    return { ok: false, failure: unexpected(question, status, words) };
  }
  const complete = await readErrorBody(answer, secrets);
  await answer.body.return(undefined);
  onRefused?.(complete);
  const failure = status < 400 ? redirected(question, complete) : refused(question, complete, now);
  return { ok: false, failure };
}
