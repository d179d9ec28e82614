// What was taught, and as what it is changed: each change makes another lesson, so that it can be undone.

import type { Recording } from "./recording";

export interface Lesson {
  readonly classNames: readonly string[];
  readonly recordings: readonly (readonly [recording: Recording, label: number])[];
}

export function withClass({ classNames, recordings }: Lesson, name: string): Lesson {
  return { classNames: [...classNames, name], recordings };
}

export function renamed({ classNames, recordings }: Lesson, label: number, name: string): Lesson {
  return { classNames: classNames.map((each, c) => (c === label ? name : each)), recordings };
}

/** Without a class and its recordings. */
export function withoutClass({ classNames, recordings }: Lesson, gone: number): Lesson {
  const left = recordings.filter(([, label]) => label !== gone);
  return {
    classNames: classNames.filter((_, c) => c !== gone),
    recordings: left.map(([each, label]) => [each, label > gone ? label - 1 : label] as const),
  };
}

export function without({ classNames, recordings }: Lesson, gone: Recording): Lesson {
  return { classNames, recordings: recordings.filter(([each]) => each !== gone) };
}

export function moved({ classNames, recordings }: Lesson, recording: Recording, to: number): Lesson {
  return { classNames, recordings: recordings.map(([each, label]) => [each, each === recording ? to : label] as const) };
}

/** Whether the same is learned of both. */
export function isAlike(one: Lesson, other: Lesson): boolean {
  const [a, b] = [whole(one), whole(other)];
  const isSame = a.length === b.length && a.every(([each, label], i) => each === b[i]![0] && label === b[i]![1]);
  return isSame && one.classNames.length === other.classNames.length;
}

/** The recordings that have samples. */
function whole({ recordings }: Lesson): Lesson["recordings"] {
  return recordings.filter(([{ rows }]) => rows.length);
}
