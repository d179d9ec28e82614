// The page's orders to the worker in which MicroPython learns, and the worker's answers.

import type { Library, Parameters } from "../page_data";

export interface Orders {
  create: { library: Library; learnerClass: string; parameters: Parameters; percent: number };
  anew: { parameters?: Parameters | undefined };
  observe: { rows: Int32Array };
  learn: { rows: Int32Array; labels: Uint8Array };
  ask: { rows: Int32Array };
  predict: { row: Int32Array };
  windows: {
    axes: number;
    window: number;
    hop: number;
    turns: readonly (readonly [number, number])[];
    lags: readonly number[];
  };
  restart: Record<string, never>;
  readings: { data: Uint8Array };
  selftest: Record<string, never>;
  finish: Record<string, never>;
}

export interface Answers {
  create: { buffers: readonly Buffer[] };
  anew: null;
  observe: null;
  learn: Status;
  ask: Uint8Array; // the classes
  predict: Prediction;
  windows: null;
  restart: null;
  readings: Int32Array<ArrayBuffer>; // the samples made of the readings, one after another
  selftest: number; // the CRC32 that a board has to have
  finish: Saved;
}

export type Order = { [name in keyof Orders]: { name: name; payload: Orders[name] } }[keyof Orders];
export type Answer = { result: unknown } | { refused: string };

/** Owner ("model", "quantizer", "metrics"), name and bytes. */
export type Buffer = readonly [string, string, number];

/** The status after some samples; ratios in millionths. */
export interface Status {
  readonly samples: number;
  readonly accuracy: number;
  readonly accuracy_nochange: number;
  readonly accuracy_majority: number;
  readonly kappa: number;
  readonly kappa_temporal: number;
  readonly confidence: number; // 0..255, of the newest sample
  readonly votes: readonly number[]; // votes of each class, 0..255; empty: too many classes
  readonly set: readonly number[]; // prediction set of the newest sample; with a guarantee
  readonly drifts: readonly number[]; // samples of the block at which the alarm went off
  readonly state_crc32: number;
  readonly clamped: number;
  readonly missing: number;
  readonly progress: Readonly<Record<string, number>>;
  readonly confusion: readonly number[]; // [label * classes + prediction]; empty: too many classes
  readonly predictions: Uint8Array;
}

export interface Prediction {
  readonly predicted: number;
  readonly confidence: number;
  readonly votes: readonly number[];
  readonly set: readonly number[];
}

export interface Saved {
  readonly learner: Uint8Array<ArrayBuffer>;
  readonly quantizer: Uint8Array<ArrayBuffer>;
  readonly modules: readonly string[];
}
