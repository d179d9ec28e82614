// A button that opens the file of a project.

import { make } from "../dom";
import { texts } from "../texts";

export class OpenProject {
  readonly button = make("button", { type: "button", class: "plain" }, texts.teach.open);
  readonly file = make("input", { type: "file", id: "project", accept: ".mshrub,.toml", hidden: true });

  /** `chosen` gets the file. */
  constructor(chosen: (file: File) => void) {
    this.button.onclick = () => this.file.click();
    this.file.onchange = () => {
      const file = this.file.files?.[0];
      this.file.value = ""; // otherwise the same file is no change
      if (file) chosen(file);
    };
  }
}
