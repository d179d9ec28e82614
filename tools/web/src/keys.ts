// The keys that a class can press, by their names and numbers in tools/microshrub_tools/board/keyboard_keys.py.

type Key = readonly [name: string, usage: number];

const from = (first: number, names: readonly string[]): Key[] => names.map((name, i) => [name, first + i]);

/** As they are offered, the likeliest first. */
export const KEYS: readonly Key[] = [
  ["Space", 44],
  ...from(79, ["ArrowRight", "ArrowLeft", "ArrowDown", "ArrowUp"]),
  ...from(40, ["Enter", "Escape", "Backspace", "Tab"]),
  ["PageUp", 75],
  ["PageDown", 78],
  ...from(4, [..."abcdefghijklmnopqrstuvwxyz"]),
  ...from(30, [..."1234567890"]),
];

export const keyNamed = (name: string): number | undefined => KEYS.find(([each]) => each === name)?.[1];
export const nameOfKey = (usage: number): string => KEYS.find(([, each]) => each === usage)![0];
