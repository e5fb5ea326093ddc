import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import { listSources } from "../sources.ts";
import { readMessage, type Branch, type LocalFiles } from "./stored.ts";

/** Version of the record; increased by a breaking change. */
const version = 1;

/** `current`: on the branch that the next question continues. */
function messageRecord(
  session: StoredSession,
  message: StoredMessage,
  current: boolean,
  localFiles: LocalFiles,
) {
  const { text, answer } = readMessage(session, message, localFiles);
  const tools = answer?.turn.tools ?? [];
  const cited = answer ? listSources(answer.turn).cited : [];
  return {
    messageId: message.message_id,
    parentId: message.parent_message ?? null,
    role: message.message_type,
    current,
    text: answer?.state === "missing" ? "" : text,
    time: message.time_sent ?? null,
    model: message.model_display_name ?? null,
    // Null for a question.
    state: answer?.state ?? null,
    error: message.error ?? null,
    // `file`: the local file of the document, relative to the working directory, if the state has it.
    citations: cited
      .flatMap(({ numbers, documentId, title, link, file }) =>
        numbers.map((number) => ({ number, documentId, title, link, file })),
      )
      .toSorted((a, b) => a.number - b.number),
    // Attached files, and those that a tool made.
    files: [
      ...(message.files ?? []).map(({ id, name }) => ({ id: id ?? null, name: name ?? null })),
      ...tools.flatMap(({ fileIds }) => fileIds).map((id) => ({ id, name: null })),
    ],
    images: tools.flatMap(({ images }) => images),
  };
}

/** A session as one object for scripts; with `all` including messages of other branches. */
export function sessionRecord(
  session: StoredSession,
  [current, ...others]: readonly Branch[],
  name: string | null,
  { all, localFiles = new Map() }: { all: boolean; localFiles?: LocalFiles },
) {
  const onBranch = (current?.messages ?? []).map((message) =>
    messageRecord(session, message, true, localFiles),
  );
  const besides = others.flatMap(({ messages }) => messages);
  return {
    version,
    sessionId: session.chat_session_id,
    name,
    agent: { id: session.persona_id ?? null, name: session.persona_name ?? null },
    running: Boolean(session.current_run),
    messages: all
      ? [
          ...onBranch,
          ...besides.map((message) => messageRecord(session, message, false, localFiles)),
        ]
      : onBranch,
    otherMessages: besides.length,
  };
}
