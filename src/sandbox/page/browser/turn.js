// The state of one answer, made from the packets of its stream. Knows no page: tests run it in Node.

/**
 * @typedef {object} FoundDocument
 * @property {string} document_id
 * @property {string | null} [semantic_identifier]
 * @property {string | null} [link]
 * @property {string | null} [blurb] the beginning of the passage that matched
 * @property {string | null} [updated_at]
 *
 * @typedef {object} Turn
 * @property {string} text
 * @property {string} reasoning
 * @property {string[]} queries
 * @property {Map<string, FoundDocument>} documents by id, best first
 * @property {Map<number, string>} citations document id by number
 * @property {string | undefined} session
 * @property {string | undefined} failure
 * @property {boolean} isComplete the service ended the answer
 * @property {number} damaged lines that are no JSON
 */

/** @returns {Turn} */
export function newTurn() {
  return {
    text: "",
    reasoning: "",
    queries: [],
    documents: new Map(),
    citations: new Map(),
    session: undefined,
    failure: undefined,
    isComplete: false,
    damaged: 0,
  };
}

/**
 * The lines of a stream, in both framings: `data: {…}` and bare JSON.
 * @param {ReadableStream<Uint8Array>} body
 * @returns {AsyncGenerator<string>}
 */
export async function* linesOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    rest += decoder.decode(value, { stream: !done });
    const lines = rest.split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) {
      const text = line.replace(/^data: ?/, "").trim();
      if (text !== "" && !text.startsWith(":")) yield text;
    }
    if (done) return;
  }
}

/**
 * Adds one line of the stream to the turn. Ignores packets of an unknown type.
 * @param {Turn} turn
 * @param {string} line
 */
export function addLine(turn, line) {
  let value;
  try {
    value = JSON.parse(line);
  } catch {
    turn.damaged += 1;
    return;
  }
  if (typeof value !== "object" || value === null) {
    turn.damaged += 1;
    return;
  }
  if (typeof value.chat_session_id === "string") turn.session = value.chat_session_id;
  if (typeof value.error === "string") turn.failure = value.error;
  if (value.obj) addPacket(turn, value.obj);
}

/** A recording may hold anything. @param {unknown} value */
const textOf = (value) => (typeof value === "string" ? value : "");

/** @param {unknown} value @returns {any[]} */
const listOf = (value) => (Array.isArray(value) ? value : []);

/**
 * Half a surrogate pair has no address: an id becomes well-formed.
 * @param {unknown} value
 */
const idOf = (value) => textOf(value).replace(/\p{Surrogate}/gu, "\ufffd");

/** @param {Turn} turn @param {unknown} list */
function addDocuments({ documents }, list) {
  for (const each of listOf(list)) {
    const id = idOf(each?.document_id);
    if (id === "") continue;
    documents.set(id, {
      document_id: id,
      semantic_identifier: textOf(each.semantic_identifier),
      link: textOf(each.link),
      blurb: textOf(each.blurb),
      updated_at: textOf(each.updated_at),
    });
  }
}

/**
 * @param {Turn} turn
 * @param {any} packet
 */
function addPacket(turn, packet) {
  switch (packet.type) {
    case "message_start":
      addDocuments(turn, packet.final_documents);
      break;
    case "message_delta":
      turn.text += textOf(packet.content);
      break;
    case "reasoning_delta":
      turn.reasoning += textOf(packet.reasoning);
      break;
    case "search_tool_queries_delta":
      turn.queries.push(...listOf(packet.queries).map(textOf));
      break;
    case "search_tool_documents_delta":
      addDocuments(turn, packet.documents);
      break;
    case "citation_info":
      if (Number.isInteger(packet.citation_number)) {
        turn.citations.set(packet.citation_number, idOf(packet.document_id));
      }
      break;
    case "stop":
      turn.isComplete = true;
      break;
    default:
  }
}

/**
 * The cited documents by number, and those that were found but not cited.
 * @param {Turn} turn
 */
export function sourcesOf({ citations, documents }) {
  const cited = [...citations].toSorted(([a], [b]) => a - b);
  const ids = new Set(cited.map(([, id]) => id));
  return {
    cited: cited.map(([number, id]) => ({
      number,
      document: documents.get(id) ?? { document_id: id },
    })),
    others: [...documents.values()].filter(({ document_id }) => !ids.has(document_id)),
  };
}

/**
 * The message for a response that is no stream.
 * @param {number} status
 * @param {string | null} retryAfter seconds
 * @param {string} type content type
 * @param {string} body
 */
export function failureOf(status, retryAfter, type, body) {
  const isPage = /^\s*</.test(body) || type.includes("html");
  if (status === 200) {
    return isPage
      ? "A web page came in place of an answer, with status 200."
      : "The response is not a stream of packets.";
  }
  const wait = retryAfter === null ? "" : ` Retry after ${retryAfter} s.`;
  const said = isPage ? "a web page" : reasonOf(body);
  return `The service answered with status ${status}${said === "" ? "" : `: ${said}`}.${wait}`;
}

/** @param {string} body */
function reasonOf(body) {
  try {
    const { detail, message } = JSON.parse(body);
    const text = typeof detail === "string" ? detail : (message ?? JSON.stringify(detail));
    return String(text ?? "")
      .slice(0, 500)
      .replace(/\.$/, "");
  } catch {
    return body.slice(0, 200).trim();
  }
}
