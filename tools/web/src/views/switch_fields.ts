// What each class switches on the board: a light of its own, or the colour of one LED.

import { choice, field, make } from "../dom";
import type { Board } from "../page_data";
import { texts } from "../texts";
import { pinName, type Light } from "./wiring";

const words = texts.switches;
const KINDS = ["line", "lights", "colour"] as const;
const COLOURS = ["off", "red", "green", "yellow", "blue", "magenta", "cyan", "white"] as const;
const PARTS = ["red", "green", "blue"] as const; // of an LED, a pin each: bits 0, 1 and 2 of a place
const FIRST = [1, 2, 4, 3, 6]; // the colours of the first classes

export class SwitchFields {
  readonly element: HTMLElement;
  private readonly kind = choice("switch-kind", KINDS.map((kind) => [kind, words.kinds[kind]] as const));
  private readonly fields = make("div", { class: "fields" });
  private controls: readonly HTMLSelectElement[] = [];

  constructor(
    private readonly classNames: readonly string[],
    private board: Board,
    private readonly changed: () => void,
  ) {
    this.kind.onchange = () => this.show(this.board);
    this.element = make("div", { class: "switches" }, field(words.title, this.kind), this.fields);
    this.offer();
  }

  /** On another board, there are other pins. */
  show(board: Board): void {
    this.board = board;
    this.offer();
    this.changed();
  }

  /** The pins of each class; none where nothing is switched. */
  get pins(): readonly (readonly number[])[] {
    const chosen = this.controls.map(({ value }) => Number(value));
    if (this.kind.value === "lights") return chosen.map((pin) => [pin]);
    const parts = PARTS.map((_, bit) => this.board.lights[bit]!);
    return chosen.map((colour) => parts.filter((_, bit) => (colour >> bit) & 1));
  }

  /** What has to be wired. */
  get lights(): readonly Light[] {
    if (this.kind.value === "line") return [];
    if (this.kind.value === "colour") {
      return PARTS.map((part, bit) => ({ pin: this.board.lights[bit]!, told: words.colours[part] }));
    }
    const pins = [...new Set(this.pins.flat())];
    const called = (pin: number): string =>
      this.classNames.filter((_, c) => this.pins[c]!.includes(pin)).join(", ");
    return pins.map((pin) => ({ pin, told: called(pin) }));
  }

  private offer(): void {
    const { kind, board } = this;
    const isColour = kind.value === "colour";
    const items: (readonly [string, string])[] = isColour
      ? COLOURS.map((name, bits) => [String(bits), words.colours[name]] as const)
      : board.lights.map((pin) => [String(pin), pinName(board, pin)] as const);
    const made = this.classNames.map((name, c) => {
      const control = choice(`switch-${c}`, items);
      control.value = String(isColour ? (FIRST[c] ?? 0) : board.lights[c % board.lights.length]);
      control.onchange = this.changed;
      return [name, control] as const;
    });
    this.controls = kind.value === "line" ? [] : made.map(([, control]) => control);
    this.fields.replaceChildren(
      ...(this.controls.length ? made.map(([name, control]) => field(name, control)) : []),
    );
    this.fields.hidden = !this.controls.length;
  }
}
