// An exam: each class is shown once more, nobody tells its label, and it is counted what was right.

import { rowsOf, sum } from "./mistakes";

const READY = 100; // readings in which a person begins, and a window comes to hold nothing else
const COUNTED = 100; // readings after that

export interface Question {
  readonly label: number;
  readonly counts: boolean; // not while the person begins
}

/** What the samples of each class were taken for. */
export class Exam {
  readonly counts: number[]; // [label * classes + predicted]
  private at = 0;

  constructor(private readonly classes: number) {
    this.counts = Array<number>(classes ** 2).fill(0);
  }

  /** The class that is to be shown now. */
  get label(): number {
    return Math.min(Math.floor(this.at / (READY + COUNTED)), this.classes - 1);
  }

  get isOver(): boolean {
    return this.at >= this.classes * (READY + COUNTED);
  }

  /** What the next reading is to show. */
  next(): Question {
    const counts = this.at % (READY + COUNTED) >= READY;
    const question = { label: this.label, counts };
    this.at++;
    return question;
  }

  answer({ label, counts }: Question, predicted: number): void {
    if (counts) this.counts[label * this.classes + predicted]!++;
  }

  /** The mean of the classes' shares that were right, in millionths. */
  get balanced(): number {
    const { counts, classes } = this;
    const shares = rowsOf(counts).map((row, c) => row[c]! / Math.max(sum(row), 1));
    return (1e6 * sum(shares)) / classes;
  }
}
