// An exam: each class is shown once more, nobody tells its label, and it is counted what was right.

const READY = 100; // readings in which a person begins, and a window comes to hold nothing else
const COUNTED = 100; // readings after that

export interface Question {
  readonly label: number;
  readonly counts: boolean; // not while the person begins
}

/** How many samples of each class were asked for, and how many answers were right. */
export class Exam {
  readonly asked: number[];
  readonly right: number[];
  private at = 0;

  constructor(private readonly classes: number) {
    this.asked = Array<number>(classes).fill(0);
    this.right = Array<number>(classes).fill(0);
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
    if (!counts) return;
    this.asked[label]!++;
    if (predicted === label) this.right[label]!++;
  }

  /** Millionths that are right of the samples of each class, and their mean. */
  get result(): { readonly classes: readonly number[]; readonly balanced: number } {
    const classes = this.asked.map((asked, c) => (1e6 * this.right[c]!) / Math.max(asked, 1));
    return { classes, balanced: classes.reduce((sum, each) => sum + each, 0) / this.classes };
  }
}
