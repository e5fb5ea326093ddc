import { getHeapSpaceStatistics, setFlagsFromString } from "node:v8";

const eventsBetweenLooks = 1000;
const enoughBytes = 16_000_000;

/**
 * Keeps V8's young generation from growing on and on during a long run: each
 * time enough has survived it doubles, to 96 MB in Node 24, although a run of
 * small documents gains nothing from it. The function takes the number of
 * documents that are done since its last call. `--max-semi-space-size` has no
 * effect once V8 runs; the growth factor is looked at each time.
 */
export function createYoungGenerationHold(): (documents: number) => void {
  let untilLook = 0;
  let isHeld = false;
  return (documents) => {
    untilLook -= documents;
    if (isHeld || untilLook > 0) return;
    untilLook = eventsBetweenLooks;
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === "new_space");
    if (!young || young.space_size < enoughBytes) return;
    isHeld = true;
    setFlagsFromString("--semi-space-growth-factor=1");
  };
}
