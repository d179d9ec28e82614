// What each class switches on the board: a light of its own, the colour of an LED or NeoPixel, a
// buzzer's tone, or a key of a PC; or a report to an MQTT broker, which `build` adds to a program.

import { choice, field, make } from "../dom";
import { keyNamed, KEYS } from "../keys";
import type { Board, Switched } from "../page_data";
import { PIXEL_COLOURS } from "../shared";
import { texts } from "../texts";
import { pinName, type Parts } from "./wiring";

const words = texts.switches;
const KINDS = ["line", "lights", "colour", "pixel", "tone", "key", "mqtt"] as const;
const COLOURS = ["off", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const LED_PINS = ["red", "green", "blue"] as const; // the pins of an LED: bits 0, 1 and 2 of a place
const FIRST = ["red", "green", "blue", "yellow", "cyan"]; // the colours of the first classes

const TONES = [262, 330, 392, 523, 659, 784, 1047, 1319, 1568, 2093]; // hertz: C, E and G, upwards
const OFF = "off";
const NETWORK = { mqtt: "", wifi: "", name: "gestures" }; // options of `build`, and their defaults

/** The choices by the names of classes, which outlive the fields, and are in a project. */
export interface Chosen {
  readonly kind: string;
  readonly at: string; // the pin of the NeoPixel or buzzer
  readonly of: Readonly<Record<string, string>>;
}

type Item = readonly [value: string, text: string];

export class SwitchFields {
  readonly element: HTMLElement;
  private readonly kindChoice = choice("switch-kind", KINDS.map((kind) => [kind, words.kinds[kind]] as const));
  private readonly fields = make("div", { class: "fields" });
  private controls: readonly HTMLSelectElement[] = []; // a list for each class
  private at: HTMLSelectElement; // the pin of the NeoPixel or buzzer
  private readonly network = Object.entries(NETWORK).map(([name, value]) => {
    const control = make("input", { id: `switch-${name}`, maxlength: "63" });
    control.value = value;
    control.onchange = () => this.changed();
    return [name as keyof typeof NETWORK, control] as const;
  });

  constructor(
    private readonly classNames: readonly string[],
    private board: Board,
    private readonly changed: () => void,
    before: Chosen | null = null,
  ) {
    this.kindChoice.onchange = () => this.show(this.board);
    if (before && KINDS.includes(before.kind as (typeof KINDS)[number])) this.kindChoice.value = before.kind;
    this.element = make("div", { class: "switches" }, field(words.title, this.kindChoice), this.fields);
    this.at = this.pinOfOne();
    this.offer();
    if (before?.kind === this.kindChoice.value) this.restore(before);
  }

  get chosen(): Chosen {
    const ofEach = this.controls.map(({ value }, c) => [this.classNames[c]!, value] as const);
    const of = this.kindChoice.value === "mqtt" ? this.network.map(([name, { value }]) => [name, value] as const) : ofEach;
    return { kind: this.kindChoice.value, at: this.at.value, of: Object.fromEntries(of) };
  }

  /** Restore earlier choices, as far as they are possible now. */
  private restore({ at, of }: Chosen): void {
    choose(this.at, at);
    if (this.kindChoice.value === "mqtt") for (const [name, control] of this.network) control.value = of[name] ?? "";
    this.controls.forEach((control, c) => choose(control, of[this.classNames[c]!]));
  }

  /** Show the pins of a board. */
  show(board: Board): void {
    this.board = board;
    this.at = this.pinOfOne();
    this.offer();
    this.changed();
  }

  /** The things that each class switches, as in config.json; none if nothing is switched. Throws an Error for people. */
  get switched(): readonly (readonly Switched[])[] {
    const chosen = this.controls.map(({ value }) => value);
    if (this.kindChoice.value === "lights") return chosen.map((pin) => [Number(pin)]);
    if (this.kindChoice.value === "pixel") {
      const pin = Number(this.at.value);
      return chosen.map((name) => (name in PIXEL_COLOURS ? [[pin, ...PIXEL_COLOURS[name]!]] : []));
    }
    if (this.kindChoice.value === "tone") {
      return chosen.map((hertz) => (hertz === OFF ? [] : [[Number(this.at.value), Number(hertz)]]));
    }
    if (this.kindChoice.value === "key") {
      if (!this.board.keys) throw new Error(words.noKeys(this.board.name));
      return chosen.map(keyNamed).map((key) => (key === undefined ? [] : [[key]]));
    }
    const pins = LED_PINS.map((_, bit) => this.board.lights[bit]!);
    return chosen.map((name) => {
      const bits = COLOURS.indexOf(name as (typeof COLOURS)[number]);
      return pins.filter((_, bit) => (bits >> bit) & 1);
    });
  }

  /** The options of `build` for a report over the network; null: no report. Throws an Error for people. */
  get brokerOptions(): Readonly<Record<string, string>> | null {
    if (this.kindChoice.value !== "mqtt") return null;
    if (!this.board.wifi) throw new Error(words.noRadio(this.board.name));
    const missing = this.network.find(([, { value }]) => !value.trim());
    if (missing) throw new Error(words.missing(words.network[missing[0]]));
    return Object.fromEntries(this.network.map(([name, { value }]) => [name, value.trim()]));
  }

  /** The parts that have to be wired. */
  get parts(): Parts {
    const { lights } = this.board;
    switch (this.kindChoice.value) {
      case "colour":
        return { lights: LED_PINS.map((part, bit) => ({ pin: lights[bit]!, label: words.colours[part] })) };
      case "pixel":
        return { lights: [], pixel: Number(this.at.value) };
      case "tone":
        return { lights: [], buzzer: Number(this.at.value) };
      case "lights":
        return { lights: this.lightOfEach() };
      default:
        return { lights: [] };
    }
  }

  private lightOfEach(): Parts["lights"] {
    const chosen = this.controls.map(({ value }) => Number(value));
    const called = (pin: number): string =>
      this.classNames.filter((_, c) => chosen[c] === pin).join(", ");
    return [...new Set(chosen)].map((pin) => ({ pin, label: called(pin) }));
  }

  private pinOfOne(): HTMLSelectElement {
    const control = choice("switch-at", this.pins());
    control.onchange = this.changed;
    return control;
  }

  private pins(): Item[] {
    return this.board.lights.map((pin) => [String(pin), pinName(this.board, pin)] as const);
  }

  /** Return the choices for a class. */
  private itemsOf(kind: (typeof KINDS)[number]): readonly Item[] {
    if (kind === "lights") return this.pins();
    if (kind === "tone") {
      return [[OFF, words.silent], ...TONES.map((hertz): Item => [String(hertz), words.hertz(hertz)])];
    }
    if (kind === "key") return [[OFF, words.noKey], ...KEYS.map(([key]): Item => [key, words.keys[key] ?? key])];
    const names = kind === "pixel" ? [OFF, ...Object.keys(PIXEL_COLOURS)] : COLOURS;
    return names.map((name) => [name, words.colours[name as keyof typeof words.colours]] as const);
  }

  /** Return a class's first choice. */
  private first(kind: (typeof KINDS)[number], items: readonly Item[], c: number): string {
    if (kind === "lights") return items[c % items.length]![0];
    return (kind === "tone" || kind === "key" ? items[c + 1]?.[0] : FIRST[c]) ?? OFF;
  }

  private offer(): void {
    const kind = this.kindChoice.value as (typeof KINDS)[number];
    const items = this.itemsOf(kind);
    const made = this.classNames.map((name, c) => {
      const control = choice(`switch-${c}`, items);
      control.value = this.first(kind, items, c);
      control.onchange = this.changed;
      return [name, control] as const;
    });
    this.controls = kind === "line" || kind === "mqtt" ? [] : made.map(([, control]) => control);
    this.fields.replaceChildren(
      ...(kind === "pixel" || kind === "tone" ? [field(words.at[kind], this.at)] : []),
      ...(kind === "mqtt" ? this.network.map(([name, control]) => field(words.network[name], control)) : []),
      ...(this.controls.length ? made.map(([name, control]) => field(name, control)) : []),
    );
    this.fields.hidden = !this.fields.children.length;
  }
}

function choose(list: HTMLSelectElement, value: string | undefined): void {
  if ([...list.options].some((each) => each.value === value)) list.value = value!;
}
