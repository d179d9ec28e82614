// The names of gestures in the text that the user writes.

import { isMissing } from "../streams/columns";
import { texts } from "../texts";

const MOST_CLASSES = 5;

/** The names between commas. */
export function split(text: string): string[] {
  return text.split(",").map((name) => name.trim()).filter(Boolean);
}

/** The names, two to five different ones. Throws an Error for people if they are not. */
export function namesIn(text: string): string[] {
  const names = split(text);
  if (names.length < 2 || names.length > MOST_CLASSES || new Set(names).size !== names.length) {
    throw new Error(texts.teach.wrongNames(MOST_CLASSES));
  }
  const none = names.find(isMissing);
  if (none !== undefined) throw new Error(texts.teach.noName(none));
  return names;
}
