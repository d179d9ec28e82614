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

  /** Ask whether unsaved data may be lost; leaving the dialog, as by Escape, keeps them. */
  ask(): Promise<boolean> {
    return new Promise((answer) => {
      this.keep.onclick = () => this.element.close();
      this.lose.onclick = () => this.element.close("lose");
      this.element.onclose = () => {
        // the previous dialog's event may come late, when this dialog is already open
        if (!this.element.open) answer(this.element.returnValue === "lose");
      };
      this.element.returnValue = "";
      this.element.showModal();
    });
  }
}
