import { formatDuration } from "../terminal/progress.ts";
import type { Throughput } from "./stored/record.ts";
import { formatRate } from "./text.ts";

/** Fewer bars show no trend. */
const minBars = 3;

/** More bars cannot be distinguished at the width of a page. */
const maxBars = 150;

interface Bar {
  documents: number;
  failed: number;
}

function barsOf({ bucketSeconds, buckets }: Throughput): { bars: Bar[]; seconds: number } {
  const each = Math.ceil(buckets.length / maxBars);
  const bars: Bar[] = [];
  for (const [index, { documents, failed }] of buckets.entries()) {
    const at = Math.floor(index / each);
    const bar = (bars[at] ??= { documents: 0, failed: 0 });
    bar.documents += documents;
    bar.failed += failed;
  }
  return { bars, seconds: bucketSeconds * each };
}

/** Rounds up to 1, 2, 2.5 or 5 times a power of ten, for a readable scale. */
function niceCeiling(value: number): number {
  if (value <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  return ([1, 2, 2.5, 5, 10].find((step) => step * power >= value * 0.999) ?? 10) * power;
}

// Equal parts: a short last part would draw two ticks on top of each other.
function timeTicks(totalSeconds: number): number[] {
  const parts = totalSeconds < 4 ? 2 : 4;
  return Array.from({ length: parts + 1 }, (_, index) => (totalSeconds * index) / parts);
}

const height = 100;

function rectangle(kind: string, index: number, from: number, size: number): string {
  if (size <= 0) return "";
  // The gap between bars is relative, so that it shrinks with the page.
  return `<rect class="${kind}" x="${index + 0.08}" y="${(height - from - size).toFixed(2)}" width="0.84" height="${size.toFixed(2)}"/>`;
}

/**
 * Accepted and failed documents per second over time. The drawing stretches with
 * the page; the labels of the axes are HTML around it, so they keep their size.
 * Empty for a run of fewer than three bars. Contains only numbers, no untrusted text.
 */
export function throughputChart(throughput: Throughput): string {
  const { bars, seconds } = barsOf(throughput);
  if (bars.length < minBars) return "";
  const rates = bars.map(({ documents, failed }) => (documents + failed) / seconds);
  const peak = Math.max(...rates);
  const top = niceCeiling(peak);
  const scale = height / (top * seconds);
  const drawn = bars.map(
    ({ documents, failed }, index) =>
      rectangle("sent", index, 0, documents * scale) +
      rectangle("lost", index, documents * scale, failed * scale),
  );
  const total = bars.length * seconds;
  const label = `Documents per second over ${formatDuration(total * 1000)}; at most ${formatRate(peak)} per second.`;
  const grid = [0, 0.5, 1].map(
    (share) =>
      `<line class="grid" x1="0" x2="${bars.length}" y1="${height * share}" y2="${height * share}"/>`,
  );
  const vertical = [top, top / 2, 0].map((value) => `<span>${formatTick(value)}</span>`);
  const horizontal = timeTicks(total).map(
    (second) => `<span>${second === 0 ? "0" : formatDuration(second * 1000)}</span>`,
  );
  return `<div class="chart"><div class="y" aria-hidden="true">${vertical.join("")}</div>
<svg role="img" aria-label="${label}" viewBox="0 0 ${bars.length} ${height}" preserveAspectRatio="none">${grid.join("")}${drawn.join("")}</svg>
<div class="x" aria-hidden="true">${horizontal.join("")}</div></div>`;
}

function formatTick(value: number): string {
  return Number.isInteger(value) ? value.toLocaleString("en-US") : formatRate(value);
}
