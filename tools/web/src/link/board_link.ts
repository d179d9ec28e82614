// The page's requests to a board's program over the link.

import { COUNTS, LINK, UNKNOWN, WORDS } from "../shared";
import { crc32 } from "../zip";
import type { Frame } from "./frames";
import { Link, LinkError, RefusedError, type Carrier, type Welcome } from "./link";
import type { SensorSettings } from "./sensor_settings";

const THIS_IS_NORMAL = 2; // in a request ANOMALY
const HIGH = 2 ** 29; // the weight of a sum's high word
const MOST_CLASSES = 32; // classes up to which a board keeps a confusion matrix

/** The part of config.json that is shown, or that describes the values. */
export interface Configuration {
  readonly class_names: readonly string[]; // none if a number is predicted
  readonly feature_names: readonly string[];
  readonly units: readonly (readonly [number, number])[] | null;
  readonly quantizer?: string | null; // the file of the ranges; without it, a warm-up sets them
  readonly warmup?: number; // samples of the warm-up
  readonly spare_classes?: object | null; // there are classes that get their names on the board
  readonly anomaly?: object | null; // each sample has a score of how unusual it is
  readonly queries?: object | null; // the board queries labels, and learns no others
  readonly regression?: { readonly column: number }; // the value of a sample that is predicted
  readonly sensor?: SensorSettings; // missing in a program that is too old
  readonly extraction?: object | null; // samples are made of windows of readings
}

/** The words of an answer by their names, which tools/microshrub_tools/link/messages.py explains. */
type Answer<Name extends keyof typeof WORDS> = Readonly<Record<(typeof WORDS)[Name][number], number>>;
export type DeviceStatus = Answer<"DeviceStatus">;
export type AnomalyStatus = Answer<"AnomalyStatus">;
export type Query = Answer<"Query">;
/** The errors, with mean absolute errors of the predictions and of the last known targets. */
export type RegressionErrors = Answer<"RegressionErrors"> & { readonly mae: number; readonly nochange: number };

/** A sample of the board's own sensor; label is null if unknown. */
export interface Observation {
  readonly number: number; // 1 is the first of a session; 0 follows 65535
  readonly id: number;
  readonly predicted: number;
  readonly confidence: number;
  readonly label: number | null;
  readonly values: Int32Array;
}

export class BoardLink {
  /** Called with the reason when the line is lost, and with null when it is back. */
  interrupted: (why: string | null) => void = () => undefined;
  /** Called with each observation. */
  observed: (observation: Observation) => void = () => undefined;
  private link!: Link;
  private loaded!: Configuration;
  private begun!: Welcome;
  private opening: Promise<void> | null = null;

  private constructor(private readonly port: Carrier) {}

  static async open(port: Carrier): Promise<BoardLink> {
    const board = new BoardLink(port);
    await board.begin();
    return board;
  }

  get welcome(): Welcome {
    return this.begun;
  }

  get configuration(): Configuration {
    return this.loaded;
  }

  /** The place of the value that the board predicts; null if it predicts classes. */
  get target(): number | null {
    return this.begun.classes === 1 ? (this.loaded.regression?.column ?? null) : null;
  }

  /** Begin a session with a board that was reset. Rejects with any other error. */
  async again(error: unknown): Promise<void> {
    if (!(error instanceof LinkError) || error.code !== "reset") throw error;
    if (this.link.ended?.code === "reset") this.opening ??= this.begin();
    await this.opening;
  }

  private async begin(): Promise<void> {
    try {
      [this.link, this.begun] = await Link.open(this.port, (why) => this.interrupted(why));
      this.link.observed = (frame) => this.observed(observationOf(frame));
      this.loaded = await configurationOf(this.link, this.begun);
    } finally {
      this.opening = null;
    }
  }

  async status(): Promise<DeviceStatus> {
    return answer("DeviceStatus", await this.link.request(LINK.STATUS));
  }

  /** Read the counts [label * classes + prediction]; empty with too many classes. */
  async confusion(): Promise<number[]> {
    const { classes } = this.welcome;
    const counts: number[] = [];
    for (let label = 0; label < classes && classes <= MOST_CLASSES; label++) {
      for (let first = 0; first < classes; first += COUNTS) {
        const { payload } = await this.link.request(LINK.CONFUSION, Uint8Array.of(label, first));
        counts.push(...words(payload, 0));
      }
    }
    return counts;
  }

  /** Read the errors of the numbers that the board predicts. */
  async errors(): Promise<RegressionErrors> {
    const errors = answer("RegressionErrors", await this.link.request(LINK.REGRESSION, Uint8Array.of(0)));
    const mean = (high: number, low: number): number => (HIGH * high + low) / Math.max(errors.scored, 1);
    const nochange = mean(errors.nochange_high, errors.nochange_low);
    return { ...errors, mae: mean(errors.high, errors.low), nochange };
  }

  /** Read the anomaly score of the last sample. Predictions go on without scores. */
  async anomaly(): Promise<AnomalyStatus> {
    return answer("AnomalyStatus", await this.link.request(LINK.ANOMALY, Uint8Array.of(0)));
  }

  /** Mark the present as normal; return how many samples will show it, undefined if the board cannot learn it. */
  async thisIsNormal(): Promise<number | undefined> {
    const { payload } = await this.link.request(LINK.ANOMALY, Uint8Array.of(THIS_IS_NORMAL));
    return words(payload, 0)[3];
  }

  /** Read the board's newest query, if it has a label budget. */
  async query(): Promise<Query> {
    return answer("Query", await this.link.request(LINK.QUERIES));
  }

  /** Return the board's answer to a payload of request 15; see classes.ts. */
  async about(payload: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    return (await this.link.request(LINK.CLASSES, payload)).payload;
  }

  /** Read the CRC32 of the learner's state. */
  async fingerprint(): Promise<number> {
    const { payload } = await this.link.request(LINK.FINGERPRINT);
    return new DataView(payload.buffer).getUint32(0, true);
  }

  /** Have the board forget what it has learned. */
  async forget(): Promise<void> {
    await this.link.request(LINK.RESET);
  }

  /** Show the board a sample without a label. */
  async show(values: Int32Array): Promise<void> {
    const payload = new Uint8Array(4 * values.length);
    const view = new DataView(payload.buffer);
    values.forEach((value, i) => view.setInt32(4 * i, value, true));
    await this.link.request(LINK.SAMPLE, payload);
  }

  /** Learn a sample; resolve with the class that was predicted before. */
  async learn(values: Int32Array, label: number): Promise<number> {
    const payload = new Uint8Array(1 + 4 * values.length);
    payload[0] = label;
    const view = new DataView(payload.buffer);
    values.forEach((value, i) => view.setInt32(1 + 4 * i, value, true));
    return (await this.link.request(LINK.LABELLED, payload)).payload[2]!;
  }

  /** Send the label of an observation that waits for it. */
  async label(id: number, label: number): Promise<void> {
    await this.link.request(LINK.LABEL, Uint8Array.of(id & 255, id >> 8, label));
  }

  /** The number of requests that wait for an answer. */
  get pending(): number {
    return this.link.pending;
  }

  close(): void {
    this.link.close();
  }
}

/** Read the board's configuration; if it cannot send one, names are numbers. */
async function configurationOf(link: Link, welcome: Welcome): Promise<Configuration> {
  const bytes: number[] = [];
  try {
    for (;;) {
      const at = Uint8Array.of(bytes.length & 255, bytes.length >> 8);
      const { payload } = await link.request(LINK.CONFIGURATION, at);
      if (!payload.length) break;
      bytes.push(...payload);
    }
    const text = Uint8Array.from(bytes);
    if (crc32(text) === welcome.configuration) {
      const configuration = JSON.parse(new TextDecoder().decode(text)) as Configuration;
      return { ...configuration, class_names: configuration.class_names ?? [] };
    }
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error; // a device that is older than this request
  }
  const numbers = (count: number): string[] => Array.from({ length: count }, (_, i) => String(i));
  const { classes, features } = welcome;
  return { class_names: numbers(classes), feature_names: numbers(features), units: null };
}

function observationOf(frame: Frame): Observation {
  const view = new DataView(frame.payload.buffer);
  const label = view.getUint16(4, true);
  return {
    number: frame.number,
    id: view.getUint16(0, true),
    predicted: view.getUint8(2),
    confidence: view.getUint8(3),
    label: label === UNKNOWN ? null : label,
    values: Int32Array.from(words(frame.payload, 6)),
  };
}

function answer<Name extends keyof typeof WORDS>(name: Name, { payload }: Frame): Answer<Name> {
  const values = words(payload, 0);
  return Object.fromEntries(WORDS[name].map((each, i) => [each, values[i]])) as Answer<Name>;
}

function words(payload: Uint8Array<ArrayBuffer>, from: number): number[] {
  const view = new DataView(payload.buffer);
  const count = (payload.length - from) >> 2;
  return Array.from({ length: count }, (_, i) => view.getInt32(from + 4 * i, true));
}
