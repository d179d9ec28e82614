// Readings that wait to be made into samples, each with its aim.

import type { Engine } from "./engine";
import type { Question } from "./exam";
import { joined, pieces, type Recording } from "./recording";

/** The aim of a reading at its moment: a recording, a question, or neither. */
export interface Aim {
  readonly into: Recording | null;
  readonly question: Question | null;
}
/** A reading; null: a gap. */
type Came = { readonly bytes: Uint8Array; readonly aim: Aim } | null;

export class WaitingReadings {
  private readonly came: Came[] = [];

  /** `put` gets each sample, of `features` values, and the aim of its last reading. */
  constructor(
    private readonly engine: Engine,
    private readonly features: number,
    private readonly put: (row: Int32Array, aim: Aim) => void,
  ) {}

  /** Whether no reading waits. */
  get areMade(): boolean {
    return !this.came.length;
  }

  take(bytes: Uint8Array, aim: Aim): void {
    this.came.push({ bytes, aim });
  }

  /** Leave a gap, which no sample spans. */
  leaveGap(): void {
    this.came.push(null);
  }

  /** Make samples of all waiting readings. */
  async makeSamples(): Promise<void> {
    while (this.came.length) {
      const first = this.came[0];
      if (!first) {
        this.came.shift();
        await this.engine.restartWindow();
        continue;
      }
      const other = this.came.findIndex((each) => !each || !isSame(each.aim, first.aim));
      const alike = this.came.splice(0, other < 0 ? this.came.length : other);
      const made = await this.engine.samplesOf(joined(alike.map((each) => each!.bytes)));
      for (const row of pieces(made, this.features)) this.put(row, first.aim);
    }
  }
}

function isSame(one: Aim, other: Aim): boolean {
  const [a, b] = [one.question, other.question];
  return one.into === other.into && a?.label === b?.label && a?.counts === b?.counts;
}
