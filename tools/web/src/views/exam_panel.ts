// The exam: what to show now, and what of it was recognised.

import { make, table } from "../dom";
import type { Exam } from "../learning/exam";
import { percent, texts } from "../texts";

const words = texts.teach.exam;

export class ExamPanel {
  readonly element: HTMLElement;
  readonly button = make("button", { type: "button", id: "exam", class: "plain" }, words.begin);
  private readonly asked = make("p", { class: "asked", role: "status", id: "exam-asks" });
  private readonly result = make("div", { id: "exam-result" });

  constructor(begin: () => void) {
    this.button.onclick = () => {
      this.clear();
      begin();
    };
    this.element = make("div", { class: "exam" }, this.asked, this.result);
  }

  ask(name: string): void {
    const text = words.show(name);
    if (this.asked.textContent !== text) this.asked.textContent = text;
  }

  end(exam: Exam, classNames: readonly string[]): void {
    const { classes, balanced } = exam.result;
    this.asked.textContent = words.balanced(percent(balanced));
    const rows = classNames.map((name, c) => [name, percent(classes[c]!)]);
    this.result.replaceChildren(table([words.name, words.right], rows));
  }

  clear(): void {
    this.asked.textContent = "";
    this.result.replaceChildren();
  }
}
