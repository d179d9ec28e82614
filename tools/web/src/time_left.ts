// How long a piece of work will take, in words.

import { texts } from "./texts";

const SOON = 5; // seconds that are not worth a text

/** Return seconds in words; "" for few. */
export function inWords(seconds: number): string {
  if (!(seconds >= SOON) || seconds === Infinity) return "";
  if (seconds < 90) return texts.playground.seconds(Math.round(seconds));
  if (seconds < 90 * 60) return texts.playground.minutes(Math.round(seconds / 60));
  return texts.playground.hours(Math.round(seconds / 3600));
}

/** Estimates the time left for work that began now, from the share that is done. */
export class TimeLeft {
  private readonly begin = performance.now();

  words(share: number): string {
    const spent = (performance.now() - this.begin) / 1000;
    return inWords(share > 0 ? (spent * (1 - share)) / share : 0);
  }
}
