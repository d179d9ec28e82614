// How many samples of each class were predicted as each class.

import { make, table } from "../dom";
import { count, texts } from "../texts";

/** Make the matrix as a table; the larger a cell's share of its row, the stronger its background. */
export function confusionMatrix(classes: readonly string[], counts: readonly number[]): HTMLElement {
  if (!counts.length) return make("p", {}, texts.confusion.tooMany);
  const rows = classes.map((name, label) => {
    const row = counts.slice(label * classes.length, (label + 1) * classes.length);
    const all = row.reduce((a, b) => a + b, 0);
    return [name, ...row.map((n, prediction) => cell(n, all, label === prediction))];
  });
  const made = table(["", ...classes], rows);
  made.prepend(make("caption", {}, texts.confusion.caption));
  return make("div", { class: "wide", tabindex: "0" }, made);
}

function cell(n: number, all: number, right: boolean): HTMLElement {
  const made = make("span", { class: right ? "cell right" : "cell" }, count(n));
  made.style.setProperty("--part", `${all ? Math.round((100 * n) / all) : 0}%`);
  return made;
}
