// A card for each class: its name, which can be changed, its number of samples, its newest recording
// as a curve, the confidence from which it is recognised, and a button to delete it; and a button to
// add a class.

import { choice, make } from "../dom";
import type { Above } from "../learning/lesson";
import { valuesOf, type Recording } from "../learning/recording";
import { texts } from "../texts";
import { FEWEST, MOST } from "./gesture_names";
import { RecordButton, type Recorder } from "./record_button";
import { smallCurve } from "./trace";

const words = texts.teach.classes;
const THRESHOLDS = [0, 50, 60, 70, 80, 90, 95]; // percent

/** The actions on classes. */
export interface ClassActions {
  add(): void;
  rename(label: number, name: string): void;
  remove(label: number): void;
  threshold(label: number, percent: number): void;
  recorder(label: number): Recorder;
}

interface Card {
  readonly element: HTMLElement;
  readonly name: HTMLInputElement;
  readonly record: HTMLButtonElement;
  readonly remove: HTMLButtonElement;
  readonly above: HTMLSelectElement;
  readonly sampleCount: HTMLElement;
  curve: HTMLElement;
  shown?: Recording | undefined; // the recording of the curve
}

export class ClassCards {
  readonly element: HTMLFieldSetElement;
  private readonly list = make("ul", { class: "cards" });
  private readonly more = make("button", { type: "button", id: "add-class", class: "plain" }, words.add);
  private cards: Card[] = [];
  private busy = false;

  constructor(private readonly actions: ClassActions) {
    this.more.onclick = () => actions.add();
    this.element = make("fieldset", { id: "classes" }, make("legend", {}, words.title), this.list, this.more);
  }

  /** While busy, allow no changes to classes; recording stays possible. */
  lock(busy: boolean): void {
    this.busy = busy;
    this.enable();
  }

  private enable(): void {
    this.more.disabled = this.busy;
    for (const { name, remove, above } of this.cards) {
      name.disabled = above.disabled = this.busy;
      remove.disabled = this.busy || this.cards.length <= FEWEST;
    }
  }

  /** Show cards for these names and thresholds. */
  show(names: readonly string[], thresholds: Above): void {
    if (names.length !== this.cards.length) {
      this.cards = names.map((_, label) => this.card(label));
      this.list.replaceChildren(...this.cards.map(({ element }) => element));
    }
    this.cards.forEach(({ name, record, remove, above }, label) => {
      name.value = names[label]!;
      setThreshold(above, thresholds[label] ?? 0);
      above.setAttribute("aria-label", words.threshold(names[label]!));
      name.setAttribute("aria-label", words.name(label + 1));
      record.setAttribute("aria-description", names[label]!);
      remove.setAttribute("aria-label", words.remove(names[label]!));
    });
    this.enable();
    this.more.hidden = names.length >= MOST;
  }

  /** Show the samples of each class; a recording that still grows is drawn when it has ended. */
  count(counts: readonly number[], recordings: readonly Recording[], growing: number | null): void {
    this.cards.forEach((card, label) => {
      card.sampleCount.textContent = words.samples(counts[label] ?? 0);
      const ended = growing === null ? recordings : recordings.slice(0, -1);
      const newest = ended.filter((each) => each.label === label && each.rows.length).at(-1);
      if (newest === card.shown) return;
      const curve = smallCurve(newest ? newest.readings.map(valuesOf) : []);
      card.curve.replaceWith(curve);
      [card.curve, card.shown] = [curve, newest];
    });
  }

  /** Put the cursor into the name of the newest card. */
  focusLast(): void {
    this.cards.at(-1)?.name.select();
  }

  private card(label: number): Card {
    const name = make("input", { maxlength: "40" });
    name.onchange = () => this.actions.rename(label, name.value.trim());
    const remove = make("button", { type: "button", class: "remove" }, "✕");
    remove.onclick = ({ detail }) => {
      if (detail < 2) this.actions.remove(label); // a double click means one card
    };
    const record = new RecordButton(this.actions.recorder(label)).element;
    const above = choice(`threshold-${label}`, THRESHOLDS.map((each) => [String(each), words.above(each)]));
    above.title = words.howToThreshold;
    above.onchange = () => this.actions.threshold(label, Number(above.value));
    const curve = smallCurve([]);
    const sampleCount = make("small", {});
    const element = make("li", {}, curve, sampleCount, name, remove, above, record);
    return { element, name, record, remove, above, sampleCount, curve };
  }
}

/** Choose a threshold; a project may have one that is not on the list. */
function setThreshold(list: HTMLSelectElement, percent: number): void {
  const value = String(percent);
  if (![...list.options].some((each) => each.value === value)) list.add(new Option(words.above(percent), value));
  list.value = value;
}
