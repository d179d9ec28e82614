// What the page asks of a board's program over the link.

import { crc32 } from "../zip";
import type { Frame } from "./frames";
import { Link, LinkError, RefusedError, type Carrier, type Welcome } from "./link";
import type { SensorSettings } from "./sensor_settings";

const [SAMPLE, LABELLED, LABEL, STATUS, CONFUSION] = [3, 4, 5, 6, 7];
const [FINGERPRINT, RESET, READ, ANOMALY, REGRESSION, QUERIES, CLASSES] = [8, 10, 11, 12, 13, 14, 15];
const THIS_IS_NORMAL = 2; // in a request ANOMALY
const HIGH = 2 ** 29; // what the high word of a sum counts
const COUNTS = 14; // at most, of an answer
const UNKNOWN = 65535; // a label that is not known
const MOST_CLASSES = 32; // whose confusion matrix a board keeps

/** The part of config.json that is shown, or that says what the values are. */
export interface Configuration {
  readonly class_names: readonly string[]; // none where a number is predicted
  readonly feature_names: readonly string[];
  readonly units: readonly (readonly [number, number])[] | null;
  readonly quantizer?: string | null; // the file of the ranges; without it they are seen first
  readonly warmup?: number; // samples in which they are seen
  readonly spare_classes?: object | null; // there are classes that get their names on the board
  readonly anomaly?: object | null; // each sample has a score of how unusual it is
  readonly queries?: object | null; // the board asks for labels, and learns no others
  readonly regression?: { readonly column: number }; // the value of a sample that is predicted
  readonly sensor?: SensorSettings; // not known of a program that is too old
  readonly extraction?: object | null; // samples are made of windows of readings
}

export interface BoardStatus {
  readonly samples: number;
  readonly right: number;
  readonly accuracy: number; // millionths, as the next three
  readonly nochange: number;
  readonly kappa: number;
  readonly kappaTemporal: number;
  readonly heapUsed: number;
  readonly heapFree: number;
  readonly drift: number; // 0 none, 1 warning, 2 drift
  readonly drifts: number;
  readonly seconds: number;
  readonly waiting: number;
  readonly checkpoint: number;
  readonly damaged: number;
  readonly missed: number; // readings of its sensor
  readonly asleep: number; // seconds
  readonly unsaved: number; // labels that are not in flash yet, -1 if none is ever saved
  readonly savedAgo: number; // seconds since the last save or the start from one, -1: neither
}

/** Of predicted numbers, raw: the last one, and the errors of those whose target came. */
export interface RegressionErrors {
  readonly predicted: number;
  readonly half: number; // half the width of its interval, -1 without one
  readonly scored: number;
  readonly error: number; // mean absolute error
  readonly nochange: number; // that of the last known target
  readonly inside: number; // targets that were inside their interval
}

/** How unusual the last sample was, and what it has to pass, 0 to 255. */
export interface Unlike {
  readonly score: number;
  readonly threshold: number;
  readonly alarms: number;
}

/** The newest query of a label, and how many there were. */
export interface Query {
  readonly id: number; // of the sample; 0: it is answered
  readonly guess: number; // the class that was predicted, -1 if none waits
  readonly asked: number;
  readonly seen: number; // samples that came
}

/** A sample of the board's own sensor; label is null where it is not known. */
export interface Observation {
  readonly number: number; // 1 is the first one of a session; behind 65535 comes 0
  readonly id: number;
  readonly predicted: number;
  readonly confidence: number;
  readonly label: number | null;
  readonly values: Int32Array;
}

export class BoardLink {
  /** Is called with the reason when the line is lost, and with null when it is back. */
  interrupted: (why: string | null) => void = () => undefined;
  /** Is called with each observation. */
  observed: (observation: Observation) => void = () => undefined;
  private link!: Link;
  private found!: Configuration;
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
    return this.found;
  }

  /** Which value of a sample the board predicts; null if it predicts classes. */
  get target(): number | null {
    return this.begun.classes === 1 ? (this.found.regression?.column ?? null) : null;
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
      this.found = await configurationOf(this.link, this.begun);
    } finally {
      this.opening = null;
    }
  }

  async status(): Promise<BoardStatus> {
    const { payload } = await this.link.request(STATUS);
    const [samples, right, accuracy, nochange, kappa, kappaTemporal, ...rest] = words(payload, 0);
    const [heapUsed, heapFree, drift, drifts, seconds, waiting, checkpoint, ...last] = rest;
    const [damaged, missed, asleep, unsaved, savedAgo] = last;
    const found = { samples, right, accuracy, nochange, kappa, kappaTemporal, heapUsed, heapFree };
    const more = { drift, drifts, seconds, waiting, checkpoint, damaged, missed, asleep };
    return { ...found, ...more, unsaved, savedAgo } as BoardStatus;
  }

  /** [label * classes + prediction]; empty where there are too many classes. */
  async confusion(): Promise<number[]> {
    const { classes } = this.welcome;
    const counts: number[] = [];
    for (let label = 0; label < classes && classes <= MOST_CLASSES; label++) {
      for (let first = 0; first < classes; first += COUNTS) {
        const { payload } = await this.link.request(CONFUSION, Uint8Array.of(label, first));
        counts.push(...words(payload, 0));
      }
    }
    return counts;
  }

  /** How good the numbers are that the board predicts. */
  async errors(): Promise<RegressionErrors> {
    const { payload } = await this.link.request(REGRESSION, Uint8Array.of(0));
    const [predicted, half, scored, high, low, guessHigh, guessLow, inside] = words(payload, 0);
    const mean = (above: number, below: number): number =>
      (HIGH * above + below) / Math.max(scored!, 1);
    const [error, nochange] = [mean(high!, low!), mean(guessHigh!, guessLow!)];
    return { predicted, half, scored, error, nochange, inside } as RegressionErrors;
  }

  /** How unusual the last sample was. Its predictions go on without scores. */
  async unlike(): Promise<Unlike> {
    const { payload } = await this.link.request(ANOMALY, Uint8Array.of(0));
    const [score, threshold, alarms] = words(payload, 0);
    return { score, threshold, alarms } as Unlike;
  }

  /** Tell the board; how many samples show what is normal, undefined if it cannot be told. */
  async thisIsNormal(): Promise<number | undefined> {
    const { payload } = await this.link.request(ANOMALY, Uint8Array.of(THIS_IS_NORMAL));
    return words(payload, 0)[3];
  }

  /** What the board asks, where it has a budget of labels. */
  async query(): Promise<Query> {
    const [id, guess, asked, seen] = words((await this.link.request(QUERIES)).payload, 0);
    return { id, guess, asked, seen } as Query;
  }

  /** What the board answers to a payload of request 15; see classes.ts. */
  async about(payload: Uint8Array<ArrayBuffer>): Promise<Uint8Array> {
    return (await this.link.request(CLASSES, payload)).payload;
  }

  /** The CRC32 of the learner's state. */
  async fingerprint(): Promise<number> {
    const { payload } = await this.link.request(FINGERPRINT);
    return new DataView(payload.buffer).getUint32(0, true);
  }

  /** Have the board forget what it has learned. */
  async forget(): Promise<void> {
    await this.link.request(RESET);
  }

  /** Show the board a sample without a label. */
  async show(values: Int32Array): Promise<void> {
    const payload = new Uint8Array(4 * values.length);
    const view = new DataView(payload.buffer);
    values.forEach((value, i) => view.setInt32(4 * i, value, true));
    await this.link.request(SAMPLE, payload);
  }

  /** Learn a sample; resolves with the class that was predicted before. */
  async learn(values: Int32Array, label: number): Promise<number> {
    const payload = new Uint8Array(1 + 4 * values.length);
    payload[0] = label;
    const view = new DataView(payload.buffer);
    values.forEach((value, i) => view.setInt32(1 + 4 * i, value, true));
    return (await this.link.request(LABELLED, payload)).payload[2]!;
  }

  /** The label of an observation that waits for it. */
  async label(id: number, label: number): Promise<void> {
    await this.link.request(LABEL, Uint8Array.of(id & 255, id >> 8, label));
  }

  /** Requests that wait for an answer. */
  get pending(): number {
    return this.link.pending;
  }

  close(): void {
    this.link.close();
  }
}

/** The names that the board has; numbers where it cannot tell them. */
async function configurationOf(link: Link, welcome: Welcome): Promise<Configuration> {
  const bytes: number[] = [];
  try {
    for (;;) {
      const at = Uint8Array.of(bytes.length & 255, bytes.length >> 8);
      const { payload } = await link.request(READ, at);
      if (!payload.length) break;
      bytes.push(...payload);
    }
    const text = Uint8Array.from(bytes);
    if (crc32(text) === welcome.configuration) {
      const found = JSON.parse(new TextDecoder().decode(text)) as Configuration;
      return { ...found, class_names: found.class_names ?? [] };
    }
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error; // a device from before there was this
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

function words(payload: Uint8Array<ArrayBuffer>, from: number): number[] {
  const view = new DataView(payload.buffer);
  const count = (payload.length - from) >> 2;
  return Array.from({ length: count }, (_, i) => view.getInt32(from + 4 * i, true));
}
