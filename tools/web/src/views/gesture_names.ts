// What gestures can be called.

import { isMissing } from "../streams/columns";
import { texts } from "../texts";

export const [FEWEST, MOST] = [2, 5] as const; // classes

/** Throws an Error for people if a gesture beside those others cannot have that name. */
export function checkName(name: string, others: readonly string[]): void {
  if (!name) throw new Error(texts.teach.classes.nameless);
  if (others.includes(name)) throw new Error(texts.teach.classes.twice(name));
  if (isMissing(name)) throw new Error(texts.teach.noName(name));
}

/** A name that none of them has. */
export function freshName(names: readonly string[]): string {
  let number = names.length + 1;
  while (names.includes(texts.teach.classes.fresh(number))) number++;
  return texts.teach.classes.fresh(number);
}
