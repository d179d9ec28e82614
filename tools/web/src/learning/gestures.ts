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
  readonly accuracy: number | null; // millionths
}

export class Gestures {
  /** The class that the samples have now; null: they are only predicted. */
  label: number | null = null;
  readonly featureNames: readonly string[];
  private readonly rows: Int32Array[] = [];
  private readonly labels: number[] = [];
  private status: Status | null = null;
  private timer = 0;
  private busy = false;

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
    const readings: Uint8Array[] = [];
    this.timer = window.setInterval(() => {
      readings.push(readingBytes(this.sensor.read()));
      if (this.busy) return;
      this.busy = true;
      this.take(readings.splice(0), heard)
        .catch(failed)
        .finally(() => (this.busy = false));
    }, 1000 / RATE);
  }

  /** Stop reading; what was learned stays. */
  stop(): void {
    clearInterval(this.timer);
    this.sensor.stop();
  }

  end(): void {
    this.stop();
    this.engine.stop();
  }

  /** The samples that had a label, as the simulator reads them. */
  csv(): string {
    const head = [...this.featureNames, "class"].map(cell).join(",");
    const label = (i: number): string => cell(this.classNames[this.labels[i]!]!);
    const lines = this.rows.map((row, i) => [...row, label(i)].join(","));
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

  private async take(readings: readonly Uint8Array[], heard: (what: Heard) => void): Promise<void> {
    const { label } = this;
    for (const reading of readings) {
      const sample = await this.engine.samplesOf(reading);
      if (sample.length) heard(await this.hear(sample, label));
    }
  }

  private async hear(sample: Int32Array, label: number | null): Promise<Heard> {
    if (label !== null) {
      this.rows.push(sample);
      this.labels.push(label);
    }
    if (label === null) {
      if (!this.status) return this.told(null, 0);
      const { predicted, confidence } = await this.engine.predict(sample);
      return this.told(predicted, confidence);
    }
    this.status = await this.engine.learn(sample, Uint8Array.of(label));
    return this.told(this.status.predictions.at(-1)!, this.status.confidence);
  }

  private told(predicted: number | null, confidence: number): Heard {
    const accuracy = this.status?.accuracy ?? null;
    return { predicted, confidence, learned: this.rows.length, accuracy };
  }
}

function namesOf(sensor: Sensor): string[] {
  return sensor.axes.flatMap((axis) => STATISTICS.map((name) => `${axis} ${name}`));
}

function cell(text: string): string {
  return /[",\n\r]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
