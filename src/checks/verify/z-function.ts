/**
 * Z-function: for each position of `text`, how many characters of `pattern` match there. Linear.
 */
export function matchesOf(pattern: string, text: string): Int32Array {
  const all = `${pattern}\0${text}`;
  const lengths = new Int32Array(all.length);
  let from = 0;
  let to = 0;
  for (let at = 1; at < all.length; at++) {
    let length = at < to ? Math.min(to - at, lengths[at - from] ?? 0) : 0;
    while (all.charCodeAt(length) === all.charCodeAt(at + length)) length++;
    lengths[at] = length;
    if (at + length > to) {
      from = at;
      to = at + length;
    }
  }
  return lengths.subarray(pattern.length + 1);
}
