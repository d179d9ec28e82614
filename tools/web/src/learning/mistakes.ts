// Which classes are taken for which: of counts, [label * classes + predicted].

const NOTED = 0.1; // share of two classes' samples that are mistaken for each other, from which it is told
const PAIRS = 3; // of classes that are told

/** Two classes, and how many of their samples were taken for the other's. */
export interface Alike {
  readonly pair: readonly [number, number];
  readonly mistaken: number;
  readonly samples: number;
}

/** Of each class, what its samples were taken for. */
export function rowsOf(counts: readonly number[]): number[][] {
  const classes = Math.sqrt(counts.length);
  return Array.from({ length: classes }, (_, label) => counts.slice(label * classes, (label + 1) * classes));
}

/** The classes that are mistaken for each other most often. */
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
