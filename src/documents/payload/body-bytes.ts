// Bodies are cut from a block, one behind the other: memory of its own for each costs
// more than to write it. Small, since each body keeps its whole block alive. A block may be
// handed to another thread as it is, with all bodies in it.
const blockBytes = 64 * 1024;

let block = Buffer.allocUnsafeSlow(blockBytes);
/** Where the body begins that is being written, and where it goes on. */
let start = 0;
let end = 0;

/** Moves the body to where there is more room. */
function makeRoom(bytes: number): void {
  const written = block.subarray(start, end);
  block = Buffer.allocUnsafeSlow(Math.max(blockBytes, written.length + bytes));
  block.set(written);
  start = 0;
  end = written.length;
}

/** Begins a body; what was left of one that was never taken is gone. */
export function beginBody(): void {
  // Nothing is left of a block that was handed to another thread.
  if (block.length === 0) {
    block = Buffer.allocUnsafeSlow(blockBytes);
    start = 0;
  }
  end = start;
}

/** Appends a text to the body that is being written, as UTF-8. Gives where it begins in it. */
export function appendText(text: string): number {
  const at = end - start;
  // The length is not counted before it must be.
  const most = text.length <= blockBytes / 8 ? text.length * 3 : Buffer.byteLength(text);
  if (block.length - end < most) makeRoom(most);
  end += block.write(text, end);
  return at;
}

/** The bytes of the body from `from` on, as far as it is written; valid until the next append. */
export function bytesFrom(from: number): Buffer {
  return block.subarray(start + from, end);
}

/** The body as it is written; nothing changes it any more. */
export function takeBody(): Buffer {
  const body = block.subarray(start, end);
  start = end;
  return body;
}
