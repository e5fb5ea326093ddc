const slabBytes = 512 * 1024;

let slab = Buffer.alloc(0);
let used = 0;

/**
 * The UTF-8 bytes of a request body. Bodies of common size share a slab: an ArrayBuffer per
 * body costs as much as a system call, and its garbage collection more. Bodies never overlap;
 * a slab is freed with its last body.
 */
export function toBytes(text: string): Buffer {
  // At most three bytes for each UTF-16 unit.
  const maxBytes = text.length * 3;
  if (maxBytes > slabBytes / 8) return Buffer.from(text);
  if (maxBytes > slab.length - used) {
    slab = Buffer.allocUnsafeSlow(slabBytes);
    used = 0;
  }
  const begin = used;
  used += slab.write(text, begin);
  return slab.subarray(begin, used);
}
