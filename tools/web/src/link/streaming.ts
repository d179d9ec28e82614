// A board learns a stream over its line, each sample once and in order: the page waits for a lost
// line, and a board that was reset continues from its checkpoint.

import type { Stream } from "../streams/stream";
import { texts } from "../texts";
import type { BoardLink } from "./board_link";

const AHEAD = 16; // pending requests
const RESETS = 10; // resets of the board in a row, without a learned sample

export class Streaming {
  private confirmed = 0; // samples of the stream that the board has learned
  private before = 0; // samples that the board had learned earlier

  /** `progressed` is called with the confirmed samples. */
  constructor(
    private readonly board: BoardLink,
    private readonly stream: Stream,
    private readonly progressed: (confirmed: number) => void,
  ) {}

  /** Stream all samples; resolve with the CRC32 of the board's state. */
  async run(): Promise<number> {
    checkStream(this.stream, this.board);
    let fruitless = 0;
    for (let isFirst = true; ; isFirst = false) {
      const begin = this.confirmed;
      try {
        await this.begin(isFirst);
        await this.send();
        return await this.board.fingerprint();
      } catch (error) {
        await this.board.again(error);
        checkStream(this.stream, this.board);
        fruitless = this.confirmed > begin ? 0 : fruitless + 1;
        if (fruitless > RESETS) throw new Error(texts.watch.resets);
      }
    }
  }

  /** Find the sample to continue with, and run the warm-up if the board has not finished it. */
  private async begin(isFirst: boolean): Promise<void> {
    const { samples } = await this.board.status();
    if (isFirst) this.before = samples;
    const place = samples - this.before;
    if (place < 0 || place > this.confirmed + AHEAD) throw new Error(texts.watch.forgot);
    this.confirmed = place;
    if (samples === 0) await this.showRanges();
  }

  private async showRanges(): Promise<void> {
    const { quantizer, warmup } = this.board.configuration;
    if (quantizer || !warmup) return;
    await this.board.forget(); // an interrupted warm-up starts again
    const few = Math.min(warmup, this.stream.labels.length);
    await inOrder(0, few, (at) => this.board.show(this.row(at)));
  }

  private async send(): Promise<void> {
    const { labels } = this.stream;
    await inOrder(this.confirmed, labels.length, async (at) => {
      await this.board.learn(this.row(at), labels[at]!);
      this.progressed(++this.confirmed);
    });
  }

  private row(at: number): Int32Array {
    const features = this.stream.featureNames.length;
    return this.stream.rows.slice(at * features, (at + 1) * features);
  }
}

/** Send the requests begin..end-1, some of them pending at a time. */
async function inOrder(
  begin: number,
  end: number,
  ask: (at: number) => Promise<unknown>,
): Promise<void> {
  const waiting: Promise<unknown>[] = [];
  try {
    for (let at = begin; at < end; at++) {
      waiting.push(ask(at));
      if (waiting.length > AHEAD) await waiting.shift();
    }
    await Promise.all(waiting);
  } finally {
    await Promise.allSettled(waiting);
  }
}

/** Throw an Error if the board's program is not for samples like these. */
function checkStream(stream: Stream, board: BoardLink): void {
  const { class_names: classes, units } = board.configuration;
  const same =
    stream.featureNames.length === board.welcome.features &&
    stream.classNames.join("\n") === classes.join("\n") &&
    (units ?? []).every(([offset, digits], i) => {
      const unit = stream.units[i];
      return unit?.offset === offset && unit.digits === digits;
    });
  if (!same) throw new Error(texts.watch.otherStream);
}
