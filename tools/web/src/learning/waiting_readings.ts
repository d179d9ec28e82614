// Readings that wait until samples are made of them, each with what it was taken for.

import type { Engine } from "./engine";
import type { Question } from "./exam";
import { joined, pieces, type Recording } from "./recording";

/** What a reading is taken for, as it was at that moment. */
export interface Aim {
  readonly into: Recording | null;
  readonly question: Question | null;
}
/** A reading; null: some are missing here. */
type Came = { readonly bytes: Uint8Array; readonly aim: Aim } | null;

export class WaitingReadings {
  private readonly came: Came[] = [];

  /** `put` is given each sample, of so many features, and what its last reading was taken for. */
  constructor(
    private readonly engine: Engine,
    private readonly features: number,
    private readonly put: (row: Int32Array, aim: Aim) => void,
  ) {}

  /** None waits. */
  get areMade(): boolean {
    return !this.came.length;
  }

  take(bytes: Uint8Array, aim: Aim): void {
    this.came.push({ bytes, aim });
  }

  /** No sample is made across it. */
  leaveGap(): void {
    this.came.push(null);
  }

  /** Make samples of all that wait. */
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
