// The stretches that are held out, found and drawn as in the simulator's stretches.py.

const EVERY = 5; // one in this many samples of a class is held out, in whole stretches
const DRAWS = 5; // at most
const ENOUGH = 20; // stretches held out by all draws together, after which there is no further draw
const LATEST = 20_000; // samples at the end of a stream
const IN_RUNS = 4; // runs are this many times as long as in random order
const FLICKER = 3; // samples of a run, at least

/** The number of samples of each class in a stretch. */
export type Stretch = readonly number[];

/** Places of samples that are learned, and of samples that are predicted afterwards. */
export interface Split {
  readonly learned: readonly number[];
  readonly asked: readonly number[];
}

/** Return the places of the stretches that each draw holds out; none if each class has only one. */
export function draws(stretches: readonly Stretch[]): number[][] {
  const taken = stretches.map(() => 0);
  const heldOut: number[][] = [];
  while (heldOut.length < DRAWS && heldOut.flat().length < ENOUGH) {
    const drawn = mixed(heldOut.length);
    const chance = stretches.map((_, k) => mixed(drawn + k));
    const order = [...stretches.keys()].sort(
      (a, b) => taken[a]! - taken[b]! || chance[a]! - chance[b]! || a - b,
    );
    const chosen = drawnOf(stretches, order);
    if (!chosen.length) break;
    for (const k of chosen) taken[k]!++;
    heldOut.push(chosen);
  }
  return heldOut;
}

/** Return the stretches of a draw, tried in that order: a fifth of each class, and at least one is left. */
function drawnOf(stretches: readonly Stretch[], order: readonly number[]): number[] {
  const left = stretchesOf(stretches);
  const able = left.map((n) => n > 1);
  const got = left.map(() => 0);
  const wanted = left.map((_, c) => stretches.reduce((sum, stretch) => sum + stretch[c]!, 0) / EVERY);
  return order.filter((k) => {
    const samples = stretches[k]!;
    const classes = [...left.keys()].filter((c) => able[c] && samples[c]);
    if (!classes.some((c) => got[c]! < wanted[c]!) || classes.some((c) => left[c]! < 2)) return false;
    samples.forEach((n, c) => (got[c]! += n));
    for (const c of classes) left[c]!--;
    return true;
  });
}

/** Return how many stretches each class has. */
function stretchesOf(stretches: readonly Stretch[]): number[] {
  return stretches[0]!.map((_, c) => stretches.filter((stretch) => stretch[c]).length);
}

/** Return each draw's split of a stream's last samples, and where these begin; `now` predicts the
 * last stretches. */
export function splits(
  all: Uint8Array,
  classes: number,
): { from: number; byDraw: Split[]; now: Split[] } {
  const from = Math.max(all.length - LATEST, 0);
  const labels = all.subarray(from);
  const { of, stretches, gap } = find(labels, classes);
  const single = stretchesOf(stretches);
  const byDraw = draws(stretches).map((chosen) => {
    const asked = of.map((k) => chosen.includes(k));
    const held = [...asked]; // and the ends of classes that have only one stretch
    const left = [...asked];
    single.forEach((n, c) => {
      if (n !== 1) return;
      const places = [...of.keys()].filter((i) => labels[i] === c && stretches[of[i]!]![c]);
      const end = Math.floor(places.length / EVERY);
      const isAsked = places.some((i) => asked[i]);
      for (const i of places.slice(places.length - end)) held[i] ||= !isAsked;
      for (const i of places.slice(places.length - end - (end >> 2))) left[i] = true;
    });
    const isNear = (i: number): boolean => held.slice(Math.max(i - gap, 0), i + gap + 1).includes(true);
    return splitOf(labels, [...of.keys()].filter((i) => !left[i] && !isNear(i)), (i) => asked[i]!);
  });
  const begin = lastOf(of, stretches);
  const now = splitOf(labels, [...of.keys()].slice(0, Math.max(begin - gap, 0)), (i) => i >= begin);
  const several = new Set(labels.subarray(begin)).size > 1;
  return { from, byDraw, now: several && now.learned.length ? [now] : [] };
}

/** Return a split that predicts only samples of learned classes. */
function splitOf(labels: Uint8Array, learned: number[], isAsked: (i: number) => boolean): Split {
  const known = new Set(learned.map((i) => labels[i]!));
  return { learned, asked: [...labels.keys()].filter((i) => isAsked(i) && known.has(labels[i]!)) };
}

/** Return where the last stretches begin: a fifth of the samples, or up to two fifths, so that each
 * class of several stretches is among them. */
function lastOf(of: readonly number[], stretches: readonly Stretch[]): number {
  const n = of.length;
  const has = stretchesOf(stretches);
  let begin = n;
  for (let k = stretches.length - 1; k >= 0; k--) {
    const start = of.indexOf(k);
    const all = has.every((m, c) => m < 2 || stretches.slice(k + 1).some((stretch) => stretch[c]));
    const much = EVERY * (n - start) > 2 * n;
    if (EVERY * (n - begin) >= n && (much || all)) break;
    begin = start;
  }
  return begin;
}

/** Return each sample's stretch, the samples of each stretch, and how many next to a stretch are too near. */
function find(labels: Uint8Array, classes: number): { of: number[]; stretches: number[][]; gap: number } {
  const n = labels.length;
  const counts = Array<number>(classes).fill(0);
  const runs = Array<number>(classes).fill(0);
  const starts: number[] = [];
  labels.forEach((label, i) => {
    counts[label]!++;
    if (label === labels[i - 1]) return;
    runs[label]!++;
    starts.push(i);
  });
  const alike = counts.reduce((sum, count) => sum + (count / n) ** 2, 0);
  const inRuns = starts.length > 1 && (n / starts.length) * (1 - alike) >= IN_RUNS;
  let of: number[];
  if (inRuns) {
    of = [];
    let [stretch, last] = [-1, -1];
    starts.forEach((start, i) => {
      const [label, end] = [labels[start]!, starts[i + 1] ?? n];
      const long = Math.max(FLICKER, counts[label]! / runs[label]! / 10);
      if (end - start >= long && label !== last) [stretch, last] = [stretch + 1, label];
      while (of.length < end) of.push(Math.max(stretch, 0));
    });
  } else {
    const length = Math.max(Math.floor(n / 100), Math.min(50, Math.floor(n / 10)), 1);
    const blocks = Math.floor(n / length);
    of = Array.from(labels, (_, i) => Math.floor((i * blocks) / n));
  }
  const stretches = Array.from({ length: of.at(-1)! + 1 }, () => counts.map(() => 0));
  of.forEach((k, i) => stretches[k]![labels[i]!]!++);
  if (!inRuns) return { of, stretches, gap: Math.max(...stretches.map(total)) >> 2 };
  // a run belongs to its most frequent class, despite flicker
  const mostFrequent = stretches.map((all) => all.indexOf(Math.max(...all)));
  return { of, stretches: stretches.map((all, k) => all.map((m, c) => (c === mostFrequent[k] ? m : 0))), gap: 0 };
}

function total(numbers: readonly number[]): number {
  return numbers.reduce((sum, n) => sum + n, 0);
}

/** Return a hash of 32 bits that looks random. */
function mixed(number: number): number {
  let hash = number >>> 0;
  for (const [shift, factor] of [[16, 0x7feb352d], [15, 0x846ca68b]] as const)
    hash = Math.imul(hash ^ (hash >>> shift), factor) >>> 0;
  return (hash ^ (hash >>> 16)) >>> 0;
}
