/**
 * Sessions as the service lists and stores them, as zod schemas. Loose on
 * purpose: unknown members pass, because each release adds some.
 * Source: observed-service.md 5.
 */
import * as z from "zod/mini";
import { catch as orElse } from "zod/mini";
import { GeneratedImage, SearchDoc, SessionLine } from "./chat-schemas.ts";

const text = z.string();
const optionalText = z.optional(z.nullable(z.string()));
const optionalInteger = z.optional(z.nullable(z.int()));

/** The id becomes part of URLs and of commands that users copy. */
const SessionId = SessionLine.shape.chat_session_id;

/** One element of the listing. */
export const ListedSession = z.looseObject({
  id: SessionId,
  name: optionalText,
  persona_id: optionalInteger,
  time_created: optionalText,
  time_updated: optionalText,
});
export type ListedSession = z.infer<typeof ListedSession>;

export const SessionPage = z.looseObject({
  sessions: z.array(ListedSession),
  has_more: z.optional(z.nullable(z.boolean())),
});

const StoredDocs = z.optional(
  z.nullable(
    z.union([
      z.array(SearchDoc),
      // Older releases wrap the list.
      z.pipe(
        z.looseObject({ top_documents: z.array(SearchDoc) }),
        z.transform((wrapped) => wrapped.top_documents),
      ),
    ]),
  ),
);

/** One message of a session's tree. */
export const StoredMessage = z.looseObject({
  message_id: z.int(),
  parent_message: optionalInteger,
  latest_child_message: optionalInteger,
  message: text,
  message_type: text,
  context_docs: StoredDocs,
  /** Citation number in the text to document id. */
  citations: z.optional(z.nullable(z.record(text, z.union([text, z.int()])))),
  time_sent: optionalText,
  files: z.optional(z.nullable(z.array(z.looseObject({ id: optionalText, name: optionalText })))),
  error: optionalText,
  model_display_name: optionalText,
});
export type StoredMessage = z.infer<typeof StoredMessage>;

/** Of a replayed packet, only what a tool made: it stands nowhere else (observed-service.md 12.9). */
const ReplayedPacket = z.looseObject({
  obj: z.looseObject({
    type: text,
    tool_name: orElse(optionalText, null),
    images: orElse(z.optional(z.nullable(z.array(GeneratedImage))), null),
    file_ids: orElse(z.optional(z.nullable(z.array(text))), null),
  }),
});
const unread = { obj: { type: "" } };

/** A session with its whole message tree. */
export const StoredSession = z.looseObject({
  chat_session_id: SessionId,
  description: optionalText,
  persona_id: optionalInteger,
  persona_name: optionalText,
  messages: z.array(StoredMessage),
  /** A replay for each assistant message, in their order. */
  packets: orElse(z.optional(z.nullable(z.array(z.array(orElse(ReplayedPacket, unread))))), null),
  /** Not null while an answer is in progress. */
  current_run: z.optional(z.unknown()),
});
export type StoredSession = z.infer<typeof StoredSession>;

export const CreatedSession = z.looseObject({ chat_session_id: SessionId });
export const RenamedSession = z.looseObject({ new_name: optionalText });
