// Windows over a sensor's readings, of which samples are made, as a board makes them.

export const RATE = 50; // readings a second
export const WINDOW = 32; // readings of a sample
export const HOP = 8; // readings from one sample to the next
const STATISTICS = ["mean", "deviation", "min", "max", "crossings", "energy"];

/** What samples are made of, as a model's file and a board's config.json say it. */
export interface Extraction {
  readonly channels: readonly string[];
  readonly rate: number;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The features of readings of those axes. */
export function featureNames(axes: readonly string[]): string[] {
  return axes.flatMap((axis) => STATISTICS.map((name) => `${axis}_${name}`));
}

export function extractionOf(axes: readonly string[]): Extraction {
  const zero = axes.map(() => 0);
  const made = { window: WINDOW, hop: HOP, zero, filters: [] };
  const options = { ...made, statistics: [...STATISTICS.keys()], bands: [], plain: [] };
  return { channels: axes, rate: RATE, options };
}
