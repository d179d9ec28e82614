// The page's texts, in the language of ?lang= in its address, or in the first of the browser's
// languages that the page has.

import { de } from "./texts/de";
import { en } from "./texts/en";

export type Texts = typeof en;

const all: Readonly<Record<string, Texts>> = { en, de };

/** Each language's own name, with its code in the address. */
export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
] as const;

/** Return the requested language; a worker gets it from the page as its name. */
function asked(): string | null {
  if (typeof document === "undefined") return (globalThis as { name?: string }).name ?? null;
  return new URLSearchParams(location.search).get("lang");
}

const { navigator } = globalThis as Partial<typeof globalThis>; // tests run in node, too
const known = [asked() ?? "", ...(navigator?.languages ?? [])]
  .map((name) => name.split("-")[0]!)
  .find((name) => Object.hasOwn(all, name));

export const texts: Texts = all[known ?? "en"]!;

export function count(n: number): string {
  return n.toLocaleString(texts.language);
}

/** Return millionths as percent. */
export function percent(millionths: number): string {
  const one = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${(millionths / 10_000).toLocaleString(texts.language, one)} %`;
}

/** Return a share as percent, as the simulator prints it. */
export function wholePercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

export function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
