import type { StoredMessage, StoredSession } from "../../../api/session-schemas.ts";
import type { MadeImage } from "../turn/turn-event.ts";
import { listSources } from "../sources.ts";
import {
  answerState,
  storedText,
  turnOfStored,
  type AnswerState,
  type Branch,
  type LocalFiles,
} from "./stored.ts";

/** Version of the record; increased by a breaking change. */
const version = 1;

interface CitationRecord {
  number: number;
  documentId: string | null;
  title: string;
  link: string | null;
  /** The local file of the document, relative to the working directory, if the state has it. */
  file: string | null;
}

export interface MessageRecord {
  messageId: number;
  parentId: number | null;
  role: string;
  /** On the branch that the next question continues. */
  current: boolean;
  text: string;
  time: string | null;
  model: string | null;
  /** Null for a question. */
  state: AnswerState | null;
  error: string | null;
  citations: CitationRecord[];
  /** Attached files, and those that a tool made. */
  files: { id: string | null; name: string | null }[];
  /** Images that a tool made. */
  images: MadeImage[];
}

function citationsOf(
  session: StoredSession,
  message: StoredMessage,
  localFiles: LocalFiles,
): CitationRecord[] {
  const { cited } = listSources(turnOfStored(session, message, { localFiles }));
  return cited
    .flatMap(({ numbers, documentId, title, link, file }) =>
      numbers.map((number) => ({ number, documentId, title, link, file })),
    )
    .toSorted((a, b) => a.number - b.number);
}

function messageRecord(
  session: StoredSession,
  message: StoredMessage,
  current: boolean,
  localFiles: LocalFiles,
): MessageRecord {
  const isAnswer = message.message_type === "assistant";
  const state = isAnswer ? answerState(message) : null;
  const tools = isAnswer ? turnOfStored(session, message).tools : [];
  return {
    messageId: message.message_id,
    parentId: message.parent_message ?? null,
    role: message.message_type,
    current,
    text: state === "missing" ? "" : storedText(message),
    time: message.time_sent ?? null,
    model: message.model_display_name ?? null,
    state,
    error: message.error ?? null,
    citations: isAnswer ? citationsOf(session, message, localFiles) : [],
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
