// A dialog before something unsaved would be lost.

import { make } from "../dom";
import { texts } from "../texts";

const words = texts.loss;

export class LossDialog {
  private readonly text = make("p", { id: "loss-text" }, words.text);
  private readonly lose = make("button", { type: "button", id: "lose", class: "plain" }, words.lose);
  private readonly keep = make("button", { type: "button", id: "keep" }, words.keep);
  readonly element = make(
    "dialog",
    { id: "loss", class: "panel", "aria-labelledby": "loss-text" },
    this.text,
    make("div", { class: "labels" }, this.keep, this.lose),
  );

  /** Whether it may be lost; leaving it, as by Escape, keeps it. */
  ask(): Promise<boolean> {
    return new Promise((answer) => {
      this.keep.onclick = () => this.element.close();
      this.lose.onclick = () => this.element.close("lose");
      this.element.onclose = () => {
        // the event of the dialog before may come late, when this one is open already
        if (!this.element.open) answer(this.element.returnValue === "lose");
      };
      this.element.returnValue = "";
      this.element.showModal();
    });
  }
}
