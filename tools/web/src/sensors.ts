// What a phone or laptop can feel, as a board's sensor of some axes with 16 bits each.

import { texts } from "./texts";

/** Gives the newest reading, a value per axis; `stop` ends it. */
export interface Sensor {
  readonly axes: readonly string[];
  read(): readonly number[];
  stop(): void;
}

export class SensorError extends Error {}

const MOST = 32767;
const COUNTS_PER_G = 16384; // an MPU-6050 as MicroPython's program sets it: 2 g
const STANDARD_GRAVITY = 9.80665; // m/s²
const COUNTS_PER_DEGREE = 131; // a second: 250 degrees a second
const POINTER_UNITS = 20; // a pixel

/** The motion sensor, in the units of an MPU-6050. Call it first thing when the user has pressed. */
export async function motionSensor(): Promise<Sensor> {
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
    throw new SensorError(texts.learnMe.noMotion);
  }
  return { axes: ["ax", "ay", "az", "gx", "gy", "gz"], read: () => newest!, stop };
}

/** The pointer on an element: where it is, from the middle, and how fast it moves. */
export function pointerSensor(pad: HTMLElement): Sensor {
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
  return { axes: ["x", "y", "dx", "dy"], read, stop };
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
  if (!isSecureContext) throw new SensorError(texts.learnMe.insecure);
  if (typeof DeviceMotionEvent === "undefined") throw new SensorError(texts.learnMe.noMotion);
  const kind = DeviceMotionEvent as unknown as { requestPermission?: () => Promise<string> };
  if (!kind.requestPermission) return;
  const answer = await kind.requestPermission();
  if (answer !== "granted") throw new SensorError(texts.learnMe.refused);
}

function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}
