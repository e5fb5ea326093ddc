// The state of one answer, made from the packets of its stream. Knows no page: tests run it in Node.

/** `documents` by id, best first; `citations`: ids of documents by number; `damaged`: lines that are no JSON. */
export const newTurn = () => ({
  text: "",
  reasoning: "",
  queries: /** @type {string[]} */ ([]),
  documents: new Map(),
  citations: new Map(),
  session: /** @type {string | undefined} */ (undefined),
  failure: /** @type {string | undefined} */ (undefined),
  isComplete: false,
  damaged: 0,
});

/** The lines of a stream, in both framings: `data: {…}` and bare JSON. */
export async function* linesOf(body) {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  for (let done = false; !done;) {
    const read = await reader.read();
    done = read.done;
    const lines = (rest + decoder.decode(read.value, { stream: !done })).split("\n");
    rest = done ? "" : (lines.pop() ?? "");
    for (const line of lines) {
      const text = line.replace(/^data: ?/, "").trim();
      if (text !== "" && !text.startsWith(":")) yield text;
    }
  }
}

// A recording may hold anything.
const textOf = (value) => (typeof value === "string" ? value : "");
const listOf = (value) => (Array.isArray(value) ? value : []);
/** Half a surrogate pair has no address: an id becomes well-formed. */
const idOf = (value) => textOf(value).replace(/\p{Surrogate}/gu, "\ufffd");

const documentMembers = ["document_id", "semantic_identifier", "link", "blurb", "updated_at"];

function addDocuments(turn, list) {
  for (const each of listOf(list)) {
    const entries = documentMembers.map((name) => [name, idOf(each?.[name])]);
    const document = Object.fromEntries(entries);
    if (document.document_id !== "") turn.documents.set(document.document_id, document);
  }
}

/** What each packet adds. Packets of another type are ignored. */
const readers = {
  message_start: (turn, packet) => addDocuments(turn, packet.final_documents),
  message_delta: (turn, packet) => (turn.text += textOf(packet.content)),
  reasoning_delta: (turn, packet) => (turn.reasoning += textOf(packet.reasoning)),
  search_tool_queries_delta: (turn, packet) =>
    turn.queries.push(...listOf(packet.queries).map(textOf)),
  search_tool_documents_delta: (turn, packet) => addDocuments(turn, packet.documents),
  citation_info: (turn, packet) =>
    Number.isInteger(packet.citation_number) &&
    turn.citations.set(packet.citation_number, idOf(packet.document_id)),
  stop: (turn) => (turn.isComplete = true),
};

/** Adds one line of the stream to the turn. */
export function addLine(turn, line) {
  try {
    const value = JSON.parse(line);
    if (typeof value !== "object" || value === null) throw new SyntaxError();
    turn.session = textOf(value.chat_session_id) || turn.session;
    turn.failure = textOf(value.error) || turn.failure;
    const type = textOf(value.obj?.type);
    if (Object.hasOwn(readers, type)) readers[type](turn, value.obj);
  } catch {
    turn.damaged += 1;
  }
}

/** The cited documents by number, and those that were found but not cited. */
export function sourcesOf({ citations, documents }) {
  const cited = [...citations].toSorted(([a], [b]) => a - b);
  const ids = new Set(citations.values());
  return {
    cited: cited.map(([number, document_id]) => ({
      number,
      document: documents.get(document_id) ?? { document_id },
    })),
    others: [...documents.values()].filter(({ document_id }) => !ids.has(document_id)),
  };
}

/** The service's own words in a body that is JSON, or its beginning. */
function reasonOf(body) {
  try {
    const { detail, message } = JSON.parse(body);
    return String(detail ?? message ?? "")
      .slice(0, 500)
      .replace(/\.$/, "");
  } catch {
    return body.slice(0, 200).trim();
  }
}

/** The message for a response that is no stream. `retryAfter`: seconds. */
export function failureOf(status, retryAfter, type, body) {
  const isPage = /^\s*</.test(body) || type.includes("html");
  if (status === 200) {
    return isPage
      ? "A web page came in place of an answer, with status 200."
      : "The response is not a stream of packets.";
  }
  const reason = isPage ? "a web page" : reasonOf(body);
  const wait = retryAfter === null ? "" : ` Retry after ${retryAfter} s.`;
  return `The service answered with status ${status}${reason && `: ${reason}`}.${wait}`;
}
