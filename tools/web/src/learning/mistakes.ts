// Confusions between classes, from counts [label * classes + predicted].

const NOTED = 0.1; // share of confused samples of two classes, from which the pair is reported
const PAIRS = 3; // pairs of classes that are reported

/** Two classes, and how many of their samples were predicted as the other. */
export interface Alike {
  readonly pair: readonly [number, number];
  readonly mistaken: number;
  readonly samples: number;
}

/** Return for each class the counts of its samples' predictions. */
export function rowsOf(counts: readonly number[]): number[][] {
  const classes = Math.sqrt(counts.length);
  return Array.from({ length: classes }, (_, label) => counts.slice(label * classes, (label + 1) * classes));
}

/** Return the classes that are mistaken for each other most often. */
export function alike(counts: readonly number[]): Alike[] {
  const rows = rowsOf(counts);
  const pairs = rows.flatMap((row, a) =>
    rows.slice(a + 1).map((other, i): Alike => {
      const b = a + 1 + i;
      return { pair: [a, b], mistaken: row[b]! + other[a]!, samples: sum(row) + sum(other) };
    }),
  );
  return pairs
    .filter(({ mistaken, samples }) => mistaken > NOTED * samples)
    .sort((one, other) => other.mistaken / other.samples - one.mistaken / one.samples)
    .slice(0, PAIRS);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((a, b) => a + b, 0);
}
