// The keys that a class can press.

import { KEY_NUMBERS } from "./shared";

const LIKELY = "Space ArrowRight ArrowLeft ArrowDown ArrowUp Enter Escape Backspace Tab PageUp PageDown".split(" ");

/** Names and numbers of the offered keys, the likeliest first. */
export const KEYS = [...LIKELY, ..."abcdefghijklmnopqrstuvwxyz1234567890"].map((name) => [name, KEY_NUMBERS[name]!] as const);

export const keyNamed = (name: string): number | undefined => KEYS.find(([each]) => each === name)?.[1];
export const nameOfKey = (usage: number): string => KEYS.find(([, each]) => each === usage)![0];
