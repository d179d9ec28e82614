// The checksum of the state in the page, next to the simulator's.

import { make, table } from "../dom";
import type { Expected, Learner, Parameters } from "../page_data";
import { hex32, texts } from "../texts";

/** Return the simulator's result with these options, if known. */
export function expectedState(
  expected: readonly Expected[],
  learner: string,
  options: Parameters,
): number | undefined {
  const same = (each: Expected): boolean =>
    each.learner === learner &&
    Object.entries(options).every(([name, value]) => each.options[name] === value);
  return expected.find(same)?.state_crc32;
}

/** Show the two checksums; if the simulator's is unknown, the command that computes it. */
export function sameBits(page: number, simulator: number | undefined, command: string): HTMLElement {
  const rows: [string, HTMLElement][] = [
    [texts.state.page, make("code", { id: "page-crc32" }, hex32(page))],
  ];
  if (simulator === undefined) {
    const shown = make("pre", { tabindex: "0" }, command);
    return make("div", {}, table([], rows), make("p", {}, texts.state.unknown), shown);
  }
  rows.push([texts.state.simulator, make("code", { id: "simulator-crc32" }, hex32(simulator))]);
  const same = page === simulator;
  const verdict = make(
    "p",
    { class: same ? "good" : "bad" },
    same ? `✓ ${texts.state.same}` : `✗ ${texts.state.other}`,
  );
  return make("div", {}, table([], rows), verdict);
}

/** Return the command by which the simulator learns the same file with the same options. */
export function simulateCommand(
  file: string,
  label: string | undefined,
  drop: readonly string[],
  learner: Learner,
  options: Parameters,
): string {
  const words = ["microshrub", "simulate", file.startsWith("-") ? `./${file}` : file];
  if (label?.startsWith("-")) words.push(`--label=${label}`);
  else if (label !== undefined) words.push("--label", label);
  if (drop.length) words.push("--drop", ...drop);
  words.push("--model", learner.key);
  for (const option of learner.options) {
    const value = options[option.name];
    if (value === undefined || value === option.default || typeof value === "object") continue;
    const name = option.name.replaceAll("_", "-");
    words.push(value === false ? `--no-${name}` : `--${name}`);
    if (typeof value !== "boolean") words.push(String(value));
  }
  words.push("--details"); // prints the checksum
  return words.map(quoted).join(" ");
}

/** Return a word as quoted for a shell. */
export function quoted(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}
