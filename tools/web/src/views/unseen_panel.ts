// The accuracy on unseen recordings, and the classes that are mistaken for each other.

import { make } from "../dom";
import { alike } from "../learning/mistakes";
import type { Figures, Standing } from "../learning/unseen";
import { texts, wholePercent } from "../texts";
import { confusionMatrix } from "./confusion_matrix";

const words = texts.teach.unseen;

export class UnseenPanel {
  private readonly text = make("div", { id: "unseen", role: "status" });
  private readonly matrix = make("div", { id: "unseen-matrix", class: "small" });
  readonly element = make("div", {}, this.text, this.matrix);
  private shown = "";

  show(standing: Standing, classNames: readonly string[], taught: number): void {
    const counts = standing.state === "known" ? countsOf(standing.figures) : null;
    const lines = linesOf(standing, classNames, taught);
    const shown = JSON.stringify([lines, counts && [classNames, counts]]);
    if (shown === this.shown) return; // no text is read out twice
    this.shown = shown;
    this.text.replaceChildren(
      ...lines.map((text, i) => make("p", { class: counts && !i ? "figure" : "told" }, text)),
    );
    this.matrix.replaceChildren(...(counts ? [confusionMatrix(classNames, counts)] : []));
  }
}

/** Return the lines of a standing; `taught` is the number of taught classes. */
function linesOf(standing: Standing, names: readonly string[], taught: number): string[] {
  switch (standing.state) {
    case "nothing":
      return [];
    case "more": {
      const { classes } = standing;
      return [classes.length === taught ? words.all : words.more(classes.map((c) => names[c]!))];
    }
    case "failed":
      return [words.failed(standing.why)];
    case "known":
      return [headline(standing.figures), ...mistaken(countsOf(standing.figures), names)];
    default:
      return [words[standing.state]];
  }
}

export function headline(figures: Figures): string {
  return words.figure(shareOf(figures));
}

/** Return the share of right predictions, next to the share for guessing. */
export function shareOf({ draws, samples, right, guessed }: Figures): string {
  const each = Math.round(samples / draws);
  return words.share(wholePercent(right / samples), each, wholePercent(guessed / samples));
}

/** Return the counts of predictions in the mean of a draw. */
function countsOf({ draws, counts }: Figures): number[] {
  return counts.map((n) => Math.round(n / draws));
}

/** Return texts on the classes that look alike. */
export function mistaken(counts: readonly number[], names: readonly string[]): string[] {
  return alike(counts).map(({ pair: [a, b], mistaken: some, samples }) =>
    words.alike(names[a]!, names[b]!, some, samples),
  );
}
