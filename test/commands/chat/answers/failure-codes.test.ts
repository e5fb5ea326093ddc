import { describe, expect, it } from "vitest";
import { failureError } from "../../../../src/commands/chat/end-failure.ts";

function fail(message: string, code: string | null = null, sessionId: string | null = null) {
  const failure = { type: "error", message, code, retryable: null } as const;
  return failureError(failure, { sessionId, hasAnswer: false });
}

describe("failureError", () => {
  it.each([
    [null, "boom", "server-error"],
    ["AUTH_ERROR", "bad vendor key", "server-error"],
    ["PERMISSION_DENIED", "vendor", "server-error"],
    ["UNAUTHENTICATED", "who?", "auth"],
    ["INSUFFICIENT_PERMISSIONS", "no", "auth"],
    ["RATE_LIMIT", "slow", "rate-limited"],
    ["RATE_LIMITED", "slow", "rate-limited"],
    ["BUDGET_EXCEEDED", "spent", "rate-limited"],
    ["NOT_FOUND", "no model", "not-found"],
    ["PERSONA_NOT_FOUND", "no agent", "not-found"],
    ["VALIDATION_ERROR", "Invalid Chat Session ID provided", "not-found"],
    ["VALIDATION_ERROR", "not on the latest mainline", "usage"],
    ["VALIDATION_ERROR", "File not found: f", "not-found"],
    ["VALIDATION_ERROR", "User does not have access to persona", "not-found"],
    ["VALIDATION_ERROR", "User does not have access to project", "not-found"],
    ["INSUFFICIENT_PERMISSIONS", "User does not have access to document sets: ['x']", "not-found"],
    ["UNKNOWN_ERROR", "Forced tool 7 not found in tools", "not-found"],
    ["EMPTY_LLM_RESPONSE", "no text", "incomplete"],
    ["MODEL_REFUSAL", "no", "usage"],
    ["CONTENT_POLICY", "no", "usage"],
    ["QUERY_REJECTED", "no", "usage"],
    ["INIT_FAILED", "could not load the tools of the agent", "server-error"],
    [null, "Forced tool 7 not found in tools", "not-found"],
    ["CONTEXT_TOO_LONG", "too long", "usage"],
    ["MODEL_ERROR", "bad chat session handling in the model", "server-error"],
    ["SERVICE_UNAVAILABLE", "down", "server-error"],
    ["GATEWAY_TIMEOUT", "late", "timeout"],
    ["constructor", "odd", "server-error"],
    ["NEW_CODE", "odd", "server-error"],
  ])("%s: %s is %s", (code, message, exit) => {
    expect(fail(message, code).exit).toBe(exit);
  });

  it.each([
    ["VALIDATION_ERROR", "User does not have access to persona", "knowctl agents list"],
    ["PERSONA_NOT_FOUND", "no agent", "knowctl agents list"],
    ["VALIDATION_ERROR", "User does not have access to project", "knowctl api user/projects"],
    [
      "INSUFFICIENT_PERMISSIONS",
      "User does not have access to document sets: ['x']",
      "knowctl api manage/document-set",
    ],
    ["UNKNOWN_ERROR", "Forced tool 7 not found in tools", "knowctl tools list"],
    ["VALIDATION_ERROR", "Invalid Chat Session ID provided", "knowctl sessions list"],
    ["NOT_FOUND", "no such run", "check the session, agent, project,"],
    ["BUDGET_EXCEEDED", "spent", "quota at the model's vendor"],
    ["MODEL_REFUSAL", "no", "is refused again"],
    ["CONTENT_POLICY", "no", "content filter"],
    ["QUERY_REJECTED", "no", "a rule of the service"],
    ["EMPTY_LLM_RESPONSE", "nothing", "asking again may help"],
    ["INIT_FAILED", "could not load the tools of the agent", "--no-tools"],
    ["BAD_REQUEST", "Invalid schema for function 'tickets'", "--no-tools"],
    ["MODEL_ERROR", "MCP server tickets is unreachable", "--no-tools"],
    ["API_ERROR", "boom", "ask again later"],
    ["INSUFFICIENT_PERMISSIONS", "no", "ask an administrator"],
    ["BAD_REQUEST", "messages.1: bad", "asking again does not help"],
    ["UNPROCESSABLE_ENTITY", "bad", "asking again does not help"],
    ["INIT_FAILED", "boom", "ask once more"],
    ["UNKNOWN_ERROR", "boom", "ask once more"],
    [null, "boom", "ask once more"],
  ])("%s: %s names what to do", (code, message, hint) => {
    expect(fail(message, code).hints[0]).toContain(hint);
  });

  it("names the model that the vendor does not have, and the flag for another", () => {
    const failure = { type: "error", message: "gone", code: "NOT_FOUND", retryable: null } as const;
    const failed = { sessionId: null, hasAnswer: false };
    const error = failureError({ ...failure, vendorModel: "m-9" }, failed);
    expect([error.exit, error.hints[0]]).toEqual([
      "not-found",
      expect.stringMatching(/no model "m-9".*--model.*does not help/),
    ]);
  });

  it("says the service's own words on one bounded line, the code and the session", () => {
    const error = fail(`bad\n\u001b[31mthing ${"x".repeat(2000)}`, "MODEL_ERROR", "s-1");
    expect(error.message).toMatch(
      /^the service did not answer: bad \^\[\[31mthing x+… \(MODEL_ERROR\)$/,
    );
    expect(error.message.length).toBeLessThan(600);
    expect(error.hints).toContain("session: s-1");
  });

  it("tells an answer that broke off from none", () => {
    const failure = { type: "error", message: "boom", code: null, retryable: null } as const;
    const failed = { sessionId: null, hasAnswer: true };
    expect(failureError(failure, failed).message).toBe("the service broke off its answer: boom");
    expect(failureError(failure, { ...failed, model: "m-1" }).message).toBe(
      "m-1 broke off its answer: boom",
    );
  });

  it("has words where the service has none", () => {
    expect(fail(" ").message).toBe("the service did not answer: no reason reported");
  });
});
