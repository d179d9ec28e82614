// Learning from a sensor, sample by sample: what a board with that sensor and label buttons does.

import type { Model } from "../model";
import type { Learner, Parameters } from "../page_data";
import { readingBytes, type Sensor } from "../sensors";
import { Engine } from "./engine";
import type { Status } from "./messages";

const RATE = 50; // readings a second
const WINDOW = 32; // readings of a sample
const HOP = 8; // readings from one sample to the next
const STATISTICS = ["mean", "deviation", "minimum", "maximum", "crossings", "energy"];

/** What is told after each sample. */
export interface Heard {
  readonly predicted: number | null; // null before the first label
  readonly confidence: number;
  readonly learned: number; // samples so far
  readonly waiting: number; // samples with a label that are still to be learned
  readonly accuracy: number | null; // millionths
}

/** A label, as it was when the reading or the last reading of the sample was taken. */
type Label = number | null;
interface Reading {
  readonly bytes: Uint8Array;
  readonly label: Label;
}
interface Sample {
  readonly row: Int32Array;
  readonly label: number;
}

export class Gestures {
  /** The class that a reading has that is taken now; null: its sample is only predicted. */
  label: Label = null;
  readonly featureNames: readonly string[];
  private readonly readings: Reading[] = []; // that no sample was made of yet
  private readonly samples: Sample[] = []; // that had a label
  private newest: Int32Array | null = null; // the sample without a label to be predicted
  private learned = 0; // of the samples
  private status: Status | null = null;
  private timer = 0;
  private working: Promise<void> | null = null; // while something waits

  private constructor(
    private readonly engine: Engine,
    private readonly sensor: Sensor,
    private readonly learner: Learner,
    private readonly parameters: Parameters,
    private readonly classNames: readonly string[],
  ) {
    this.featureNames = namesOf(sensor);
  }

  static async start(
    learner: Learner,
    options: Parameters,
    sensor: Sensor,
    classNames: readonly string[],
  ): Promise<Gestures> {
    const shape = { features: namesOf(sensor).length, classes: classNames.length };
    const parameters = { ...shape, ...options };
    const engine = await Engine.start(learner.kind, parameters);
    await engine.window(sensor.axes.length, WINDOW, HOP);
    return new Gestures(engine, sensor, learner, parameters, classNames);
  }

  /** Read the sensor from now on, and tell of each sample. */
  run(heard: (what: Heard) => void, failed: (error: unknown) => void): void {
    this.timer = window.setInterval(() => {
      this.readings.push({ bytes: readingBytes(this.sensor.read()), label: this.label });
      this.working ??= this.work(heard)
        .catch(failed)
        .finally(() => (this.working = null));
    }, 1000 / RATE);
  }

  /** Read no more, and learn what waits. */
  async finish(): Promise<void> {
    this.stop();
    await this.working;
  }

  /** Forget all. */
  end(): void {
    this.stop();
    this.engine.stop();
  }

  /** The samples that had a label, as the simulator reads them. */
  csv(): string {
    const head = [...this.featureNames, "class"].map(cell).join(",");
    const name = (label: number): string => cell(this.classNames[label]!);
    const lines = this.samples.map(({ row, label }) => [...row, name(label)].join(","));
    return [head, ...lines, ""].join("\n");
  }

  /** The model as it is; null before there is one. */
  async model(): Promise<Model | null> {
    if (!this.status) return null;
    const { samples, accuracy, state_crc32 } = this.status;
    const { learner, parameters, featureNames, classNames } = this;
    const units = featureNames.map(() => ({ offset: 0, digits: 0 }));
    const saved = await this.engine.saved();
    const told = { learner, parameters, featureNames, classNames, units, saved };
    return { ...told, stream: "gestures.csv", samples, accuracy, crc32: state_crc32 };
  }

  private stop(): void {
    clearInterval(this.timer);
    this.sensor.stop();
  }

  /** Do what waits. What was taught comes before the answer, and the answer is of the newest. */
  private async work(heard: (what: Heard) => void): Promise<void> {
    for (;;) {
      await this.makeSamples();
      if (this.learned < this.samples.length) heard(await this.learn(this.samples[this.learned]!));
      else if (this.newest) heard(await this.predict(this.newest));
      else if (!this.readings.length) return;
    }
  }

  /** Make samples of the readings that wait; a sample has the label of its last reading. */
  private async makeSamples(): Promise<void> {
    while (this.readings.length) {
      const { label } = this.readings[0]!;
      const other = this.readings.findIndex((reading) => reading.label !== label);
      const alike = this.readings.splice(0, other < 0 ? this.readings.length : other);
      const made = await this.engine.samplesOf(joined(alike.map(({ bytes }) => bytes)));
      for (let at = 0; at < made.length; at += this.featureNames.length) {
        const row = made.slice(at, at + this.featureNames.length);
        this.newest = label === null ? row : null;
        if (label !== null) this.samples.push({ row, label });
      }
    }
  }

  private async learn({ row, label }: Sample): Promise<Heard> {
    this.status = await this.engine.learn(row, Uint8Array.of(label));
    this.learned++;
    return this.told(this.status.predictions.at(-1)!, this.status.confidence);
  }

  private async predict(row: Int32Array): Promise<Heard> {
    this.newest = null;
    if (!this.status) return this.told(null, 0);
    const { predicted, confidence } = await this.engine.predict(row);
    return this.told(predicted, confidence);
  }

  private told(predicted: number | null, confidence: number): Heard {
    const waiting = this.samples.length - this.learned;
    const accuracy = this.status?.accuracy ?? null;
    return { predicted, confidence, learned: this.learned, waiting, accuracy };
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function namesOf(sensor: Sensor): string[] {
  return sensor.axes.flatMap((axis) => STATISTICS.map((name) => `${axis} ${name}`));
}

function cell(text: string): string {
  return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
