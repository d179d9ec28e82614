// The accuracy on unseen stretches: draws hold some stretches out, and a learner of the others
// predicts them, as in the simulator. Predictions on a recording that is just being taught say
// little, as repeating the last label is nearly always right there.

import { WARMUP, type Stream } from "../streams/stream";
import type { Engine } from "./engine";
import { draws, splits, type Split } from "./holdout";
import type { Recording } from "./recording";
import { HOPS } from "./windows";

const BLOCK = 64; // samples learned at once
const [TRIED, GLANCE, LEAST, MOST] = [40, 4, 200, 4000]; // rows that show the speed, seconds, rows of a sample
const BLOCKS = 20; // blocks in a sample of a stream
const MIXED = HOPS - 1; // samples at a recording's start with earlier readings

/** Predictions on unseen stretches, of all draws together. */
export interface Figures {
  readonly draws: number;
  readonly counts: readonly number[]; // [label * classes + predicted]
  readonly samples: number;
  readonly right: number;
  readonly guessed: number; // samples that the most frequent learned class gets right
}

/** The state of the measurement of the accuracy on unseen stretches. */
export type Standing =
  | { readonly state: "nothing" } // fewer than two classes were taught
  | { readonly state: "more"; readonly classes: readonly number[] } // classes that need another recording
  | { readonly state: "later" } // when teaching stops
  | { readonly state: "checking" }
  | { readonly state: "failed"; readonly why: string }
  | { readonly state: "known"; readonly figures: Figures };

interface Sample {
  readonly row: Int32Array;
  readonly label: number;
}

/** The samples that a draw learns, and the samples that it predicts afterwards. */
interface Drawn {
  readonly learned: readonly Sample[];
  readonly asked: readonly Sample[];
}

export class Unseen {
  private result: Standing | null = null;
  private run = 0; // the newest run; earlier ones were given up

  /** `classes` returns the number of classes; `start` makes a fresh learner; `changed` is called when the standing changes. */
  constructor(
    private readonly classes: () => number,
    private readonly start: () => Promise<Engine>,
    private readonly changed: () => void,
  ) {}

  /** Drop the result, as the lesson has changed. */
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

  /** Measure the accuracy, if these recordings allow it and it is not yet known. */
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

  /** Return the figures; null if the run was given up. */
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

/** Return the figures on a stream's stretches, and on its last ones; null if the run was given up. */
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

/** Return the figures of one draw on a sample of a long stream's rows, as many as take some seconds; null if the run was given up. */
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

/** Return the places of `rows` rows, in blocks that are spread over n rows. */
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

/** Return the figures of fresh learners, one after another. */
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

/** Return a fresh learner's predictions after it has learned other samples; null if the run was given up. */
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

/** Return a class's recordings with samples that have no earlier readings. */
function whole(recordings: readonly Recording[], label: number): Recording[] {
  return recordings.filter((each) => each.label === label && each.rows.length > MIXED);
}

/** Return the recordings that each draw holds out, from those with samples that have no earlier readings. */
function heldOut(recordings: readonly Recording[]): Recording[][] {
  const able = recordings.filter(({ rows }) => rows.length > MIXED);
  const classes = Math.max(0, ...able.map(({ label }) => label + 1));
  const stretches = able.map(({ label, rows }) =>
    Array.from({ length: classes }, (_, c) => (c === label ? rows.length : 0)),
  );
  return draws(stretches).map((places) => places.map((k) => able[k]!));
}

/** Return the recordings without a part: no sample has readings of that part. */
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
