// A button for each name, with its number of samples, and one for none: the class that is shown now.

import { make } from "../dom";
import { texts } from "../texts";

const words = texts.teach;

export class LabelButtons {
  readonly element = make("div", { class: "labels", role: "group", "aria-label": words.labels });

  /** `pressed` gets the name's number, null for none, and whether the button was already pressed. */
  constructor(private readonly pressed: (label: number | null, again: boolean) => void) {}

  /** Show buttons for these names, none of them pressed. */
  offer(names: readonly string[]): void {
    this.element.replaceChildren(...[...names, null].map((name, c) => this.button(name, c)));
  }

  private button(name: string | null, c: number): HTMLElement {
    const text = make("span", {}, name ?? words.predict);
    const count = name === null ? [] : [make("small", { class: "count" }, "0")];
    const button = make("button", { type: "button", "aria-pressed": "false" }, text, ...count);
    const label = name === null ? null : c;
    button.onclick = () =>
      this.pressed(label, label !== null && button.getAttribute("aria-pressed") === "true");
    return button;
  }

  /** Show which button is pressed; null: the button for none. */
  press(label: number | null): void {
    const buttons = [...this.element.children];
    const pressed = label ?? buttons.length - 1;
    buttons.forEach((each, c) => each.setAttribute("aria-pressed", String(c === pressed)));
  }

  /** Show the number of samples of each name. */
  count(counts: readonly number[]): void {
    this.element.querySelectorAll(".count").forEach((each, c) => {
      each.textContent = String(counts[c] ?? 0);
    });
  }
}
