// A button for each name, with how many samples it has, and one for none: what is shown now.

import { make } from "../dom";
import { texts } from "../texts";

const words = texts.teach;

export class LabelButtons {
  readonly element = make("div", { class: "labels", role: "group", "aria-label": words.labels });

  /** `pressed` is told the name's number, null for none, and whether it was pressed before. */
  constructor(private readonly pressed: (label: number | null, again: boolean) => void) {}

  /** Show buttons for those names, none of them pressed. */
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

  /** Show which one is pressed; null: the one for none. */
  press(label: number | null): void {
    const buttons = [...this.element.children];
    const pressed = label ?? buttons.length - 1;
    buttons.forEach((each, c) => each.setAttribute("aria-pressed", String(c === pressed)));
  }

  /** Show the samples of each name. */
  count(counts: readonly number[]): void {
    this.element.querySelectorAll(".count").forEach((each, c) => {
      each.textContent = String(counts[c] ?? 0);
    });
  }
}
