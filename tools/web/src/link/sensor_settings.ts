// A board's sensor in config.json.

import { fromBase64 } from "../learning/recording";
import type { SensorKind } from "../page_data";
import { texts } from "../texts";

const MIDDLE = 32768; // the middle of an analog pin's readings, 0..65535
const NEAR = 16384; // a value that is farther from 0 becomes the zero of its axis
const AXES = ["ax", "ay", "az", "gx", "gy", "gz"]; // the axes of an MPU-6050

export type Setting = number | string | boolean | readonly (number | string)[];

/** A sensor in config.json. */
export interface SensorSettings {
  readonly kind: string; // serial: samples come over the line
  readonly rate?: number | string; // readings a second, or one in 300 seconds: "1/300"
  readonly pins?: readonly (number | string)[]; // analog pins
  readonly values?: number; // in a reading of a user's own sensor
  readonly axes?: number;
  readonly fifo?: boolean;
  readonly module?: string; // the file of a user's own sensor, or of a driver
  readonly class?: string; // in that file
  readonly options?: Readonly<Record<string, unknown>>; // arguments of the class
  readonly sensors?: readonly SensorSettings[]; // several sensors, the fastest first
}

const everyOf = (sensor: SensorSettings): readonly SensorSettings[] => sensor.sensors ?? [sensor];

/** No sensor: samples come over the line. */
export const SERIAL: SensorSettings = { kind: "serial" };

/** Return whether this page has all files for a program with the sensor: false for a user's own sensor. */
export function isKnown(sensor: SensorSettings, kinds: readonly SensorKind[]): boolean {
  return everyOf(sensor).every((each) => kinds.some(({ config }) => isOfKind(each, config)));
}

function isOfKind(sensor: SensorSettings, config: SensorSettings): boolean {
  return (["kind", "module", "class", "values"] as const).every((name) => sensor[name] === config[name]);
}

/** Return a sensor with all its settings, in order; a driver has only those that are no defaults. */
export function sensorOf(
  { config, settings }: SensorKind,
  { rate, ...given }: Readonly<Record<string, Setting>>,
): SensorSettings {
  const inOrder = Object.keys(settings).map((name) => [name, name === "rate" ? rate! : given[name]!] as const);
  if (config.kind !== "own") return { ...config, ...Object.fromEntries(inOrder) };
  const options = inOrder.filter(([name, value]) => name !== "rate" && value !== settings[name]);
  return { ...config, rate: rate as number | string, options: Object.fromEntries(options) };
}

/** Combine sensors whose values make one reading. Throws an Error for people as sensors() of `build` does. */
export function together(sensors: readonly SensorSettings[]): SensorSettings {
  const [first, ...others] = sensors as readonly [SensorSettings, ...SensorSettings[]];
  const faster = others.find((each) => rateOf(each) > rateOf(first));
  if (faster) throw new Error(texts.sensors.faster(faster.module ?? faster.kind, faster.rate!, first.rate!));
  return others.length ? { kind: "several", sensors } : first;
}

/** Return the names of a reading's values. */
export function channelsOf({ channels }: SensorKind, { pins, axes }: SensorSettings): readonly string[] {
  if (pins) return pins.map((pin) => `pin${pin}`);
  return axes === undefined ? channels : AXES.slice(0, axes);
}

/** Return the device library's modules for a sensor, besides those for an MPU-6050. */
export function modulesFor(sensor: SensorSettings): string[] {
  const fifo = everyOf(sensor).some((each) => each.fifo) ? ["device.motion_fifo"] : [];
  const custom = everyOf(sensor).some(({ kind }) => kind === "own") ? ["device.custom_sensor"] : [];
  return [...(sensor.sensors ? ["device.combined_sensor"] : []), ...fifo, ...custom];
}

/** Return the compiled drivers that a sensor needs, by their paths on the board. */
export function driversFor(sensor: SensorSettings, kinds: readonly SensorKind[]): Record<string, Uint8Array> {
  const modules = everyOf(sensor).flatMap(({ module }) => module ?? []);
  const needed = kinds.filter(({ key, compiled }) => compiled && modules.includes(key));
  return Object.fromEntries(
    needed.map(({ key, compiled }) => [`lib/${key}.mpy`, fromBase64(compiled!)]),
  );
}

/** Return the readings a second; the first of several sensors sets the pace. */
export function rateOf(sensor: SensorSettings): number {
  const { rate = 1 } = sensor.sensors?.[0] ?? sensor;
  return typeof rate === "number" ? rate : 1 / Number(rate.split("/")[1]);
}

/** Return the zero of each value of a reading: windows have signed 16 bits around the zero. */
export function zeroOf(sensor: SensorSettings, first: readonly number[]): number[] {
  if (sensor.sensors) {
    let at = 0;
    return sensor.sensors.flatMap((each) => zeroOf(each, first.slice(at, (at += valuesOf(each)))));
  }
  switch (sensor.kind) {
    case "adc":
      return first.map(() => MIDDLE);
    case "mpu6050":
      return first.map(() => 0);
    default:
      return first.map((value) => (Math.abs(value) > NEAR ? value : 0));
  }
}

function valuesOf({ pins, values, axes }: SensorSettings): number {
  return pins?.length ?? values ?? axes ?? AXES.length;
}
