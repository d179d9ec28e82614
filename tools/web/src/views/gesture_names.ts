// The names that gestures can have.

import { isMissing } from "../streams/columns";
import { texts } from "../texts";

export const [FEWEST, MOST] = [2, 5] as const; // classes

/** Throw an Error for people if a gesture cannot have that name, given the names of the others. */
export function checkName(name: string, others: readonly string[]): void {
  if (!name) throw new Error(texts.teach.classes.nameless);
  if (others.includes(name)) throw new Error(texts.teach.classes.twice(name));
  if (isMissing(name)) throw new Error(texts.teach.noName(name));
}

/** Return a name that is not among these. */
export function freshName(names: readonly string[]): string {
  let number = names.length + 1;
  while (names.includes(texts.teach.classes.fresh(number))) number++;
  return texts.teach.classes.fresh(number);
}
