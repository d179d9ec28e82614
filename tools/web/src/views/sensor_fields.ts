// Fields for the settings of a sensor, with the defaults of the chosen board.

import { choice, field, make } from "../dom";
import { rateOf, sensorOf, type Setting, type SensorSettings } from "../link/sensor_settings";
import type { Board, SensorKind } from "../page_data";
import { texts } from "../texts";
import { hasParts, pinName, signalsOf, wiring, type Parts } from "./wiring";

type Settings = Readonly<Record<string, Setting>>;
type Control = HTMLInputElement | HTMLSelectElement;

const words = texts.sensors;
const AXES = ["6", "3"] as const;
const MOST_RATE = 1000; // readings a second
const DAY = 86_400; // seconds

/** Return a sensor's name for people, or else its name in `build --sensor`. */
export function nameOf({ key }: SensorKind): string {
  return words.names[key] ?? key;
}

export class SensorFields {
  readonly element = make("div", { class: "fields" });
  private kind!: SensorKind;
  private board!: Board;
  private fixed: Settings = {};
  private controls: readonly (readonly [name: string, control: Control])[] = [];

  /** `part` is the prefix of the fields' names. */
  constructor(
    private readonly part: string,
    private readonly changed: () => void,
  ) {
    this.hide();
  }

  hide(): void {
    this.element.hidden = true;
    this.element.replaceChildren();
  }

  /** Show the settings; `given` replaces some defaults, and `fixed` settings have no field. */
  show(kind: SensorKind, board: Board, given: Settings = {}, fixed: Settings = {}): void {
    [this.kind, this.board, this.fixed] = [kind, board, fixed];
    this.controls = Object.keys(kind.settings)
      .filter((name) => !(name in fixed) && typeof kind.settings[name] !== "boolean")
      .map((name) => [name, this.control(name, given[name] ?? this.usual(name))] as const);
    this.element.replaceChildren(...this.controls.map(([name, control]) => field(name, control)));
    this.element.hidden = false;
  }

  /** The sensor in config.json. Throws an Error for people, with the texts of `build`. */
  get sensor(): SensorSettings {
    const { settings } = this.kind;
    const plain = Object.entries(settings).filter(([, value]) => typeof value === "boolean");
    const given = this.controls.map(([name, { value }]) => [name, this.read(name, value.trim())] as const);
    return sensorOf(this.kind, { ...Object.fromEntries(plain as [string, boolean][]), ...Object.fromEntries(given), ...this.fixed });
  }

  private usual(name: string): Setting {
    const { settings, is_analog: isAnalog } = this.kind;
    const { wired } = this.board;
    if (settings[name] !== null) return settings[name]!;
    if (name === "pin") return isAnalog ? wired.analog : wired.digital;
    return wired[name as "scl" | "sda" | "pins"];
  }

  private control(name: string, value: Setting): Control {
    const id = `${this.part}${name}`;
    const isNumber = name !== "pins" && name !== "rate";
    const made =
      name === "axes"
        ? choice(id, AXES.map((each) => [each, each]))
        : make("input", isNumber ? { id, type: "number", min: "0", step: "1" } : { id });
    made.value = String(value);
    made.onchange = this.changed;
    return made;
  }

  private read(name: string, text: string): Setting {
    const sensor = this.kind.key;
    if (name === "pins") return text.split(",").map((pin) => numberOrName(pin.trim()));
    const value = numberOrName(text);
    if (name === "rate") {
      if (!isRate(value)) throw new Error(words.rate(sensor, this.kind.channels.length > 0, value));
      const { seconds } = this.kind;
      if (rateOf({ ...this.kind.config, rate: value }) * seconds > 1) throw new Error(words.slow(sensor, seconds, value));
    } else if (typeof value !== "number") {
      throw new Error(words.whole(sensor, name, value));
    }
    return value;
  }
}

/** Explain how the sensor and the parts are wired, and what the sensor reads. */
export function howToWire(board: Board, sensor: SensorSettings, parts: Parts): HTMLElement[] {
  if (sensor.sensors) {
    const [first, ...others] = sensor.sensors;
    const more = others.flatMap((each) => howToWire(board, each, { lights: [] }));
    return [...howToWire(board, first!, parts), ...more];
  }
  const { pins = [], pin } = { ...sensor, ...sensor.options } as Readonly<{ pins?: readonly unknown[]; pin?: unknown }>;
  const hasWires = signalsOf(sensor) !== null;
  const called = [...pins, ...(pin === undefined ? [] : [pin])]
    .map((each) => (typeof each === "number" ? pinName(board, each) : String(each)))
    .join("; ");
  return [
    ...(!hasWires && called ? [make("p", {}, words.voltage(called))] : []),
    ...(hasWires || hasParts(parts) ? [wiring(board, sensor, parts)] : []),
  ];
}

function numberOrName(text: string): number | string {
  return /^[0-9]+$/.test(text) ? Number(text) : text;
}

/** Return whether a value is a rate: readings a second, or one in some seconds, such as 1/60. */
function isRate(value: number | string): boolean {
  const [number, most] = typeof value === "number" ? [value, MOST_RATE] : [Number(/^1\/([0-9]+)$/.exec(value)?.[1]), DAY];
  return number >= 1 && number <= most;
}
