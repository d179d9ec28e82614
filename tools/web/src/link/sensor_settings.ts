// What config.json says of a board's sensor.

import type { SensorSettings } from "./board_link";

const MIDDLE = 32768; // of the readings of an analog pin, 0..65535
const NEAR = 16384; // a value that is farther from 0 becomes the zero of its axis
const MOTION_AXES = 6;

/** Readings a second; the first of several sensors sets the pace. */
export function rateOf(sensor: SensorSettings): number {
  const { rate = 1 } = sensor.sensors?.[0] ?? sensor;
  return typeof rate === "number" ? rate : 1 / Number(rate.split("/")[1]);
}

/** Of each value of a reading, what counts as 0: windows hold 16 bits with a sign around it. */
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
  return pins?.length ?? values ?? axes ?? MOTION_AXES;
}
