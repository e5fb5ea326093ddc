import { streamChat } from "../../../api/chat/chat.ts";
import { deleteSession } from "../../../api/sessions.ts";
import { CliError } from "../../../errors.ts";
import { judgeArrivals, type Arrival } from "./arrivals.ts";
import { need, type Check, type Examination, type Verdict } from "../check.ts";

const question =
  "This tests the connection. Do not search. Count from 1 to 60 in words, separated by commas, and write nothing else.";
const limitMs = 180_000;

interface Asked {
  arrivals: Arrival[];
  sessionId: string | undefined;
  failure: string | undefined;
}

async function listen(examination: Examination, signal: AbortSignal): Promise<Asked> {
  const { clientUntil } = need(examination, "connected");
  const client = clientUntil(signal);
  const asked: Asked = { arrivals: [], sessionId: undefined, failure: undefined };
  const begun = performance.now();
  try {
    // One batch is one network chunk; its time is taken before any processing.
    for await (const events of streamChat(client, { message: question })) {
      asked.arrivals.push({ ms: performance.now() - begun, messages: events.length });
      for (const event of events) {
        if (event.kind === "session") asked.sessionId = event.sessionId;
        if (event.kind === "failure") asked.failure = event.failure.error;
      }
    }
    return asked;
  } finally {
    await client.close();
  }
}

/** Deletes the session of the test. Returns a text on the result. */
async function cleanUp(
  examination: Examination,
  sessionId: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  if (sessionId === undefined) return "the service may keep a session for this question";
  const client = need(examination, "connected").clientUntil(signal);
  try {
    if (client.dialect.paths.deleteSession === undefined) {
      return `this interface cannot delete sessions; the session of this question stays: ${sessionId}`;
    }
    await deleteSession(client, sessionId);
    return "the session of this question was deleted";
  } catch (error) {
    if (!(error instanceof CliError)) throw error;
    return `the session of this question could not be deleted: ${sessionId}`;
  } finally {
    await client.close();
  }
}

async function examineStreaming(examination: Examination, signal: AbortSignal): Promise<Verdict> {
  if (examination.options.streamTest !== true) {
    return {
      status: "skipped",
      message: "asks a question, which costs tokens: run it with --stream-test",
    };
  }
  const { arrivals, sessionId, failure } = await listen(examination, signal);
  const details = [await cleanUp(examination, sessionId, signal)];
  if (failure !== undefined) {
    return {
      status: "failure",
      exit: "server-error",
      message: `the service could not answer: ${failure}`,
      fixes: ["ask a question with `knowctl chat` to see details"],
      details,
    };
  }
  const { verdict, words } = judgeArrivals(arrivals);
  if (verdict === "streamed") return { status: "ok", message: `not buffered: ${words}`, details };
  if (verdict === "unknown") return { status: "skipped", message: words, details };
  return {
    status: "warning",
    message: `the answer arrived all at once: ${words}`,
    fixes: [
      "a proxy on the way, or the service, buffers answers: turn buffering off for /api/chat (nginx: proxy_buffering off)",
      "answers are complete, but appear late; long answers may exceed the proxy's timeout",
    ],
    details,
  };
}

export const checkStreaming: Check = {
  name: "streaming",
  needs: ["answer", "dialect", "chat"],
  limitMs,
  run: examineStreaming,
};
