import * as z from "zod/mini";
import type { Call } from "../http/call.ts";
import { requiredInteger } from "../http/query.ts";
import { json, Refusal, type Reply } from "../http/reply.ts";
import type { Route } from "../http/routes.ts";
import { laxBoolean, laxInteger, parseBody } from "../http/validation.ts";
import type { FeedbackStore } from "../store/feedback.ts";
import type { Sessions } from "../store/sessions.ts";

const isSet = (value: unknown): boolean => value !== undefined && value !== null;
const text = z.optional(z.nullable(z.string()));

const NewFeedback = z
  .object({
    chat_message_id: laxInteger,
    is_positive: z.optional(z.nullable(laxBoolean)),
    feedback_text: text,
    predefined_feedback: text,
  })
  .check(
    z.refine(({ is_positive, feedback_text }) => isSet(is_positive) || isSet(feedback_text), {
      error: "is_positive or feedback_text is required",
    }),
  );

function checkAnswer(sessions: Sessions, id: number): void {
  if (sessions.message(id)?.type === "assistant") return;
  throw new Refusal(json(400, { message: `Message ${id} is not an answer` }));
}

function create(sessions: Sessions, feedback: FeedbackStore, call: Call): Reply {
  const body = parseBody(NewFeedback, call.json());
  checkAnswer(sessions, body.chat_message_id);
  feedback.set(body.chat_message_id, {
    isPositive: body.is_positive ?? null,
    text: body.feedback_text ?? null,
  });
  return json(200, null);
}

/** Feedback on answers: observed-service.md 11.5. The sandbox does not limit its rate. */
export function feedbackRoutes(sessions: Sessions, feedback: FeedbackStore): Route[] {
  return [
    {
      dialect: "onyx",
      method: "POST",
      path: "/api/chat/create-chat-message-feedback",
      bodyLimit: 1024 * 1024,
      handle: (call) => create(sessions, feedback, call),
    },
    {
      dialect: "onyx",
      method: "DELETE",
      path: "/api/chat/remove-chat-message-feedback",
      handle(call) {
        const id = requiredInteger(call, "chat_message_id");
        checkAnswer(sessions, id);
        feedback.remove(id);
        return json(200, null);
      },
    },
  ];
}
