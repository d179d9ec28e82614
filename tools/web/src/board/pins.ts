// The pins that a program uses: each for one purpose that the pin can serve.
//
// The rules and texts are those of `build`: tools/microshrub_tools/board/program_pins.py.

import type { SensorSettings } from "../link/sensor_settings";
import { isKey, type Board, type ProgramSettings, type Switched } from "../page_data";
import { COMPANION_FLAGS, RP2_ADC } from "../shared";
import { texts } from "../texts";

type Pin = number | string;
type Task = readonly [pin: Pin, kind: string, option: string]; // tasks that may share a pin have one kind
type Settings = Readonly<Record<string, unknown>>;

const words = texts.pins;
const BUS = ["scl", "sda"]; // pins that several sensors can share
const BOTH_WAYS = [...BUS, "button", "switch", "light of a query"];

/** Check the pins of a program's configuration. Throws an Error for people as check_pins() does. */
export function checkPins(
  config: ProgramSettings,
  { name, pins }: Pick<Board, "name" | "pins">,
): void {
  const tasks = new Map<Pin, Task>();
  for (const task of tasksOf(config)) {
    const [pin, kind, option] = task;
    if (typeof pin === "number" && pin > pins.last) throw new Error(words.none(pin, name, pins.last));
    checkFree(task, name, pins);
    const first = tasks.get(pin) ?? task;
    tasks.set(pin, first);
    if (first[1] !== kind) throw new Error(words.twice(pin, first[2], option));
  }
  if (pins.layout === "rp2") sensorsOf(config).forEach(checkRp2);
}

/** Check that a pin belongs to no other chip of the board, and can do more than read. */
function checkFree([pin, kind, option]: Task, board: string, { taken, takenBy, inputs }: Board["pins"]): void {
  if (typeof pin !== "number") return;
  if (taken.includes(pin)) throw new Error(words.taken(option, pin, board, takenBy));
  if (inputs.includes(pin) && BOTH_WAYS.includes(kind)) throw new Error(words.onlyReads(option, pin, board));
}

function* tasksOf(config: ProgramSettings): Generator<Task> {
  for (const [place, sensor] of sensorsOf(config).entries()) {
    for (const [name, pin] of pinsOf(sensor)) {
      const kind = BUS.includes(name) ? name : `${name} of sensor ${place}`;
      yield [pin, kind, `--sensor ${nameOf(sensor)} ${name}`];
    }
  }
  for (const [name, part] of Object.entries(config)) {
    if (name === "sensor" || typeof part !== "object" || part === null) continue;
    const { pin, led } = part as { readonly pin?: Pin; readonly led?: Pin };
    const flag = COMPANION_FLAGS[name] ?? `--${name.replaceAll("_", "-")}`;
    if (pin !== undefined) yield [pin, "button", words.button(flag)];
    if (led !== undefined) yield [led, "light of a query", "--led-pin"];
  }
  for (const row of (config["switches"] ?? []) as readonly (readonly Switched[])[]) {
    for (const what of row) {
      if (!isKey(what)) yield [typeof what === "number" ? what : what[0]!, "switch", "--switch"];
    }
  }
}

function sensorsOf(config: ProgramSettings): readonly SensorSettings[] {
  const sensor = config["sensor"] as SensorSettings;
  return sensor.sensors ?? [sensor];
}

const nameOf = ({ module, kind }: SensorSettings): string => module ?? kind;
const settingsOf = (sensor: SensorSettings): Settings => ({ ...sensor, ...sensor.options });

function* pinsOf(sensor: SensorSettings): Generator<readonly [name: string, pin: Pin]> {
  for (const [name, value] of Object.entries(settingsOf(sensor))) {
    if (name === "pins") for (const pin of value as readonly Pin[]) yield [name, pin];
    else if (name === "pin" || BUS.includes(name)) yield [name, value as Pin];
  }
}

/** Check the rules of RP2040 and RP2350 for a sensor's pins. */
function checkRp2(sensor: SensorSettings): void {
  if (sensor.kind === "adc") {
    const wrong = sensor.pins!.find((pin) => typeof pin === "number" && !RP2_ADC.includes(pin));
    if (wrong !== undefined) throw new Error(words.notAnalog(wrong as number, RP2_ADC));
  }
  const { scl, sda, i2c = 0 } = settingsOf(sensor);
  if (typeof scl !== "number" || typeof sda !== "number") return;
  const bus = (pin: number): number => (pin >> 1) & 1;
  if (scl % 2 === 0 || sda % 2 || bus(scl) !== bus(sda)) {
    throw new Error(words.noBus(nameOf(sensor), scl, sda));
  }
  if (bus(scl) !== i2c) throw new Error(words.otherBus(nameOf(sensor), scl, sda, bus(scl)));
}
