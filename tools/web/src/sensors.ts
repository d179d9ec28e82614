// What a phone or laptop can feel, as a board's sensor of some axes with 16 bits each.

import type { Shape } from "./learning/windows";
import { texts } from "./texts";

/** A value of 16 bits with a sign for each axis; null where readings are missing. */
export type Reading = readonly number[] | null;

/** Gives the readings that came since it was asked last; `stop` ends it. */
export interface Sensor {
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
type OwnSource = keyof typeof AXES;
export type Source = OwnSource | "board"; // or that of a board on a cable
export const SOURCES: readonly Source[] = [...(Object.keys(AXES) as OwnSource[]), "board"];
const RATE = 50; // readings a second

/** What the readings of this device's sensors are; null for a board, which tells it. */
export function shapeOf(source: Source): Shape | null {
  if (source === "board") return null;
  return { axes: AXES[source], rate: RATE, zero: AXES[source].map(() => 0) };
}

/** Begin to read a sensor of this device. Call it first thing when the user has pressed. */
export async function openSensor(source: OwnSource, pad: HTMLElement): Promise<Sensor> {
  const { read, stop } = await opened(source, pad);
  return { read: () => [read()], stop };
}

/** Gives a reading whenever it is asked. */
interface Feeler {
  read(): readonly number[];
  stop(): void;
}

function opened(source: OwnSource, pad: HTMLElement): Promise<Feeler> {
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

const MOST = 32767;
const COUNTS_PER_G = 16384; // an MPU-6050 as MicroPython's program sets it: 2 g
const STANDARD_GRAVITY = 9.80665; // m/s²
const COUNTS_PER_DEGREE = 131; // a second: 250 degrees a second
const POINTER_UNITS = 20; // a pixel
const KEY = 8000; // what a key counts
const OF_THE_PAGE = ["Tab", "Enter", "Escape"]; // keys by which buttons are reached and pressed
const FADE = 0.9; // of the taps, a reading
const LOUDNESS_UNITS = 100; // a step of 1/255
const PLAIN_SOUND = { echoCancellation: false, noiseSuppression: false, autoGainControl: false };

/** The motion sensor, in the units of an MPU-6050. */
async function motionSensor(): Promise<Feeler> {
  await askPermission();
  let newest: readonly number[] | null = null;
  const take = (event: DeviceMotionEvent): void => {
    const { x, y, z } = event.accelerationIncludingGravity ?? {};
    const { alpha, beta, gamma } = event.rotationRate ?? {};
    if (x == null || y == null || z == null) return;
    const force = [x, y, z].map((value) => (value / STANDARD_GRAVITY) * COUNTS_PER_G);
    const turn = [beta, gamma, alpha].map((value) => (value ?? 0) * COUNTS_PER_DEGREE);
    newest = [...force, ...turn].map(limited);
  };
  addEventListener("devicemotion", take);
  const stop = (): void => removeEventListener("devicemotion", take);
  for (let wait = 0; newest === null && wait < 20; wait++) await pause(100);
  if (newest === null) {
    stop();
    throw new SensorError(texts.teach.noMotion);
  }
  return { read: () => newest!, stop };
}

/** The pointer on an element: where it is, from the middle, and how fast it moves. */
function pointerSensor(pad: HTMLElement): Feeler {
  let [x, y] = [0, 0];
  let before = [0, 0];
  const take = (event: PointerEvent): void => {
    const box = pad.getBoundingClientRect();
    x = event.clientX - box.left - box.width / 2;
    y = event.clientY - box.top - box.height / 2;
  };
  pad.addEventListener("pointermove", take);
  const read = (): number[] => {
    const speed = [x - before[0]!, y - before[1]!];
    before = [x, y];
    return [x, y, ...speed].map((value) => limited(value * POINTER_UNITS));
  };
  const stop = (): void => pad.removeEventListener("pointermove", take);
  return { read, stop };
}

/** Keys: the arrows, and how lately and how often any key was pressed. */
function keyboardSensor(): Feeler {
  const held = new Set<string>();
  let taps = 0;
  const press = (event: KeyboardEvent): void => {
    const isWritten = event.target instanceof Element && event.target.matches("input, select");
    if (event.repeat || isWritten || OF_THE_PAGE.includes(event.key)) return;
    if (event.key.startsWith("Arrow") || event.key === " ") event.preventDefault();
    held.add(event.key);
    taps += KEY;
  };
  const release = (event: KeyboardEvent): void => void held.delete(event.key);
  const forget = (): void => held.clear();
  const axis = (one: string, other: string): number =>
    KEY * (Number(held.has(one)) - Number(held.has(other)));
  const read = (): number[] => {
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
  return { read, stop };
}

/** How loud it is, in all and in three bands. */
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
  const read = (): number[] => {
    analyser.getByteFrequencyData(spectrum);
    return [band(0, 1), band(0, 1 / 16), band(1 / 16, 1 / 4), band(1 / 4, 1)].map(limited);
  };
  const stop = (): void => {
    for (const track of stream.getTracks()) track.stop();
    void context.close();
  };
  return { read, stop };
}

/** Readings as bytes, the high one of a value first. */
export function readingBytes(reading: readonly number[]): Uint8Array {
  const view = new DataView(new ArrayBuffer(2 * reading.length));
  reading.forEach((value, axis) => view.setInt16(2 * axis, value));
  return new Uint8Array(view.buffer);
}

function limited(value: number): number {
  return Math.min(Math.max(Math.round(value), -MOST), MOST);
}

/** Phones of Apple ask their user, and only while a press is being handled. */
async function askPermission(): Promise<void> {
  if (!isSecureContext) throw new SensorError(texts.teach.insecure);
  if (typeof DeviceMotionEvent === "undefined") throw new SensorError(texts.teach.noMotion);
  const kind = DeviceMotionEvent as unknown as { requestPermission?: () => Promise<string> };
  if (!kind.requestPermission) return;
  const answer = await kind.requestPermission();
  if (answer !== "granted") throw new SensorError(texts.teach.refused);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
