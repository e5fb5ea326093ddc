import { randomUUID } from "node:crypto";
import type { Database, Row } from "../../database.ts";

export interface SessionInfo {
  personaId: number;
  projectId: number | null;
  description: string | null;
}

export interface Session extends SessionInfo {
  id: string;
  name: string | null;
  createdAt: number;
  updatedAt: number;
  deleted: boolean;
}

export interface Message {
  id: number;
  parent: number | null;
  latestChild: number | null;
  type: "system" | "user" | "assistant";
  text: string;
  documents: unknown[];
  citations: Record<string, string>;
  files: unknown[];
  error: string | null;
  /** Name of the answer's model; null if it was not stored. */
  model: string | null;
  sentAt: number;
}

/** The stored result of a turn. */
export interface Outcome {
  /** Of a turn that failed, replaced by `error`: observed-service.md 12.10. */
  text: string;
  documents: unknown[];
  citations: Record<string, string>;
  error: string | null;
}

/** Stored while an answer is in progress; observed-service.md 2.8. */
const placeholder =
  "Response was terminated prior to completion, try regenerating the answer to this message.";

/** How long the list shows an empty session, which may soon get its first message. */
const newForMs = 5 * 60_000;

function toSession(row: Row): Session {
  return {
    id: String(row["id"]),
    name: row["name"] === null ? null : String(row["name"]),
    personaId: Number(row["persona_id"]),
    projectId: row["project_id"] === null ? null : Number(row["project_id"]),
    description: row["description"] === null ? null : String(row["description"]),
    createdAt: Number(row["created_at"]),
    updatedAt: Number(row["updated_at"]),
    deleted: row["deleted"] === 1,
  };
}

function toMessage(row: Row): Message {
  return {
    id: Number(row["id"]),
    parent: row["parent"] === null ? null : Number(row["parent"]),
    latestChild: row["latest_child"] === null ? null : Number(row["latest_child"]),
    type: String(row["type"]) as Message["type"],
    text: String(row["text"]),
    documents: JSON.parse(String(row["documents"])),
    citations: JSON.parse(String(row["citations"])),
    files: JSON.parse(String(row["files"])),
    error: row["error"] === null ? null : String(row["error"]),
    model: row["model"] === null ? null : String(row["model"]),
    sentAt: Number(row["sent_at"]),
  };
}

export type Sessions = ReturnType<typeof createSessions>;

/** Chat sessions and their message trees, stored in the database. */
export function createSessions(database: Database, now: () => number) {
  const insert = database.prepare(
    "INSERT INTO messages(session, parent, type, text, files, sent_at) VALUES (?, ?, ?, ?, ?, ?) RETURNING id",
  );
  const add = (
    session: string,
    parent: number | null,
    type: Message["type"],
    text: string,
    files: unknown[] = [],
  ): number => {
    const row = insert.get(session, parent, type, text, JSON.stringify(files), now());
    const id = Number(row?.["id"]);
    if (parent !== null) {
      database.prepare("UPDATE messages SET latest_child = ? WHERE id = ?").run(id, parent);
    }
    database.prepare("UPDATE sessions SET updated_at = ? WHERE id = ?").run(now(), session);
    return id;
  };
  const find = (id: string): Session | undefined => {
    const row = database.prepare("SELECT * FROM sessions WHERE id = ?").get(id);
    return row && toSession(row);
  };
  const messages = (session: string): Message[] =>
    database
      .prepare("SELECT * FROM messages WHERE session = ? ORDER BY id")
      .all(session)
      .map(toMessage);

  return {
    find,
    messages,
    create(info: SessionInfo): Session {
      const id = randomUUID();
      const time = now();
      database.transaction(() => {
        database
          .prepare(
            "INSERT INTO sessions(id, persona_id, project_id, description, created_at, updated_at) VALUES (?, ?, ?, ?, ?, ?)",
          )
          .run(id, info.personaId, info.projectId, info.description, time, time);
        add(id, null, "system", "");
      });
      return find(id)!;
    },
    message(id: number): Message | undefined {
      const row = database.prepare("SELECT * FROM messages WHERE id = ?").get(id);
      return row && toMessage(row);
    },
    /** The current branch: from the root along the latest children. */
    mainline(session: string): Message[] {
      const byId = new Map(messages(session).map((message) => [message.id, message]));
      const line: Message[] = [];
      let at = [...byId.values()].find((message) => message.parent === null);
      while (at) {
        line.push(at);
        at = at.latestChild === null ? undefined : byId.get(at.latestChild);
      }
      return line;
    },
    /** Stores the question, unless it is asked again, and one placeholder answer per model. */
    begin(
      session: string,
      parent: number,
      question: { text: string; files: unknown[] } | undefined,
      models: readonly string[],
    ): { userId: number; answerIds: number[] } {
      return database.transaction(() => {
        const userId = question
          ? add(session, parent, "user", question.text, question.files)
          : parent;
        const answerIds = models.map((model) => {
          const id = add(session, userId, "assistant", placeholder);
          database.prepare("UPDATE messages SET model = ? WHERE id = ?").run(model, id);
          return id;
        });
        return { userId, answerIds };
      });
    },
    finish(message: number, outcome: Outcome): void {
      database
        .prepare(
          "UPDATE messages SET text = ?, documents = ?, citations = ?, error = ? WHERE id = ?",
        )
        .run(
          outcome.error ?? outcome.text,
          JSON.stringify(outcome.documents),
          JSON.stringify(outcome.citations),
          outcome.error,
          message,
        );
    },
    /** Newest first, -1 for no limit. Includes sessions without a message only if `withEmpty`, or while they are new. */
    list(limit: number, before: number | undefined, withEmpty: boolean): Session[] {
      return database
        .prepare(
          `SELECT * FROM sessions s WHERE deleted = 0 AND updated_at < ? AND (created_at >= ?
            OR EXISTS (SELECT 1 FROM messages WHERE session = s.id AND type <> 'system'))
          ORDER BY updated_at DESC, created_at DESC LIMIT ?`,
        )
        .all(before ?? Number.MAX_SAFE_INTEGER, withEmpty ? 0 : now() - newForMs, limit)
        .map(toSession);
    },
    rename(id: string, name: string): void {
      database.prepare("UPDATE sessions SET name = ? WHERE id = ?").run(name, id);
    },
    remove(id: string): void {
      database.prepare("UPDATE sessions SET deleted = 1 WHERE id = ?").run(id);
    },
    /** Deletes a session, its messages and their feedback permanently. */
    erase(id: string): void {
      database.transaction(() => {
        database
          .prepare(
            "DELETE FROM feedback WHERE message IN (SELECT id FROM messages WHERE session = ?)",
          )
          .run(id);
        database.prepare("DELETE FROM messages WHERE session = ?").run(id);
        database.prepare("DELETE FROM sessions WHERE id = ?").run(id);
      });
    },
  };
}

/** What a person thinks of an answer. */
export interface Feedback {
  /** Null for a remark alone. */
  isPositive: boolean | null;
  text: string | null;
}

export type FeedbackStore = ReturnType<typeof createFeedback>;

/** The feedback of answers, stored in the database. Of several for one answer, the last one counts. */
export function createFeedback(database: Database) {
  return {
    find(message: number): Feedback | undefined {
      const row = database.prepare("SELECT * FROM feedback WHERE message = ?").get(message);
      if (!row) return undefined;
      return {
        isPositive: row["is_positive"] === null ? null : row["is_positive"] === 1,
        text: row["text"] === null ? null : String(row["text"]),
      };
    },
    set(message: number, { isPositive, text }: Feedback): void {
      database
        .prepare("INSERT OR REPLACE INTO feedback(message, is_positive, text) VALUES (?, ?, ?)")
        .run(message, isPositive === null ? null : Number(isPositive), text);
    },
    remove(message: number): void {
      database.prepare("DELETE FROM feedback WHERE message = ?").run(message);
    },
  };
}

/** `like` or `dislike`; null without a judgement. */
export function kindOf(feedback: Feedback | undefined): "like" | "dislike" | null {
  const isPositive = feedback?.isPositive ?? null;
  if (isPositive === null) return null;
  return isPositive ? "like" : "dislike";
}
