// The recognised class, large, and the votes for each class.

import { make } from "../dom";
import { votesOf, type Above } from "../learning/lesson";
import { texts } from "../texts";

const MOST = 255; // votes
const QUIET = 3000; // milliseconds between two answers for a screen reader

export class Answer {
  readonly element: HTMLElement;
  private readonly predicted = make("p", { class: "said", id: "said" });
  private readonly unsure = make("p", { class: "unsure", id: "unsure" });
  private readonly bars = make("ul", { class: "bars", id: "bars" });
  private readonly spoken = make("p", { class: "unseen", role: "status", id: "spoken" });
  private names: readonly string[] = [];
  private above: Above = [];
  private rows: { readonly bar: HTMLElement; readonly share: HTMLElement }[] = [];
  private quietUntil = 0;
  private later = 0; // a timer

  constructor() {
    this.element = make("div", { class: "answer" }, this.predicted, this.unsure, this.bars, this.spoken);
  }

  /** Start with these classes. */
  begin(names: readonly string[], above: Above): void {
    [this.names, this.above] = [names, above];
    this.rows = names.map(() => ({ bar: make("span", {}), share: make("span", { class: "share" }) }));
    const items = this.rows.map(({ bar, share }, c) =>
      make("li", {}, make("span", {}, names[c]!), make("span", { class: "level" }, bar), share),
    );
    this.bars.replaceChildren(...items);
    this.show(null, [], []);
  }

  /** Show an answer. `set` has the true class in nine of ten answers; an answer with several classes is unsure. */
  show(predicted: number | null, votes: readonly number[], set: readonly number[]): void {
    const below = predicted !== null && (votes[predicted] ?? 0) < votesOf(this.above[predicted]);
    const name = predicted === null || below ? "" : this.names[predicted]!;
    const empty = below ? texts.teach.below(this.names[predicted]!, this.above[predicted]!) : texts.teach.nothingYet;
    this.rows.forEach(({ bar, share }, c) => {
      const percent = Math.round((100 * (votes[c] ?? 0)) / MOST);
      bar.style.width = `${percent}%`;
      bar.classList.toggle("first", c === predicted);
      share.textContent = `${percent} %`;
    });
    const unsure = set.length > 1 && !below ? texts.teach.unsure(set.map((c) => this.names[c]!)) : "";
    if (this.unsure.textContent !== unsure) this.unsure.textContent = unsure;
    this.predicted.classList.toggle("empty", !name);
    if (this.predicted.textContent !== (name || empty)) {
      this.predicted.textContent = name || empty;
      this.speak(name);
    }
  }

  /** Give screen readers a new answer, with pauses; of the answers in a pause, the last one. */
  private speak(name: string): void {
    const now = performance.now();
    clearTimeout(this.later);
    if (now < this.quietUntil) {
      this.later = window.setTimeout(() => this.speak(name), this.quietUntil - now);
    } else if (name && name !== this.spoken.textContent) {
      this.quietUntil = now + QUIET;
      this.spoken.textContent = name;
    }
  }
}
