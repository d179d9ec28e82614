// Runs a whole stream through a learner, block by block, until the page stops it.

import type { Learner, Parameters } from "../page_data";
import { WARMUP, type Stream } from "../streams/stream";
import { Engine } from "./engine";
import type { Status } from "./messages";

const FRAME = 80; // milliseconds that a block should take
const MOST = 256; // samples of a block
export const RECENT = 200; // samples

/** The result of a step of the run. */
export interface Step {
  readonly status: Status;
  readonly drifts: readonly number[]; // samples of the stream
  readonly rate: number; // samples a second
  readonly recent: number; // millionths right of the last RECENT samples
  readonly predicted: number; // prediction for the newest sample
  readonly label: number;
}

/** Return the parameters of a learner of the stream: its options, and the stream's own. */
export function parametersOf(learner: Learner, stream: Stream, options: Parameters): Parameters {
  const shape = { features: stream.featureNames.length, classes: stream.classNames.length };
  const given: Parameters = learner.asks_two_valued ? { two_valued: stream.twoValued } : {};
  return { ...shape, ...given, ...options };
}

/** Let the quantizer see the first samples, then predict and learn all. */
export async function* learnStream(engine: Engine, stream: Stream): AsyncGenerator<Step> {
  const features = stream.featureNames.length;
  const rows = (from: number, to: number): Int32Array =>
    stream.rows.slice(from * features, to * features);
  await engine.observe(rows(0, WARMUP));
  const begin = performance.now();
  const right: boolean[] = []; // whether the last samples were right
  let size = 1;
  for (let at = 0; at < stream.labels.length; ) {
    const end = Math.min(at + size, stream.labels.length);
    const before = performance.now();
    const status = await engine.learn(rows(at, end), stream.labels.slice(at, end));
    const now = performance.now();
    const drifts = status.drifts.map((place) => place + at + 1);
    status.predictions.forEach((prediction, i) => right.push(prediction === stream.labels[at + i]));
    right.splice(0, right.length - RECENT);
    const recent = (1e6 * right.filter(Boolean).length) / right.length;
    const predicted = status.predictions.at(-1)!;
    const rate = Math.round((1000 * end) / (now - begin));
    yield { status, drifts, rate, recent, predicted, label: stream.labels[end - 1]! };
    size = Math.min(MOST, Math.max(1, Math.round((FRAME * (end - at)) / (now - before))));
    at = end;
  }
}
