/** Features that an `onyx` service lacks before a version (observed-service.md 9). */
const since: readonly [version: string, lacking: string][] = [
  ["2.6.0", "errors inside an answer carry no code"],
  ["2.8.0", "chat does not work: there is no send-chat-message"],
  ["3.0.0", "metadata has to be text"],
  ["3.1.0", "a question can use only one model"],
  ["3.3.0", "the created and updated dates are swapped"],
  [
    "4.0.0",
    "chat --no-stream does not report a continued session, and documents cannot be searched",
  ],
  [
    "4.2.0",
    "a proxy may cut a long silent answer, and a cut answer in progress cannot be followed",
  ],
  ["4.3.0", "a search does not report the filters that it applied"],
  ["4.4.0", "documents cannot be filtered by creation date"],
  ["4.5.0", "the error of a used-up budget has no renewal date"],
];

function numbersOf(version: string): number[] | undefined {
  const match = /^v?(\d{1,6})\.(\d{1,6})(?:\.(\d{1,6}))?/.exec(version.trim());
  return match?.slice(1).map((part) => Number(part ?? 0));
}

function isBefore(one: readonly number[], other: readonly number[]): boolean {
  const at = one.findIndex((part, index) => part !== (other[index] ?? 0));
  return at >= 0 && (one[at] ?? 0) < (other[at] ?? 0);
}

/** Missing features of a version, oldest first; undefined if it is not a number ("Development"). */
export function lackingIn(version: string): string[] | undefined {
  const own = numbersOf(version);
  if (!own) return undefined;
  return since.flatMap(([first, lacking]) =>
    isBefore(own, numbersOf(first) ?? []) ? [`${lacking} (from ${first})`] : [],
  );
}

/** Whether this tool cannot chat with the service at all. */
export function isTooOldForChat(version: string): boolean {
  const own = numbersOf(version);
  return own !== undefined && isBefore(own, [2, 8, 0]);
}
