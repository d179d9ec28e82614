// The anomaly score of a board, and a button that marks the present as normal.

import { make, panel } from "../dom";
import type { BoardLink } from "../link/board_link";
import { texts } from "../texts";

const words = texts.anomalies;

export class Anomalies {
  readonly element: HTMLElement;
  private readonly now = make("p", { id: "anomaly" });
  private readonly normal = make("button", { type: "button", id: "normal" }, words.normal);
  private readonly shown = make("p", { id: "normal-told", role: "status" });
  private link: BoardLink | null = null;

  /** `failed` gets the reason if the board refuses. */
  constructor(private readonly failed: (error: unknown) => void) {
    this.normal.onclick = () => void this.tell().catch(this.failed);
    this.element = panel(words.title, this.now, this.normal, this.shown);
    this.element.hidden = true;
  }

  /** Begin with a board; the panel is hidden if the board has no score. */
  begin(link: BoardLink): void {
    this.link = link.configuration.anomaly ? link : null;
    this.element.hidden = this.link === null;
    this.shown.textContent = "";
  }

  /** Read the score from the board, and show it. */
  async show(): Promise<void> {
    if (!this.link) return;
    const { score, threshold, alarms } = await this.link.anomaly();
    this.now.textContent = words.now(score, threshold, alarms);
  }

  private async tell(): Promise<void> {
    const left = await this.link?.thisIsNormal();
    this.shown.textContent = left === undefined ? words.tooOld : words.isNormal(left);
  }
}
