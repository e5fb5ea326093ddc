/**
 * Recognises that a request names something that the service does not have. It refuses what
 * the caller may not see in the same words, with many statuses and codes
 * (observed-service.md 12.1 to 12.4): its words decide.
 */

interface Thing {
  codes: RegExp;
  words: RegExp;
  hint: string;
}

const things: readonly Thing[] = [
  {
    codes: /^SESSION_NOT_FOUND$/,
    words: /\binvalid chat session id\b|\bchat session (?:not found|has been deleted)\b/i,
    hint: "list the sessions: knowctl sessions list",
  },
  {
    codes: /^PERSONA_NOT_FOUND$/,
    words: /\baccess to persona\b/i,
    hint: "list the agents: knowctl agents list; the agent may exist without being visible to this key",
  },
  {
    codes: /^PROJECT_NOT_FOUND$/,
    words: /\baccess to project\b|\bproject not found\b/i,
    hint: "list the projects: knowctl api user/projects; the project may exist without being visible to this key",
  },
  {
    codes: /^DOCUMENT_SET_NOT_FOUND$/,
    words: /\baccess to document sets?\b/i,
    hint: "list the document sets: knowctl api manage/document-set; the set may exist without being visible to this key",
  },
  {
    codes: /^TOOL_NOT_FOUND$/,
    words: /\bforced tool \S+ not found in tools\b/i,
    hint: "list the tools: knowctl tools list; the agent must have the tool, and the question must allow it",
  },
  {
    codes: /^(?:CONNECTOR|CC_PAIR|CREDENTIAL)_NOT_FOUND$/,
    words: /\bcc[ -_]?pair not found\b/i,
    hint: "list the connectors: knowctl connectors list",
  },
  {
    codes: /^FILE_NOT_FOUND$/,
    words: /\bfile not found\b/i,
    hint: "list the files: knowctl files list",
  },
];

/** The hint for an unknown thing: the command that lists such things. Undefined for other refusals. */
export function hintForUnknown(code: string | null | undefined, words: string): string | undefined {
  const known = things.find(
    (thing) => thing.codes.test(code?.toUpperCase() ?? "") || thing.words.test(words),
  );
  return known?.hint;
}
