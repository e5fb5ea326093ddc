import { getSession, listSessions } from "../../api/sessions.ts";
import type { StoredMessage, StoredSession } from "../../api/session-schemas.ts";
import type { DraftCase } from "../../checks/eval/draft/suite-text.ts";
import { findRefusal } from "../../checks/eval/refusals.ts";
import type { GlobalFlags } from "../../config/global-flags.ts";
import type { Context } from "../../context.ts";
import { ApiError } from "../../errors.ts";
import { listSources } from "../../output/chat/sources.ts";
import { answerState, branchesOf, turnOfStored } from "../../output/chat/stored/stored.ts";
import { filesInProject, type StateFlag } from "../files-in-state.ts";
import type { Connected } from "../connect.ts";

/** Sessions that are read at most, the most recent ones. */
export const mostSessions = 200;
const longestQuestion = 2000;

type Kind = "unanswered" | "uncited" | "cited";

interface Asked {
  kind: Kind;
  question: string;
  remark: string;
  cited: { id: string; title: string }[];
  /** Ids of the retrieved documents, cited or not. */
  sources: string[];
  /** Whether it is the first of its session: later ones often make sense only after it. */
  isFirst: boolean;
}

const remarks: Readonly<Record<Kind, string>> = {
  unanswered: "unanswered",
  uncited: "answered without a citation",
  cited: "answered with citations",
};

function kindOf(answer: StoredMessage | undefined, cited: readonly unknown[]): Kind {
  if (!answer || answerState(answer) !== "complete" || answer.message.trim() === "") {
    return "unanswered";
  }
  if (cited.length > 0) return "cited";
  return findRefusal(answer.message) === undefined ? "uncited" : "unanswered";
}

/** The question of a message, with what came for it. */
function askedAt(session: StoredSession, messages: readonly StoredMessage[], at: number): Asked {
  const question = messages[at]?.message.trim() ?? "";
  const next = messages[at + 1];
  const answer = next?.message_type === "assistant" ? next : undefined;
  const found = answer ? listSources(turnOfStored(session, answer)) : { cited: [], retrieved: [] };
  const cited = found.cited.flatMap(({ documentId: id, title }) =>
    id === null ? [] : [{ id, title }],
  );
  const kind = kindOf(answer, cited);
  const others = found.retrieved.flatMap(({ documentId: id }) => (id === null ? [] : [id]));
  const sources = [...cited.map(({ id }) => id), ...others];
  return { kind, question, cited, sources, remark: remarks[kind], isFirst: false };
}

/** The questions of a session. */
function askedIn(session: StoredSession): Asked[] {
  const messages = branchesOf(session)[0]?.messages ?? [];
  const asked = messages.flatMap(({ message_type: type }, at) =>
    type === "user" ? [askedAt(session, messages, at)] : [],
  );
  return asked
    .map((each, index) => ({ ...each, isFirst: index === 0 }))
    .filter(({ question }) => question !== "" && question.length <= longestQuestion);
}

/** Reads the questions of the sessions, each once. Sessions that were deleted meanwhile are left out. */
export async function readQuestions({
  client,
}: Pick<Connected, "client">): Promise<{ asked: Asked[]; read: number }> {
  const asked = new Map<string, Asked>();
  let read = 0;
  for await (const { id } of listSessions(client)) {
    if (read >= mostSessions) break;
    read++;
    try {
      for (const found of askedIn(await getSession(client, id))) {
        const key = found.question.toLowerCase().replace(/\s+/g, " ");
        const earlier = asked.get(key);
        if (!earlier || (found.isFirst && !earlier.isFirst)) asked.set(key, found);
      }
    } catch (error) {
      if (!(error instanceof ApiError && error.status === 404)) throw error;
    }
  }
  return { asked: [...asked.values()], read };
}

/**
 * Drafts a case for each of up to `limit` questions of stored sessions: unanswered questions first,
 * then those whose answer cites nothing. Throws ApiError, and CliError `not-found` where the dialect
 * lists no sessions.
 */
export async function draftFromSessions(
  context: Context,
  options: GlobalFlags & StateFlag,
  connected: Connected,
  limit: number,
): Promise<{ cases: DraftCase[]; read: number }> {
  const { asked, read } = await readQuestions(connected);
  const order: readonly Kind[] = ["unanswered", "uncited", "cited"];
  const chosen = order
    .flatMap((kind) => asked.filter((each) => each.isFirst && each.kind === kind))
    .slice(0, limit);
  const ids = [...new Set(chosen.flatMap(({ cited }) => cited.map(({ id }) => id)))];
  const paths =
    ids.length === 0
      ? new Map<string, string>()
      : (await filesInProject(context, options, connected, ids)).files;
  const cases = chosen.map(({ question, cited, remark }) => ({
    name: question.slice(0, 60),
    group: undefined,
    question,
    mustRetrieve: [],
    remark,
    proposed: cited.map(({ id, title }) => {
      const path = paths.get(id);
      return { document: path === undefined ? { id } : { path }, title };
    }),
  }));
  return { cases, read };
}
