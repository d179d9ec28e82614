// Label queries of a board: the newest one, and a button for each class.

import { make, panel } from "../dom";
import type { BoardLink } from "../link/board_link";
import { texts } from "../texts";

const words = texts.queries;
const REACTION = 400; // milliseconds: an earlier press is for the previous query

export class Queries {
  readonly element: HTMLElement;
  private readonly asked = make("p", { id: "query", role: "status" });
  private readonly many = make("p", { id: "query-count" });
  private readonly answers = make("div", { class: "labels", role: "group", id: "query-labels" });
  private link: BoardLink | null = null;
  private newest = 0; // the sample that waits, 0: none
  private shown = 0; // queries so far
  private changed = 0; // when the newest query arrived
  private answered = 0; // the newest answered query; the board may not have the answer yet

  /** `failed` gets the reason for a refused answer. */
  constructor(private readonly failed: (error: unknown) => void) {
    this.answers.setAttribute("aria-label", words.answers);
    this.element = panel(words.title, this.asked, this.answers, this.many);
    this.element.hidden = true;
  }

  /** Begin with a board; the panel is hidden if the board queries no labels. */
  begin(link: BoardLink): void {
    this.link = link.configuration.queries ? link : null;
    this.element.hidden = this.link === null;
    this.newest = this.shown = this.answered = 0;
  }

  /** Offer the classes that can be an answer: numbers and names. */
  offer(classes: readonly (readonly [number, string])[]): void {
    const buttons = classes.map(([label, name]) => {
      const button = make("button", { type: "button" }, name);
      button.onclick = () => void this.answer(label);
      return button;
    });
    this.answers.replaceChildren(...buttons);
  }

  /** Read the query from the board, and show it; `called` returns a class's name. */
  async show(called: (label: number) => string): Promise<void> {
    if (!this.link) return;
    const { link } = this;
    const query = await link.query();
    const id = query.sample_id === this.answered ? 0 : query.sample_id;
    if (id !== this.newest) {
      this.newest = id;
      this.changed = performance.now();
      if (id) this.shown++;
    }
    this.asked.textContent = id ? words.asked(id, called(query.label)) : words.none;
    this.answers.hidden = !id;
    this.many.textContent = words.many(query.asked, query.seen);
  }

  private async answer(label: number): Promise<void> {
    const { link, newest } = this;
    if (!link || !newest) return;
    if (this.shown > 1 && performance.now() - this.changed < REACTION) {
      this.failed(new Error(words.changed(newest)));
      return;
    }
    this.newest = 0;
    this.answered = newest;
    this.answers.hidden = true;
    this.asked.textContent = words.none;
    await link.label(newest, label).catch(this.failed);
  }
}
