// Errors of the link, for people.

import { texts } from "../texts";

export function inWords(error: unknown): string {
  const known = (texts.watch.errors as Record<string, string>)[(error as { code?: string }).code ?? ""];
  return known ?? (error instanceof Error ? error.message : String(error));
}
