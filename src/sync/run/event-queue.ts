/** What many workers tell one reader, in batches. */
export interface EventQueue<Event> {
  add(event: Event): void;
  /** Nothing more will come. */
  end(): void;
  /** Everything in the order in which it was added, as soon as it is there. For one reader. */
  batches(): AsyncGenerator<Event[]>;
}

/**
 * Creates an empty queue. It grows while its reader is busy. The reader is woken
 * once for all that comes in one turn of the event loop: by itself each event
 * would cost a handful of promises.
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
