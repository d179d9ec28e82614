// The exam: the class to show now, and the predictions.

import { make } from "../dom";
import type { Exam } from "../learning/exam";
import { percent, texts } from "../texts";
import { confusionMatrix } from "./confusion_matrix";
import { mistaken } from "./unseen_panel";

const words = texts.teach.exam;

export class ExamPanel {
  readonly element: HTMLElement;
  readonly button = make("button", { type: "button", id: "exam", class: "plain" }, words.begin);
  private readonly asked = make("p", { class: "asked", role: "status", id: "exam-asks" });
  private readonly result = make("div", { id: "exam-result", class: "small" });

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
    const { balanced, counts } = exam;
    this.asked.textContent = words.balanced(percent(balanced));
    const lines = mistaken(counts, classNames).map((text) => make("p", { class: "told" }, text));
    this.result.replaceChildren(confusionMatrix(classNames, counts), ...lines);
  }

  clear(): void {
    this.asked.textContent = "";
    this.result.replaceChildren();
  }
}
