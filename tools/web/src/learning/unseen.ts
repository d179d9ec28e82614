// How well it does on stretches that it has not learned: draws hold some out, which are predicted
// by a learner of the others, as the simulator does it. What a learner predicts of a recording that
// it is just being taught says little: whoever repeats the last label is right there nearly always.

import { WARMUP, type Stream } from "../streams/stream";
import type { Engine } from "./engine";
import { draws, splits, type Split } from "./holdout";
import type { Recording } from "./recording";
import { HOPS } from "./windows";

const BLOCK = 64; // samples that are learned at once
const [TRIED, GLANCE, LEAST, MOST] = [40, 4, 200, 4000]; // rows that tell how fast it is, seconds, rows of a sample
const BLOCKS = 20; // of a sample of a stream
const MIXED = HOPS - 1; // samples at a recording's begin hold readings from before it

/** Predictions of stretches that were not learned, of all draws together. */
export interface Figures {
  readonly draws: number;
  readonly counts: readonly number[]; // [label * classes + predicted]
  readonly samples: number;
  readonly right: number;
  readonly guessed: number; // samples that the most frequent class of what was learned gets right
}

/** What can be said of how well it does. */
export type Standing =
  | { readonly state: "nothing" } // fewer than two classes were taught
  | { readonly state: "more"; readonly classes: readonly number[] } // that need another recording
  | { readonly state: "later" } // once nothing is taught any more
  | { readonly state: "checking" }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "known"; readonly figures: Figures };

interface Sample {
  readonly row: Int32Array;
  readonly label: number;
}

/** What a draw learns, and what it asks about then. */
interface Drawn {
  readonly learned: readonly Sample[];
  readonly asked: readonly Sample[];
}

export class Unseen {
  private result: Standing | null = null;
  private run = 0; // the newest one; those before were given up

  /** Of so many classes; `start` makes a learner that knows nothing; `changed` is called when the standing is another one. */
  constructor(
    private readonly classes: () => number,
    private readonly start: () => Promise<Engine>,
    private readonly changed: () => void,
  ) {}

  /** What was taught has changed. */
  forget(): void {
    this.result = null;
    this.run++;
  }

  standing(recordings: readonly Recording[]): Standing {
    const taught = recordings.filter(({ rows }) => rows.length).map(({ label }) => label);
    const classes = [...new Set(taught)].sort((a, b) => a - b);
    if (classes.length < 2) return { state: "nothing" };
    const lacking = classes.filter((label) => whole(recordings, label).length < 2);
    if (lacking.length) return { state: "more", classes: lacking };
    return this.result ?? { state: "later" };
  }

  /** Find out, if it can be told of these recordings and is not yet known. */
  check(recordings: readonly Recording[]): void {
    if (this.standing(recordings).state !== "later") return;
    const run = ++this.run;
    this.conclude(run, { state: "checking" });
    this.measure(recordings.slice(), run)
      .then((figures) => figures && this.conclude(run, { state: "known", figures }))
      .catch((error: unknown) => {
        const why = error instanceof Error ? error.message : String(error);
        this.conclude(run, { state: "failed", why });
      });
  }

  private conclude(run: number, standing: Standing): void {
    if (run !== this.run) return;
    this.result = standing;
    this.changed();
  }

  /** Null if it was given up. */
  private async measure(recordings: readonly Recording[], run: number): Promise<Figures | null> {
    const drawn = heldOut(recordings).map((part) => ({
      learned: samplesOf(learnedWithout(recordings, part)),
      asked: samplesOf(part.map(({ label, rows }) => ({ label, rows: rows.slice(MIXED) }))),
    }));
    const classes = this.classes();
    const engine = await this.start();
    try {
      return await figuresOf(engine, classes, drawn, () => run === this.run);
    } finally {
      engine.stop();
    }
  }
}

/** Those of a stream's stretches, and of its last ones; null if it was given up. */
export async function unseenOf(
  engine: Engine,
  stream: Stream,
  goesOn: () => boolean,
): Promise<readonly Figures[] | null> {
  const classes = stream.classNames.length;
  const { from, byDraw, now } = splits(stream.labels, classes);
  const figures: Figures[] = [];
  for (const part of [byDraw, now]) {
    const drawn = drawnOf(part, (place) => sampleOf(stream, from + place));
    const all = await figuresOf(engine, classes, drawn, goesOn);
    if (!all) return null;
    figures.push(all);
  }
  return figures;
}

/** Of one draw of a sample of a long stream's rows, as many as are learned in some seconds; null if it was given up. */
export async function glanceAt(
  engine: Engine,
  stream: Stream,
  goesOn: () => boolean,
): Promise<{ readonly figures: Figures; readonly rows: number } | null> {
  const classes = stream.classNames.length;
  const first = [...Array(Math.min(TRIED, stream.labels.length)).keys()].map((i) => sampleOf(stream, i));
  const begin = performance.now();
  if (!(await answers(engine, first, first.slice(0, 1), goesOn))) return null;
  const rate = (1000 * first.length) / (performance.now() - begin);
  const places = spread(stream.labels.length, Math.round(Math.min(Math.max(rate * GLANCE, LEAST), MOST)));
  const labels = Uint8Array.from(places, (place) => stream.labels[place]!);
  const { from, byDraw } = splits(labels, classes);
  const drawn = drawnOf(byDraw.slice(0, 1), (place) => sampleOf(stream, places[from + place]!));
  const figures = await figuresOf(engine, classes, drawn, goesOn);
  return figures && { figures, rows: places.length };
}

/** Places of so many rows in blocks, which stand all over n rows. */
function spread(n: number, rows: number): number[] {
  const size = Math.floor(rows / BLOCKS);
  const blocks = [...Array(BLOCKS).keys()].map((k) => Math.floor((k * (n - size)) / (BLOCKS - 1)));
  return blocks.flatMap((begin) => [...Array(size).keys()].map((i) => begin + i));
}

function sampleOf({ rows, labels, featureNames: { length: n } }: Stream, at: number): Sample {
  return { row: rows.subarray(at * n, (at + 1) * n), label: labels[at]! };
}

function drawnOf(splits: readonly Split[], sample: (place: number) => Sample): Drawn[] {
  return splits.map(({ learned, asked }) => ({ learned: learned.map(sample), asked: asked.map(sample) }));
}

/** What fresh learners come to, one after another. */
async function figuresOf(
  engine: Engine,
  classes: number,
  drawn: readonly Drawn[],
  goesOn: () => boolean,
): Promise<Figures | null> {
  const counts = Array<number>(classes ** 2).fill(0);
  let [guessed, right, samples] = [0, 0, 0];
  for (const { learned, asked } of drawn) {
    const predicted = await answers(engine, learned, asked, goesOn);
    if (!predicted) return null;
    const known = Array<number>(classes).fill(0);
    for (const { label } of learned) known[label]!++;
    const guess = known.indexOf(Math.max(...known));
    asked.forEach(({ label }, i) => {
      counts[label * classes + predicted[i]!]!++;
      samples++;
      right += Number(label === predicted[i]);
      guessed += Number(label === guess);
    });
  }
  return { draws: drawn.length, counts, samples, right, guessed };
}

/** What a fresh learner says of some samples once it has learned others; null if it was given up. */
async function answers(
  engine: Engine,
  learned: readonly Sample[],
  asked: readonly Sample[],
  goesOn: () => boolean,
): Promise<Uint8Array | null> {
  await engine.anew();
  await engine.observe(flat(learned.slice(0, WARMUP)));
  for (let at = 0; at < learned.length; at += BLOCK) {
    if (!goesOn()) return null;
    const block = learned.slice(at, at + BLOCK);
    await engine.learn(flat(block), Uint8Array.from(block, ({ label }) => label));
  }
  return goesOn() ? engine.ask(flat(asked)) : null;
}

/** Those of a class that have samples of nothing else. */
function whole(recordings: readonly Recording[], label: number): Recording[] {
  return recordings.filter((each) => each.label === label && each.rows.length > MIXED);
}

/** The recordings that each draw holds out, of those that have samples of nothing else. */
function heldOut(recordings: readonly Recording[]): Recording[][] {
  const able = recordings.filter(({ rows }) => rows.length > MIXED);
  const classes = Math.max(0, ...able.map(({ label }) => label + 1));
  const stretches = able.map(({ label, rows }) =>
    Array.from({ length: classes }, (_, c) => (c === label ? rows.length : 0)),
  );
  return draws(stretches).map((places) => places.map((k) => able[k]!));
}

/** What is learned without that part: no sample that holds readings of it. */
function learnedWithout(
  recordings: readonly Recording[],
  part: readonly Recording[],
): Pick<Recording, "label" | "rows">[] {
  return recordings
    .map((each, i) => ({ each, follows: i > 0 && part.includes(recordings[i - 1]!) }))
    .filter(({ each }) => !part.includes(each))
    .map(({ each: { label, rows }, follows }) => ({ label, rows: follows ? rows.slice(MIXED) : rows }));
}

function samplesOf(recordings: readonly Pick<Recording, "label" | "rows">[]): Sample[] {
  return recordings.flatMap(({ rows, label }) => rows.map((row) => ({ row, label })));
}

function flat(samples: readonly Sample[]): Int32Array {
  const features = samples[0]?.row.length ?? 0;
  const rows = new Int32Array(samples.length * features);
  samples.forEach(({ row }, i) => rows.set(row, i * features));
  return rows;
}
