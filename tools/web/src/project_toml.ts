// microshrub.toml: what the commands of a project share. `microshrub init` writes it, and so does this
// page; each opens what the other wrote.

import { type Setting, type SensorSettings } from "./link/sensor_settings";
import type { Board, PageData, SensorKind, Switched } from "./page_data";
import { texts } from "./texts";

export const NAME = "microshrub.toml";
const NAME_OF_KEY = /^(?:([A-Za-z0-9_-]+)|"([^"\\]*)"|'([^']*)')\s*=\s*/;
const SECTION = /^\[\s*([A-Za-z0-9_-]+)\s*\]$/;
const words = texts.toml;

type Value = string | number | boolean | readonly Value[];
type Section = Readonly<Record<string, Value>>;
/** What a file says, by key; a section by its name. */
export type Told = Readonly<Record<string, Value | Section>>;

/** What the page takes of it. */
export interface Settings {
  readonly told: Told;
  readonly board: Board | null;
  readonly sensor: SensorKind | null;
  readonly given: Readonly<Record<string, Setting>>; // to the sensor
  readonly classNames: readonly string[]; // none: the file has no labels
}

/** Throws an Error for people. */
export function readToml(text: string, data: PageData): Settings {
  const told = parsed(text);
  for (const [name, value] of Object.entries(told)) {
    const isCommand = data.project.commands.includes(name);
    if (!isCommand && !data.project.keys.includes(name)) throw new Error(words.unknown(name));
    if (isSection(value) !== isCommand) throw new Error(words.section(name, isCommand));
  }
  const key = textOf(told, "board");
  const board = data.boards.find((each) => each.key === key) ?? null;
  if (key && !board) throw new Error(words.noBoard(key, data.boards.map((each) => each.key)));
  const [name, ...options] = (textOf(told, "sensor") ?? "").split(/\s+/);
  const sensor = data.sensors.find((each) => each.key === name) ?? null;
  const given = sensor ? Object.fromEntries(options.map((each) => optionOf(each, sensor))) : {};
  const labels = textOf(told, "label-keys");
  const classNames = labels ? labels.split(",").map((each) => each.slice(each.indexOf("=") + 1).trim()) : [];
  return { told, board, sensor, given, classNames };
}

const isSection = (value: Value | Section): value is Section => typeof value === "object" && !Array.isArray(value);

/** A key's text; of several, the first one's. */
function textOf(told: Told, key: string): string | null {
  const value = told[key];
  const first = Array.isArray(value) ? (value[0] as Value | undefined) : value;
  if (first === undefined) return null;
  if (typeof first !== "string") throw new Error(words.text(key));
  return first.trim();
}

/** Such as scl=1 or pins=26,27. */
function optionOf(option: string, { key, settings }: SensorKind): readonly [string, Setting] {
  const [name = "", value = ""] = option.split("=");
  if (!(name in settings)) throw new Error(words.noOption(key, option, Object.keys(settings)));
  const number = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);
  if (name === "pins") return [name, value.split(",").map(number)];
  return [name, typeof settings[name] === "boolean" ? value === "yes" : number(value)];
}

/** Keys and sections, as TOML has them; dates and tables in lines are in no file of a project. */
function parsed(text: string): Told {
  const found: Record<string, Value | Section> = {};
  let into: Record<string, Value | Section> = found;
  const lines = text.replace(/^\uFEFF/, "").split(/\r?\n/);
  for (let at = 0; at < lines.length; at++) {
    const wrong = new Error(words.line(at + 1));
    const line = withoutRemark(lines[at]!);
    if (!line) continue;
    const section = SECTION.exec(line)?.[1];
    if (section) {
      found[section] = into = (found[section] as Record<string, Value> | undefined) ?? {};
      continue;
    }
    const name = NAME_OF_KEY.exec(line);
    if (!name) throw wrong;
    let rest = line.slice(name[0].length);
    while (rest.startsWith("[") && !rest.endsWith("]") && at + 1 < lines.length) rest += withoutRemark(lines[++at]!);
    const value = valueOf(rest);
    const key = name[1] ?? name[2] ?? name[3]!;
    if (value === null || Object.hasOwn(into, key)) throw wrong;
    into[key] = value;
  }
  return found;
}

/** A line without what stands behind a # that is in no text. */
function withoutRemark(line: string): string {
  return /^(?:[^"'#]|"(?:[^"\\]|\\.)*"|'[^']*')*/.exec(line)![0].trim();
}

/** null: it is none that a file of a project has. */
function valueOf(text: string): Value | null {
  const plain = text.startsWith("'") && text.endsWith("'") && text.length > 1 ? JSON.stringify(text.slice(1, -1)) : text;
  try {
    const value = JSON.parse(plain.replace(/,\s*\]$/, "]")) as unknown;
    return isValue(value) ? value : null;
  } catch {
    return null;
  }
}

function isValue(value: unknown): value is Value {
  return Array.isArray(value) ? value.every(isValue) : ["string", "number", "boolean"].includes(typeof value);
}

/** The text of a file with these keys; what is null is left out. */
export function writtenToml(told: Readonly<Record<string, Value | Section | null>>): string {
  const all = Object.entries(told).filter((each): each is [string, Value | Section] => each[1] !== null);
  const keys = all.flatMap(([key, value]) => (isSection(value) ? [] : [`${key} = ${written(value)}`]));
  const sections = all.flatMap(([name, value]) =>
    isSection(value) ? ["", `[${name}]`, ...Object.entries(value).map(([key, each]) => `${key} = ${written(each)}`)] : [],
  );
  return [...keys, ...sections, ""].join("\n");
}

function written(value: Value): string {
  return Array.isArray(value) ? `[${value.map(written).join(", ")}]` : JSON.stringify(value);
}

/** What stands behind `--sensor`, for each sensor. */
export function sensorTexts(sensor: SensorSettings): string[] {
  if (sensor.sensors) return sensor.sensors.flatMap(sensorTexts);
  const { kind, module, class: _, values: __, options, ...settings } = sensor;
  const all = Object.entries({ ...settings, ...options } as Readonly<Record<string, Setting>>);
  const text = (value: Setting): string =>
    typeof value === "boolean" ? (value ? "yes" : "no") : Array.isArray(value) ? value.join(",") : String(value);
  return [[module ?? kind, ...all.map(([name, value]) => `${name}=${text(value)}`)].join(" ")];
}

/** What stands behind `--switch`. */
export function switchTexts(switches: readonly (readonly Switched[])[], classNames: readonly string[]): string[] {
  const text = (what: Switched): string => {
    if (typeof what === "number") return String(what);
    const [pin, ...values] = what;
    if (values.length === 1) return `${pin}:${values[0]}Hz`;
    return `${pin}:${values.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
  };
  return switches.flatMap((row, c) => (row.length ? [`${classNames[c]!}=${row.map(text).join("+")}`] : []));
}

/** The keys that label while the board records; null where a name would be read as several. */
export function labelKeys(classNames: readonly string[]): string | null {
  if (classNames.some((name) => /[,=]/.test(name))) return null;
  return classNames.map((name, c) => `${c}=${name}`).join(",");
}
