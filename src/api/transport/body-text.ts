const slabBytes = 512 * 1024;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * The UTF-8 bytes of a request body. Bodies of common size are cut from a slab:
 * an ArrayBuffer for each costs as much as a system call, and its collection more.
 * Nobody else ever gets the same bytes; a slab goes when its last body has gone.
 */
export function toBytes(text: string): Buffer {
  // At most three bytes for each UTF-16 unit.
  const most = text.length * 3;
  if (most > slabBytes / 8) return Buffer.from(text);
  if (most > slab.length - used) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  const begin = used;
  used += slab.write(text, begin);
  return slab.subarray(begin, used);
}
