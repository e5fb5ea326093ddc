// Letters that Unicode's decomposition leaves as they are.
const plainLetters: Readonly<Record<string, string>> = {
  ø: "o",
  đ: "d",
  ħ: "h",
  ı: "i",
  ł: "l",
  ŧ: "t",
  ß: "sz",
  æ: "ae",
  œ: "oe",
};

/** The identifier that docutils makes of a name (nodes.make_id); "" if no character fits. */
export function makeId(name: string): string {
  return name
    .toLowerCase()
    .replace(/[^\0-\x7f]/g, (letter) => plainLetters[letter] ?? letter)
    .normalize("NFKD")
    .replace(/[^\0-\x7f]/g, "")
    .trim()
    .replace(/\s+/g, " ")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^[-0-9]+|-+$/g, "");
}

/** Anchors of one document. */
export type AnchorOf = (name: string) => string;

/** Gives each place of a document its identifier, as Sphinx configures docutils. */
export function createAnchors(): AnchorOf {
  const used = new Set<string>();
  let count = 0;
  return (name) => {
    let id = makeId(name);
    while (id === "" || used.has(id)) id = `id${++count}`;
    used.add(id);
    return id;
  };
}
