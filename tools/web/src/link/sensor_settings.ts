// What config.json says of a board's sensor.

const MIDDLE = 32768; // of the readings of an analog pin, 0..65535
const NEAR = 16384; // a value that is farther from 0 becomes the zero of its axis
const MOTION_AXES = 6;

/** What config.json says of a sensor. */
export interface SensorSettings {
  readonly kind: string; // serial: samples come over the line
  readonly rate?: number | string; // readings a second, or one in so many: "1/300"
  readonly pins?: readonly unknown[]; // of analog ones
  readonly values?: number; // in a reading of one of the user's own
  readonly axes?: number;
  readonly fifo?: boolean;
  readonly sensors?: readonly SensorSettings[]; // of several, the fastest first
}

const everyOf = (sensor: SensorSettings): readonly SensorSettings[] => sensor.sensors ?? [sensor];

/** Whether this page has all that a program with it needs; not a file of the user's own. */
export function isKnown(sensor: SensorSettings): boolean {
  return everyOf(sensor).every(({ kind }) => kind === "adc" || kind === "mpu6050");
}

/** The modules of the device library for it, beside those for an MPU-6050. */
export function modulesFor(sensor: SensorSettings): string[] {
  const fifo = everyOf(sensor).some((each) => each.fifo) ? ["device.motion_fifo"] : [];
  return [...(sensor.sensors ? ["device.several"] : []), ...fifo];
}

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
