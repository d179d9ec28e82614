// A form with a field for each option of a learner; the learner itself defines the allowed values.

import { choice, field, make } from "../dom";
import type { Learner, Option, Parameters, Value } from "../page_data";
import { texts } from "../texts";

export class OptionFields {
  readonly element = make("div", { class: "fields" });
  private controls: readonly [Option, HTMLInputElement | HTMLSelectElement][] = [];

  constructor() {
    this.element.addEventListener("invalid", () => this.unfold(), true);
  }

  /** Unfold the form: a browser does not report a wrong value that is folded away. */
  private unfold(): void {
    const folded = this.element.closest("details");
    if (folded) folded.open = true;
  }

  /** Show the options of a learner; `given` replaces some defaults. */
  show(learner: Learner, given: Parameters): void {
    this.controls = learner.options
      .filter((option) => option.kind !== "tuple")
      .map((option) => [option, control(option, given[option.name] ?? option.default)]);
    this.element.replaceChildren(
      ...this.controls.map(([option, control]) => {
        const help = make("small", { id: `${control.id}-help` }, texts.optionHelp(option.help));
        control.setAttribute("aria-describedby", help.id);
        return field(option.name, control, help);
      }),
    );
  }

  /** Return the options in the form. */
  values(): Parameters {
    return Object.fromEntries(
      this.controls.map(([option, control]) => [option.name, read(option, control.value)]),
    );
  }
}

function control(option: Option, value: Value): HTMLInputElement | HTMLSelectElement {
  const id = `option-${option.name}`;
  if (option.choices.length) {
    const made = choice(id, option.choices.map((each) => [String(each), String(each)]));
    made.value = String(value);
    return made;
  }
  // a default below the range leaves the choice to the learner
  const least = option.low === null ? null : Math.min(option.low, Number(option.default));
  const range: Record<string, string> = least === null ? {} : { min: String(least) };
  if (option.high !== null) range["max"] = String(option.high);
  const step = option.kind === "int" ? "1" : "any";
  return make("input", { id, type: "number", required: true, value: String(value), step, ...range });
}

function read(option: Option, text: string): Value {
  if (option.kind === "bool") return text === "true";
  return option.kind === "str" ? text : Number(text);
}
