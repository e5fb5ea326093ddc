/**
 * Pairs each element whose key an earlier element has with the first of them. Elements without a
 * key are ignored. Linear in their number.
 */
export function* findRepeated<Element>(
  elements: Iterable<Element>,
  keyOf: (element: Element) => string | undefined,
): Generator<[later: Element, first: Element]> {
  const firsts = new Map<string, Element>();
  for (const element of elements) {
    const key = keyOf(element);
    if (key === undefined) continue;
    const first = firsts.get(key);
    if (first === undefined) firsts.set(key, element);
    else yield [element, first];
  }
}
