// What the page says, in the language of ?lang= in its address, or the first one that the browser
// wants and the page has.

import { de } from "./texts/de";
import { en } from "./texts/en";

export type Texts = typeof en;

const all: Readonly<Record<string, Texts>> = { en, de };

/** Each language in its own words, with what stands in the address for it. */
export const LANGUAGES = [
  ["en", "English"],
  ["de", "Deutsch"],
] as const;

/** The language that is asked for; a worker has it from the page as its name. */
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

/** Millionths as percent. */
export function percent(millionths: number): string {
  const one = { minimumFractionDigits: 1, maximumFractionDigits: 1 };
  return `${(millionths / 10_000).toLocaleString(texts.language, one)} %`;
}

/** A share as percent, as the simulator tells it. */
export function wholePercent(share: number): string {
  return `${Math.round(100 * share)} %`;
}

export function hex32(value: number): string {
  return (value >>> 0).toString(16).padStart(8, "0");
}
