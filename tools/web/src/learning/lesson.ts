// A lesson and its changes: each change makes another lesson, so that it can be undone.

import type { Recording } from "./recording";

/** For each class, the confidence in percent below which it is not recognised; 0 if missing. */
export type Above = readonly number[];

export interface Lesson {
  readonly classNames: readonly string[];
  readonly above: Above;
  readonly recordings: readonly (readonly [recording: Recording, label: number])[];
}

export function withClass(lesson: Lesson, name: string): Lesson {
  return { ...lesson, classNames: [...lesson.classNames, name] };
}

export function renamed(lesson: Lesson, label: number, name: string): Lesson {
  return { ...lesson, classNames: lesson.classNames.map((each, c) => (c === label ? name : each)) };
}

/** Return the lesson with a class that is recognised from `percent` on. */
export function withThreshold(lesson: Lesson, label: number, percent: number): Lesson {
  return { ...lesson, above: lesson.classNames.map((_, c) => (c === label ? percent : (lesson.above[c] ?? 0))) };
}

/** Return the lesson without a class and its recordings. */
export function withoutClass({ classNames, above, recordings }: Lesson, gone: number): Lesson {
  const left = recordings.filter(([, label]) => label !== gone);
  return {
    classNames: classNames.filter((_, c) => c !== gone),
    above: above.filter((_, c) => c !== gone),
    recordings: left.map(([each, label]) => [each, label > gone ? label - 1 : label] as const),
  };
}

export function without(lesson: Lesson, gone: Recording): Lesson {
  return { ...lesson, recordings: lesson.recordings.filter(([each]) => each !== gone) };
}

export function moved(lesson: Lesson, recording: Recording, to: number): Lesson {
  const recordings = lesson.recordings.map(([each, label]) => [each, each === recording ? to : label] as const);
  return { ...lesson, recordings };
}

/** Return the votes, 0..255, that a class needs, as in `switch_above` on a board. */
export function votesOf(percent: number | undefined): number {
  return Math.ceil(((percent ?? 0) * 255) / 100);
}

/** Return whether two lessons teach the same. */
export function isAlike(one: Lesson, other: Lesson): boolean {
  const [a, b] = [whole(one), whole(other)];
  const isSame = a.length === b.length && a.every(([each, label], i) => each === b[i]![0] && label === b[i]![1]);
  return isSame && one.classNames.length === other.classNames.length;
}

/** Return the recordings that have samples. */
function whole({ recordings }: Lesson): Lesson["recordings"] {
  return recordings.filter(([{ rows }]) => rows.length);
}
