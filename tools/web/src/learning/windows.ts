// Windows over a sensor's readings, of which samples are made as on a board.

import { LIMITS } from "../shared";
import type { SensorSettings } from "../link/sensor_settings";

const SECONDS = 0.64; // seconds of a window, about
const [SHORTEST, LONGEST] = [8, 512]; // readings of a window
export const HOPS = 4; // in a window
const STATISTICS = ["mean", "deviation", "min", "max", "crossings", "energy"];
const XYZ = "xyz";

/** The shape of a sensor's readings. */
export interface Shape {
  readonly axes: readonly string[]; // the names of a reading's values
  readonly rate: number; // readings a second
  readonly zero: readonly number[]; // the zero of each axis
  readonly sensor?: SensorSettings; // the sensor of a board
}

/** How samples are made, as in a model's file and a board's config.json. */
export interface Extraction {
  readonly channels: readonly string[];
  readonly rate: number;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Return the readings of a sample, a power of two: 32 at 50 readings a second. */
export function windowOf(rate: number): number {
  return Math.min(Math.max(2 ** Math.round(Math.log2(SECONDS * rate)), SHORTEST), LONGEST);
}

/** Return the readings from one sample to the next. */
export function hopOf(rate: number): number {
  return windowOf(rate) / HOPS;
}

/** Return the names of the features of such readings. */
export function featureNames({ axes, rate }: Pick<Shape, "axes" | "rate">): string[] {
  const lags = lagsOf(axes, rate).map((lag) => (lag > 1 ? lag : ""));
  const turns = turnsOf(axes).map(([a, b]) => `${axes[a]}_${axes[b]}_turn`);
  return [...namesOfEach(axes), ...turns.flatMap((turn) => lags.map((lag) => turn + lag))];
}

function namesOfEach(axes: readonly string[]): string[] {
  return axes.flatMap((axis) => STATISTICS.map((name) => `${axis}_${name}`));
}

/** Return the pairs of axes whose sense of rotation is a feature, as `--features` chooses them. */
export function turnsOf(axes: readonly string[]): [number, number][] {
  const places = [...axes.keys()];
  const all = places.flatMap((a) => places.slice(a + 1).map((b): [number, number] => [a, b]));
  const pairs = all.filter(([a, b]) => areAxes(axes[a]!.toLowerCase(), axes[b]!.toLowerCase()));
  return pairs.length + namesOfEach(axes).length <= LIMITS.features ? pairs : [];
}

/** Return the lags of turns, in readings, as `--features` chooses them. */
export function lagsOf(axes: readonly string[], rate: number): number[] {
  const window = windowOf(rate);
  const room = LIMITS.features - namesOfEach(axes).length;
  const lags = [1, Math.max(window / 32, 2), Math.max(window / 16, 4)];
  return lags.slice(0, Math.max(Math.floor(room / Math.max(turnsOf(axes).length, 1)), 1));
}

/** Return whether two names are axes of one sensor: alike, except for an x, y or z. */
function areAxes(one: string, other: string): boolean {
  const differ = [...one].flatMap((mark, i) => (mark === other[i] ? [] : [mark + other[i]]));
  return one.length === other.length && new Set(differ).size === 1 && [...differ[0]!].every((mark) => XYZ.includes(mark));
}

export function extractionOf({ axes: channels, rate, zero }: Shape): Extraction {
  const made = { window: windowOf(rate), hop: hopOf(rate), zero, filters: [] };
  const turns = turnsOf(channels);
  const plain = { ...made, statistics: [...STATISTICS.keys()], bands: [], plain: [] };
  const options = turns.length ? { ...plain, turns, lags: lagsOf(channels, rate) } : plain;
  return { channels, rate, options };
}
