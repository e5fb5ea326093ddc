/** A tag of a template: `{% name markup %}`. */
export interface Tag {
  name: string;
  markup: string;
  /** Offsets of the tag. */
  at: number;
  end: number;
}

/** A tag with a content: from a tag such as `if` over those that divide it to its end. */
export interface Block {
  /** The first tag and those that divide the block: `else`, `elsif`, `when`. */
  branches: Tag[];
  /** Undefined where the end is missing. */
  close: Tag | undefined;
}

// Nobody writes a longer tag.
const longestTag = 10_000;
const opening = /^(?:if|unless|case|for|tablerow|capture|raw|verbatim|comment)$/;
const dividing = /^(?:else|elsif|elseif|elif|when)$/;
const head = /^-?\s*([a-z_]\w*)\s*/i;

function* tagsOf(text: string): Generator<Tag> {
  for (let at = text.indexOf("{%"); at !== -1; at = text.indexOf("{%", at)) {
    const close = text.indexOf("%}", at + 2);
    if (close === -1) return;
    const inner = text.slice(at + 2, Math.min(close, at + longestTag)).replace(/-$/, "");
    const [whole, name] = head.exec(inner) ?? [];
    if (whole === undefined || name === undefined || close - at > longestTag) {
      at += 2;
      continue;
    }
    const markup = inner.slice(whole.length).trim();
    yield { name, markup, at, end: close + 2 };
    at = close + 2;
  }
}

/** The blocks of a template by the offset of their first tag. The time is linear. */
export function blocksOf(text: string): ReadonlyMap<number, Block> {
  const blocks = new Map<number, Block>();
  const open: { name: string; block: Block }[] = [];
  for (const tag of tagsOf(text)) {
    const last = open.at(-1);
    // Everything in it is text.
    const isText = last !== undefined && /^(?:raw|verbatim|comment)$/.test(last.name);
    if (last && tag.name === `end${last.name}`) {
      last.block.close = tag;
      open.pop();
    } else if (isText) continue;
    else if (opening.test(tag.name) || (tag.name === "set" && !tag.markup.includes("="))) {
      const block: Block = { branches: [tag], close: undefined };
      blocks.set(tag.at, block);
      open.push({ name: tag.name, block });
    } else if (last && dividing.test(tag.name)) last.block.branches.push(tag);
  }
  return blocks;
}

/** The tag at an offset; undefined for a text that is none. */
export function tagAt(text: string, at: number): Tag | undefined {
  const part = text.slice(at, at + longestTag + 2);
  const tag = tagsOf(part).next().value as Tag | undefined;
  return tag?.at === 0 ? { ...tag, at, end: at + tag.end } : undefined;
}
