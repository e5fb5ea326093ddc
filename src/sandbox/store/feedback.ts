import type { Database } from "../../database.ts";

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
