import type { Flow } from "../transport/watch.ts";

/** Above this many unread bytes the sender is paused. */
const readAheadBytes = 1024 * 1024;

/** Chunks that arrived and are not read yet; the reader waits for more. */
interface ReadBuffer {
  put(chunk: Buffer): void;
  isFull(): boolean;
  end(error?: Error): void;
  read(): AsyncGenerator<Uint8Array>;
}

/** `flow` pauses and resumes the sender. */
export function createReadBuffer(flow: () => Flow | undefined): ReadBuffer {
  let chunks: Buffer[] = [];
  let unreadBytes = 0;
  let ended = false;
  let failure: Error | undefined;
  let wake = (): void => {};
  return {
    put(chunk) {
      chunks.push(chunk);
      unreadBytes += chunk.length;
      if (unreadBytes > readAheadBytes) flow()?.pause();
      wake();
    },
    isFull: () => unreadBytes > readAheadBytes,
    end(error) {
      ended = true;
      failure = error;
      wake();
    },
    async *read() {
      for (;;) {
        if (chunks.length > 0) {
          const batch = chunks;
          chunks = [];
          for (const chunk of batch) yield chunk;
          const wasFull = unreadBytes > readAheadBytes;
          unreadBytes = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
          if (wasFull && unreadBytes <= readAheadBytes) flow()?.resume();
        } else if (failure) throw failure;
        else if (ended) return;
        else await new Promise<void>((resolve) => (wake = resolve));
      }
    },
  };
}
