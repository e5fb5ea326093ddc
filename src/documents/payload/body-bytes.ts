// A block contains several bodies, one after the other: separate memory for each body costs more
// than writing it. The block is small, because each body keeps its whole block in memory. A block
// may be transferred to another thread with all its bodies.
const blockBytes = 64 * 1024;

let block = Buffer.allocUnsafeSlow(blockBytes);
/** Start of the body that is being written, and its end so far. */
let start = 0;
let end = 0;

/** Moves the body to a new block with enough room. */
function makeRoom(bytes: number): void {
  const written = block.subarray(start, end);
  block = Buffer.allocUnsafeSlow(Math.max(blockBytes, written.length + bytes));
  block.set(written);
  start = 0;
  end = written.length;
}

/** Begins a body. Discards an unfinished body. */
export function beginBody(): void {
  // After a transfer to another thread, the block has the length 0.
  if (block.length === 0) {
    block = Buffer.allocUnsafeSlow(blockBytes);
    start = 0;
  }
  end = start;
}

/** Appends a text to the body as UTF-8. Returns its offset in the body. */
export function appendText(text: string): number {
  const at = end - start;
  // The exact length is counted only for a long text.
  const maxBytes = text.length <= blockBytes / 8 ? text.length * 3 : Buffer.byteLength(text);
  if (block.length - end < maxBytes) makeRoom(maxBytes);
  end += block.write(text, end);
  return at;
}

/** The bytes of the body from the offset `from` to its end so far; valid until the next append. */
export function bytesFrom(from: number): Buffer {
  return block.subarray(start + from, end);
}

/** Returns the finished body. Later calls do not change it. */
export function takeBody(): Buffer {
  const body = block.subarray(start, end);
  start = end;
  return body;
}
