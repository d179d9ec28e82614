// An exam: each class is shown once more, without a label, and right predictions are counted.

import { rowsOf, sum } from "./mistakes";

const READY = 100; // readings until a person has begun, and a window has readings of that class only
const COUNTED = 100; // readings that count, after those

export interface Question {
  readonly label: number;
  readonly counts: boolean; // false while the person begins
}

/** The counts of predictions for the samples of each class. */
export class Exam {
  readonly counts: number[]; // [label * classes + predicted]
  private at = 0;

  constructor(private readonly classes: number) {
    this.counts = Array<number>(classes ** 2).fill(0);
  }

  /** The class to show now. */
  get label(): number {
    return Math.min(Math.floor(this.at / (READY + COUNTED)), this.classes - 1);
  }

  get isOver(): boolean {
    return this.at >= this.classes * (READY + COUNTED);
  }

  /** Return the question for the next reading. */
  next(): Question {
    const counts = this.at % (READY + COUNTED) >= READY;
    const question = { label: this.label, counts };
    this.at++;
    return question;
  }

  answer({ label, counts }: Question, predicted: number): void {
    if (counts) this.counts[label * this.classes + predicted]!++;
  }

  /** The mean of the classes' shares of right predictions, in millionths. */
  get balanced(): number {
    const { counts, classes } = this;
    const shares = rowsOf(counts).map((row, c) => row[c]! / Math.max(sum(row), 1));
    return (1e6 * sum(shares)) / classes;
  }
}
