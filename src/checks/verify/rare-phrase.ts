/** Words of a keyword query: long enough to be rare, short enough for any service. */
const mostWords = 6;

/** How rare a word is likely to be: digits and length make it rare. */
function rarity(word: string): number {
  return Math.min(word.length, 16) + (/\p{N}/u.test(word) ? 4 : 0);
}

/**
 * A query that finds a document by keywords: its title, then the consecutive words of its text
 * that are likely the rarest. "" for a text without words.
 */
export function rarePhrase(title: string, sections: readonly string[]): string {
  const words =
    sections
      .join(" ")
      .slice(0, 100_000)
      .match(/[\p{L}\p{N}]{2,40}/gu) ?? [];
  let best = 0;
  let bestSum = 0;
  let sum = 0;
  for (const [index, word] of words.entries()) {
    sum += rarity(word);
    const left = words[index - mostWords];
    if (left !== undefined) sum -= rarity(left);
    if (sum > bestSum) [best, bestSum] = [Math.max(0, index - mostWords + 1), sum];
  }
  const phrase = words.slice(best, best + mostWords).join(" ");
  return [title.trim(), phrase].filter((each) => each !== "").join(" ");
}
