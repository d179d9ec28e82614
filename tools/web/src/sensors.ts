// The sensors of a phone or laptop, as a board's sensor of some axes with 16 bits each.

import type { Shape } from "./learning/windows";
import { texts } from "./texts";

/** A signed value of 16 bits for each axis; null for missing readings. */
export type Reading = readonly number[] | null;

/** A sensor: `read` returns the readings since the last call, `lost` counts missing ones, `stop` ends it. */
export interface Sensor {
  readonly lost: number;
  read(): readonly Reading[];
  stop(): void | Promise<void>;
}

export class SensorError extends Error {}

/** The axes of each sensor of this device. */
const AXES = {
  pointer: ["x", "y", "dx", "dy"],
  motion: ["ax", "ay", "az", "gx", "gy", "gz"],
  keyboard: ["across", "up", "taps"],
  microphone: ["level", "low", "middle", "high"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
type DeviceSource = keyof typeof AXES;
export type Source = DeviceSource | "board"; // or a board on a cable
/** Sensors that a board can have, and sensors that only this device has. */
export const SOURCES = {
  board: ["motion", "board"],
  play: ["pointer", "keyboard", "microphone"],
} as const satisfies Readonly<Record<string, readonly Source[]>>;

export function isSource(name: string): name is Source {
  return name === "board" || name in AXES;
}

const RATE = 50; // readings a second

/** Return the shape of a sensor's readings; null for a board, which reports its own. */
export function shapeOf(source: Source): Shape | null {
  if (source === "board") return null;
  return { axes: AXES[source], rate: RATE, zero: AXES[source].map(() => 0) };
}

/** Start to read a sensor of this device. Call this first after a press by the user. */
export async function openSensor(source: DeviceSource, pad: HTMLElement): Promise<Sensor> {
  return new Sampled(await opened(source, pad));
}

/** A source of readings: `at` returns the reading of a moment, later at each call, up to `memory` readings ago. */
interface Feeler {
  readonly memory: number;
  at(moment: number): Reading;
  stop(): void;
}

/** Readings at a fixed rate by the clock, however rarely a busy page reads them. */
class Sampled implements Sensor {
  lost = 0;
  private begin: number | null = null; // time of the first read
  private taken = 0; // readings since then

  constructor(private readonly feeler: Feeler) {}

  read(): readonly Reading[] {
    const now = clock();
    this.begin ??= now;
    const due = Math.floor(((now - this.begin) * RATE) / 1000 + NEARLY);
    const missing = Math.max(0, due - this.taken - this.feeler.memory);
    const first = this.taken + missing;
    this.taken = due;
    const moments = Array.from({ length: due - first }, (_, i) => this.begin! + (1000 * (first + i + 1)) / RATE);
    const readings = moments.map((moment) => this.feeler.at(moment));
    this.lost += missing + readings.filter((each) => !each).length;
    return missing ? [null, ...readings] : readings;
  }

  stop(): void {
    this.feeler.stop();
  }
}

/** Return the time of the clock of events, in milliseconds. */
function clock(): number {
  return new Event("now").timeStamp;
}

/** Events with their times, which a busy browser delivers late. */
class Happened {
  private readonly waiting: (readonly [moment: number, act: () => void])[] = [];

  add({ timeStamp }: Event, act: () => void): void {
    this.waiting.push([Math.min(timeStamp, clock()), act]);
    if (this.waiting.length > MOST_WAITING) this.waiting.shift()![1](); // no reading is taken
  }

  upTo(moment: number): void {
    while (this.waiting.length && this.waiting[0]![0] <= moment) this.waiting.shift()![1]();
  }
}

function opened(source: DeviceSource, pad: HTMLElement): Promise<Feeler> {
  switch (source) {
    case "pointer":
      return Promise.resolve(pointerSensor(pad));
    case "motion":
      return motionSensor();
    case "keyboard":
      return Promise.resolve(keyboardSensor());
    case "microphone":
      return microphoneSensor();
  }
}

const NEARLY = 1e-6; // part of a reading for the clock's rounding
const MEMORY = 2 * RATE; // readings
const OF_NOW = 5; // readings for which the current level may be used
const MOST_WAITING = 10_000; // events
const SILENT = 500; // milliseconds without motion data, after which readings are missing
const MOST = 32767;
const COUNTS_PER_G = 16384; // an MPU-6050 as MicroPython's program sets it: 2 g
const STANDARD_GRAVITY = 9.80665; // m/s²
const COUNTS_PER_DEGREE = 131; // a second: 250 degrees a second
const POINTER_UNITS = 20; // a pixel
const KEY = 8000; // units of a key
const OF_THE_PAGE = ["Tab", "Enter", "Escape"]; // keys by which buttons are reached and pressed
const FADE = 0.9; // decay of taps per reading
const LOUDNESS_UNITS = 100; // a step of 1/255
const PLAIN_SOUND = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };

/** Open the motion sensor, in the units of an MPU-6050. */
async function motionSensor(): Promise<Feeler> {
  await askPermission();
  const happened = new Happened();
  let newest: readonly number[] | null = null;
  let newestAt = 0; // the newest reading's time
  const take = (event: DeviceMotionEvent): void => {
    const { x, y, z } = event.accelerationIncludingGravity ?? {};
    const { alpha, beta, gamma } = event.rotationRate ?? {};
    if (x == null || y == null || z == null) return;
    const force = [x, y, z].map((value) => (value / STANDARD_GRAVITY) * COUNTS_PER_G);
    const turn = [beta, gamma, alpha].map((value) => (value ?? 0) * COUNTS_PER_DEGREE);
    const values = [...force, ...turn].map(limited);
    newest ??= values;
    happened.add(event, () => [newest, newestAt] = [values, event.timeStamp]);
  };
  addEventListener("devicemotion", take);
  const stop = (): void => removeEventListener("devicemotion", take);
  for (let wait = 0; newest === null && wait < 20; wait++) await pause(100);
  if (newest === null) {
    stop();
    throw new SensorError(texts.teach.noMotion);
  }
  const at = (moment: number): Reading => {
    happened.upTo(moment);
    return moment - newestAt < SILENT ? newest : null;
  };
  return { memory: MEMORY, at, stop };
}

/** Open the pointer on an element: its place, from the middle, and its speed. */
function pointerSensor(pad: HTMLElement): Feeler {
  const happened = new Happened();
  let [x, y] = [0, 0];
  let before = [0, 0];
  const take = (event: PointerEvent): void => {
    const box = pad.getBoundingClientRect();
    const all = event.getCoalescedEvents?.() ?? [];
    for (const each of all.length ? all : [event])
      happened.add(each, () => {
        x = each.clientX - box.left - box.width / 2;
        y = each.clientY - box.top - box.height / 2;
      });
  };
  pad.addEventListener("pointermove", take);
  const at = (moment: number): number[] => {
    happened.upTo(moment);
    const speed = [x - before[0]!, y - before[1]!];
    before = [x, y];
    return [x, y, ...speed].map((value) => limited(value * POINTER_UNITS));
  };
  const stop = (): void => pad.removeEventListener("pointermove", take);
  return { memory: MEMORY, at, stop };
}

/** Open the keyboard: the arrows, and how recently and how often any key was pressed. */
function keyboardSensor(): Feeler {
  const happened = new Happened();
  const held = new Set<string>();
  let taps = 0;
  const press = (event: KeyboardEvent): void => {
    const isWritten = event.target instanceof Element && event.target.matches("input, select");
    if (event.repeat || isWritten || OF_THE_PAGE.includes(event.key)) return;
    if (event.key.startsWith("Arrow") || event.key === " ") event.preventDefault();
    happened.add(event, () => {
      held.add(event.key);
      taps += KEY;
    });
  };
  const release = (event: KeyboardEvent): void => happened.add(event, () => held.delete(event.key));
  const forget = (event: Event): void => happened.add(event, () => held.clear());
  const axis = (one: string, other: string): number =>
    KEY * (Number(held.has(one)) - Number(held.has(other)));
  const at = (moment: number): number[] => {
    happened.upTo(moment);
    const reading = [axis("ArrowRight", "ArrowLeft"), axis("ArrowUp", "ArrowDown"), taps];
    taps *= FADE;
    return reading.map(limited);
  };
  const stop = (): void => {
    removeEventListener("keydown", press);
    removeEventListener("keyup", release);
    removeEventListener("blur", forget);
  };
  addEventListener("keydown", press);
  addEventListener("keyup", release);
  addEventListener("blur", forget);
  return { memory: MEMORY, at, stop };
}

/** Open the microphone: the loudness, in all and in three bands. */
async function microphoneSensor(): Promise<Feeler> {
  if (!isSecureContext) throw new SensorError(texts.teach.insecureMicrophone);
  let stream: MediaStream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: PLAIN_SOUND });
  } catch {
    throw new SensorError(texts.teach.noMicrophone);
  }
  const context = new AudioContext();
  const analyser = new AnalyserNode(context, { fftSize: 512, smoothingTimeConstant: 0.2 });
  context.createMediaStreamSource(stream).connect(analyser);
  const spectrum = new Uint8Array(analyser.frequencyBinCount);
  const band = (share: number, to: number): number => {
    const part = spectrum.subarray(share * spectrum.length, to * spectrum.length);
    return (part.reduce((sum, each) => sum + each, 0) / part.length) * LOUDNESS_UNITS;
  };
  const at = (): number[] => {
    analyser.getByteFrequencyData(spectrum);
    return [band(0, 1), band(0, 1 / 16), band(1 / 16, 1 / 4), band(1 / 4, 1)].map(limited);
  };
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  };
  return { memory: OF_NOW, at, stop };
}

/** Return a reading as bytes, the high byte of a value first. */
export function readingBytes(reading: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * reading.length));
  reading.forEach((value, axis) => view.setInt16(2 * axis, value));
  return new Uint8Array(view.buffer);
}

function limited(value: number): number {
  return Math.min(Math.max(Math.round(value), -MOST), MOST);
}

/** Ask for permission, which Apple's phones require and grant only during a press. */
async function askPermission(): Promise<void> {
  if (!isSecureContext) throw new SensorError(texts.teach.insecure);
  if (typeof DeviceMotionEvent === "undefined") throw new SensorError(texts.teach.noMotion);
  const motionEvent = DeviceMotionEvent as unknown as { requestPermission?: () => Promise<string> };
  if (!motionEvent.requestPermission) return;
  const answer = await motionEvent.requestPermission();
  if (answer !== "granted") throw new SensorError(texts.teach.refused);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
