// Elements of the page, or a message why they cannot be made.

import { make } from "../dom";

/** Return the elements that `made` makes, or the message of its Error for people. */
export function orWhyNot(made: () => readonly HTMLElement[]): readonly HTMLElement[] {
  try {
    return made();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return [make("p", { class: "bad", role: "alert" }, why)];
  }
}
