/** What a service of the `onyx` kind lacks before a version: observed-service.md 9. */
const since: readonly [version: string, lacking: string][] = [
  ["2.6.0", "errors inside an answer carry no code"],
  ["2.8.0", "chat does not work: there is no send-chat-message"],
  ["3.0.0", "metadata has to be text"],
  ["3.1.0", "one model a question, never several at once"],
  ["3.3.0", "created and updated are told the wrong way round"],
  [
    "4.0.0",
    "a continued session is not named by chat --no-stream, and documents cannot be searched for",
  ],
  [
    "4.2.0",
    "long silent work may be cut by a proxy, and a cut answer cannot be followed while it is made",
  ],
  ["4.3.0", "which filters a search really applied is not told"],
  ["4.4.0", "documents are not filtered by date of creation"],
  ["4.5.0", "a used-up budget does not say when it is renewed"],
];

function numbersOf(version: string): number[] | undefined {
  const match = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(version.trim());
  return match?.slice(1).map((part) => Number(part ?? 0));
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((part, index) => part !== (other[index] ?? 0));
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}

/** What the version lacks, oldest first; undefined where it is no number ("Development"). */
export function lackingIn(version: string): string[] | undefined {
  const own = numbersOf(version);
  if (!own) return undefined;
  return since.flatMap(([first, lacking]) =>
    isBefore(own, numbersOf(first) ?? []) ? [`${lacking} (from ${first})`] : [],
  );
}

/** The service cannot be chatted with by this tool at all. */
export function isTooOldForChat(version: string): boolean {
  const own = numbersOf(version);
  return own !== undefined && isBefore(own, [2, 8, 0]);
}
