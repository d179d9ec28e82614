// Recordings as cards: a curve each, to play, to delete, or to move to another class.

import { make } from "../dom";
import { valuesOf, type Recording } from "../learning/recording";
import { texts } from "../texts";
import { smallCurve } from "./trace";

const words = texts.teach.cards;

/** The actions on a recording. */
export interface CardActions {
  play(recording: Recording): void;
  remove(recording: Recording): void;
  move(recording: Recording, label: number): void;
}

export class RecordingCards {
  readonly element: HTMLElement;
  private readonly list = make("ul", { class: "cards", id: "cards" });
  private readonly shown = new Map<Recording, HTMLElement>();

  constructor(private readonly actions: CardActions) {
    const title = make("h3", { id: "cards-title" }, words.title);
    this.list.setAttribute("aria-labelledby", title.id);
    this.element = make("div", { hidden: true }, title, make("p", {}, words.lead), this.list);
  }

  /** Show the recordings that have samples; one that still grows is drawn again when it has ended. */
  show(recordings: readonly Recording[], classNames: readonly string[], growing: number | null): void {
    const whole = recordings.filter(({ rows }) => rows.length);
    this.element.hidden = !whole.length;
    for (const [recording, card] of this.shown) {
      if (whole.includes(recording)) continue;
      card.remove();
      this.shown.delete(recording);
    }
    whole.forEach((recording, i) => {
      const grows = growing !== null && recording === recordings.at(-1);
      const text = grows ? words.growing : words.samples(recording.rows.length);
      const key = JSON.stringify([i, text, classNames]);
      let card = this.shown.get(recording);
      if (card?.dataset["key"] !== key) {
        const made = this.card(recording, classNames, i + 1, text, grows);
        made.dataset["key"] = key;
        card?.remove();
        this.shown.set(recording, (card = made));
      }
      card.querySelector("select")!.value = String(recording.label);
      const there = this.list.children[i] ?? null;
      if (there !== card) this.list.insertBefore(card, there);
    });
  }

  private card(
    recording: Recording,
    classNames: readonly string[],
    number: number,
    text: string,
    grows: boolean,
  ): HTMLElement {
    const options = classNames.map((name, c) => make("option", { value: String(c) }, name));
    const which = make("select", { "aria-label": words.move(number) }, ...options);
    which.value = String(recording.label);
    which.onchange = () => this.actions.move(recording, Number(which.value));
    const play = make("button", { type: "button", class: "play", "aria-label": words.play(number) }, "▶");
    play.onclick = () => this.actions.play(recording);
    const remove = make(
      "button",
      { type: "button", class: "remove", "aria-label": words.remove(number) },
      "✕",
    );
    remove.onclick = ({ detail }) => {
      if (detail < 2) this.actions.remove(recording); // a double click means one card, and another has its place by then
    };
    const curve = smallCurve(grows ? [] : recording.readings.map(valuesOf));
    return make("li", {}, curve, make("small", {}, text), which, play, remove);
  }
}
