// What can be done, or in words why it cannot.

import { make } from "../dom";

/** The elements that `made` makes; of an Error for people, its message. */
export function orWhyNot(made: () => readonly HTMLElement[]): readonly HTMLElement[] {
  try {
    return made();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [make("p", { class: "bad", role: "alert" }, why)];
  }
}
