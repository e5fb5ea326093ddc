/** Events from many workers to one reader, in batches. */
export interface EventQueue<Event> {
  add(event: Event): void;
  /** No more events will be added. */
  end(): void;
  /** Yields all events in the order in which they were added. For one reader only. */
  batches(): AsyncGenerator<Event[]>;
}

/**
 * Creates an empty queue, which grows while its reader is busy. The reader wakes once for
 * all events of one turn of the event loop: waking for each event would cost several promises.
 */
export function createEventQueue<Event>(): EventQueue<Event> {
  let events: Event[] = [];
  let isEnded = false;
  let wake: () => void = () => {};
  return {
    add(event) {
      events.push(event);
      wake();
    },
    end() {
      isEnded = true;
      wake();
    },
    async *batches() {
      while (!isEnded || events.length > 0) {
        if (events.length === 0) {
          await new Promise<void>((resolve) => {
            wake = () => {
              wake = () => {};
              setImmediate(resolve);
            };
          });
          continue;
        }
        const batch = events;
        events = [];
        yield batch;
      }
    },
  };
}
