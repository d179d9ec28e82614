// The data that `make web` writes for the page: boards, learners, streams, the library's files.

import type { Setting, SensorSettings } from "./link/sensor_settings";

export interface Board {
  readonly key: string;
  readonly name: string;
  readonly arch: string;
  readonly firmware: string; // the firmware's name at micropython.org
  readonly heap_free_bytes: number;
  readonly serial: ProgramSettings; // for a program whose samples come over the line
  readonly motion: ProgramSettings; // for a program with a sensor
  readonly lights: readonly number[]; // pins for lights
  readonly pins: Pins;
  readonly wired: WiredPins;
  /** By learner, bytes of code, headers and objects: in a user's own program, or in the page's two. */
  readonly overhead: Readonly<Record<string, Readonly<Record<"alone" | "program" | "motion", number>>>>;
  readonly wifi: boolean;
  readonly keys: boolean; // whether the board can be a USB keyboard
  readonly bytes: number; // Thicket's size on the board, for a user's own stream
}

export interface Pins {
  readonly last: number;
  readonly layout: string | null; // "rp2": the analog pins, and the pins of each bus, are known
  readonly taken: readonly number[]; // by another chip of the board,
  readonly takenBy: string;
  readonly inputs: readonly number[]; // that have neither an output nor a pull-up
}

/** A thing that a class switches, as in config.json: a pin; a NeoPixel's pin, red, green and blue; a buzzer's pin and hertz; or a key. */
export type Switched = number | readonly number[];
/** Return whether a switched thing is a key. */
export const isKey = (what: Switched): boolean =>
  typeof what !== "number" && what.length === 1;

/** Return whether a switched thing is a buzzer's tone. */
export const isTone = (what: Switched): boolean => typeof what !== "number" && what.length === 2;

/** The parts of config.json besides the learner: sensor, alarm and so on. */
export type ProgramSettings = Readonly<Record<string, unknown>>;

/** A sensor's default pins: those of a bus, and those of a single pin. */
export interface WiredPins {
  readonly scl: number;
  readonly sda: number;
  readonly pins: readonly number[]; // analog pins
  readonly analog: number;
  readonly digital: number;
}

/** A sensor that `microshrub build --sensor` knows. */
export interface SensorKind {
  readonly key: string;
  readonly config: SensorSettings; // the sensor's part of config.json for any settings
  readonly settings: Readonly<Record<string, Setting | null>>; // with their defaults; null: the board's own
  readonly channels: readonly string[]; // the values of a sensor with a driver
  readonly is_analog: boolean; // whether its pin reads voltages
  readonly seconds: number; // between two readings, if more than one
  readonly compiled: string | null; // the driver for any processor, in base64
}

export type Value = number | string | boolean | readonly number[];
export type Parameters = Readonly<Record<string, Value>>;

export interface Option {
  readonly name: string;
  readonly kind: "int" | "float" | "str" | "bool" | "tuple";
  readonly default: Value;
  readonly low: number | null;
  readonly high: number | null;
  readonly choices: readonly (string | number | boolean)[];
  readonly help: string;
}

export interface Learner {
  readonly key: string;
  readonly learner_class: string; // the name of the class
  readonly asks_two_valued: boolean; // whether it takes a list of the features with two values
  readonly grows: boolean; // whether its ranges begin with the first sample, and grow
  readonly options: readonly Option[];
  readonly modules: readonly string[]; // modules of a program with the learner, for any processor
  readonly motion_modules: readonly string[]; // modules of a program with a motion sensor
}

/** The simulator's result when the page was built. */
export interface Expected {
  readonly learner: string;
  readonly options: Parameters;
  readonly state_crc32: number;
  readonly accuracy: number;
}

export interface SampleStream {
  readonly key: string;
  readonly file: string;
  readonly samples: number;
  readonly features: number;
  readonly classes: number;
  readonly bytes: Readonly<Record<string, number>>; // Thicket's size by board
  readonly expected: readonly Expected[];
}

export interface PageData {
  readonly version: string;
  readonly main: string; // main.py of a board's program
  readonly config_version: number;
  readonly program: string; // the version of a board's program
  readonly model_format: number;
  /** The code that `microshrub flash` runs on a board; in `selftest`, %r stands for a folder. */
  readonly board_code: { readonly helpers: string; readonly loader: string; readonly selftest: string };
  readonly boards: readonly Board[];
  readonly sensors: readonly SensorKind[];
  readonly learners: readonly Learner[];
  /** The library's modules that only some programs have, with the parts that only some of these have. */
  readonly more_of_device: Readonly<Record<string, readonly string[]>>;
  readonly streams: readonly SampleStream[];
}

/** The device library's compiled files, by their paths. */
export type Library = Readonly<Record<string, Uint8Array<ArrayBuffer>>>;

export async function loadPageData(): Promise<PageData> {
  return (await fetched("data.json")).json() as Promise<PageData>;
}

export const BYTECODE = "bytecode"; // in place of a processor: the library for any
export const PAGE = "page"; // the library that runs in the page

/** Load a library of the page: a line of JSON with names and bytes, then the files. */
export async function loadLibrary(name: string): Promise<Library> {
  const packed = await (await fetched(`library/${name}.gz`)).blob();
  const unpacked = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  const all = new Uint8Array(await new Response(unpacked).arrayBuffer());
  let at = all.indexOf(10) + 1;
  const sizes = JSON.parse(new TextDecoder().decode(all.subarray(0, at))) as Record<string, number>;
  return Object.fromEntries(
    Object.entries(sizes).map(([path, size]) => [path, all.slice(at, (at += size))]),
  );
}

export async function fetched(path: string): Promise<Response> {
  const response = await fetch(path);
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return response;
}
