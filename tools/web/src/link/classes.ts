// Classes that get their names on the board: request 15 of the link.

import { CLASS_REQUESTS } from "../shared";
import type { BoardLink } from "./board_link";

const { TELL, NAME, RENAME, MERGE, FORGET, DISMISS } = CLASS_REQUESTS;
const HEAD = 9; // bytes before the name
const NAMED = 1;

/** A class, and the novel samples on the board. */
export interface ClassState {
  readonly number: number;
  readonly state: number; // 1: it has a name
  readonly standsFor: number; // the class that it was merged into, or itself
  readonly novel: number; // similar novel samples that wait for a name
  readonly collect: number; // novel samples that are worth a query
  readonly changes: number; // changes of the names so far
  readonly name: string;
}

export class Classes {
  private states: ClassState[] = [];

  constructor(private readonly link: BoardLink) {}

  /** The names of all classes; a merged class has the name of the class that it was merged into. */
  get names(): string[] {
    return this.states.map((state, i) => this.states[state.standsFor]!.name || `spare ${i + 1}`);
  }

  /** The classes that have a name of their own. */
  get shown(): number[] {
    return this.states.filter((each) => each.state === NAMED).map((each) => each.number);
  }

  /** Read the novel samples; read all names if one has changed. */
  async refresh(): Promise<ClassState> {
    const now = await this.ask(TELL, 0);
    if (this.states[0]?.changes !== now.changes) {
      const states = [];
      for (let c = 0; c < this.link.welcome.classes; c++) states.push(await this.ask(TELL, c));
      this.states = states;
    }
    return now;
  }

  /** Reduce a confusion matrix of all classes to the shown ones; add up merged classes. */
  fold(counts: readonly number[]): number[] {
    const { shown, states } = this;
    const all = states.length;
    const folded = new Array<number>(counts.length && shown.length ** 2).fill(0);
    counts.forEach((count, i) => {
      const [label, predicted] = [Math.floor(i / all), i % all].map((c) =>
        shown.indexOf(states[c]!.standsFor),
      );
      if (label! >= 0 && predicted! >= 0) folded[label! * shown.length + predicted!]! += count;
    });
    return folded;
  }

  /** Give the novel samples the class of this name, a new class if there is none. */
  async name(name: string): Promise<void> {
    await this.ask(NAME, ...bytesOf(name));
  }

  async rename(c: number, name: string): Promise<void> {
    await this.ask(RENAME, c, ...bytesOf(name));
  }

  async merge(c: number, into: number): Promise<void> {
    await this.ask(MERGE, c, into);
  }

  async forget(c: number): Promise<void> {
    await this.ask(FORGET, c);
  }

  /** Drop the novel samples, as they are no new class. */
  async dismiss(): Promise<void> {
    await this.ask(DISMISS);
  }

  private async ask(...payload: number[]): Promise<ClassState> {
    const answer = await this.link.about(Uint8Array.from(payload));
    const [number, state, standsFor, novel, collect] = answer;
    const changes = answer[7]! | (answer[8]! << 8);
    const name = new TextDecoder().decode(answer.subarray(HEAD));
    return { number, state, standsFor, novel, collect, changes, name } as ClassState;
  }
}

function bytesOf(name: string): Uint8Array {
  return new TextEncoder().encode(name);
}
