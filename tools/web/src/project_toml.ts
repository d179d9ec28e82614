// microshrub.toml: the settings that a project's commands share. `microshrub init` writes it, and so
// does this page; each opens the other's file.

import { parse, TomlError } from "smol-toml";
import { nameOfKey } from "./keys";
import { type Setting, type SensorSettings } from "./link/sensor_settings";
import { isKey, type Board, type PageData, type SensorKind, type Switched } from "./page_data";
import { PROJECT_COMMANDS, PROJECT_KEYS } from "./shared";
import { texts } from "./texts";

export const NAME = "microshrub.toml";
const words = texts.toml;
const OF_PIN = "label-pin";

type Value = string | number | boolean | readonly Value[];
type Section = Readonly<Record<string, Value>>;
/** A file's values by key, and its sections by name. */
export type TomlContent = Readonly<Record<string, Value | Section>>;

/** The settings that the page uses. */
export interface Settings {
  readonly content: TomlContent;
  readonly board: Board | null;
  readonly sensor: SensorKind | null;
  readonly given: Readonly<Record<string, Setting>>; // settings of the sensor
  readonly classNames: readonly string[]; // none: the file has no labels
}

/** Read the settings in a text. Throws an Error for people. */
export function readToml(text: string, data: PageData): Settings {
  const content = parsed(text);
  for (const [name, value] of Object.entries(content)) {
    const isCommand = PROJECT_COMMANDS.includes(name);
    if (!isCommand && !PROJECT_KEYS.includes(name)) throw new Error(words.unknown(name));
    if (isSection(value) !== isCommand) throw new Error(words.section(name, isCommand));
  }
  const key = textOf(content, "board");
  const board = data.boards.find((each) => each.key === key) ?? null;
  if (key && !board) throw new Error(words.noBoard(key, data.boards.map((each) => each.key)));
  const [name, ...options] = (textOf(content, "sensor") ?? "").split(/\s+/);
  const sensor = data.sensors.find((each) => each.key === name) ?? null;
  const given = sensor ? Object.fromEntries(options.map((each) => optionOf(each, sensor))) : {};
  const classNames = wordsOf(content, "label-keys").map((each) => each.slice(each.indexOf("=") + 1).trim());
  return { content, board, sensor, given, classNames };
}

const isSection = (value: Value | Section): value is Section => typeof value === "object" && !Array.isArray(value);

/** Return a key's text; the first of several. */
function textOf(content: TomlContent, key: string): string | null {
  const value = content[key];
  const first = Array.isArray(value) ? (value[0] as Value | undefined) : value;
  if (first === undefined) return null;
  if (typeof first !== "string") throw new Error(words.text(key));
  return first.trim();
}

/** Return a key's words: a list, or a text with quotes around a word that has spaces. */
function wordsOf(content: TomlContent, key: string): readonly string[] {
  const value = content[key];
  if (!Array.isArray(value)) {
    const matches = textOf(content, key)?.match(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g) ?? [];
    return matches.map((each) => each.replace(/['"]/g, ""));
  }
  if (!value.every((each) => typeof each === "string")) throw new Error(words.text(key));
  return value as readonly string[];
}

/** Return the content with the current names of classes in `--label-pin`. */
export function renamedIn(content: TomlContent, called: ReadonlyMap<string, string>): TomlContent {
  const to = (word: string): string => {
    const [key, name = ""] = word.split("=", 2);
    const now = called.get(name) ?? name;
    return now === name ? word : `${key}=${now}`;
  };
  const pin = content[OF_PIN] === undefined ? [] : wordsOf(content, OF_PIN);
  const isSame = pin.every((word) => word === to(word));
  const build = content["build"] as TomlContent | undefined;
  return {
    ...content,
    ...(isSame ? {} : { [OF_PIN]: pin.map(to) }),
    ...(build ? { build: renamedIn(build, called) as Section } : {}),
  };
}

/** Parse an option such as scl=1 or pins=26,27. */
function optionOf(option: string, { key, settings }: SensorKind): readonly [string, Setting] {
  const [name = "", value = ""] = option.split("=");
  if (!(name in settings)) throw new Error(words.noOption(key, option, Object.keys(settings)));
  const number = (text: string): number | string => (/^\d+$/.test(text) ? Number(text) : text);
  if (name === "pins") return [name, value.split(",").map(number)];
  return [name, typeof settings[name] === "boolean" ? value === "yes" : number(value)];
}

function parsed(text: string): TomlContent {
  try {
    const content = parse(text.replace(/^\uFEFF/, ""));
    for (const [name, value] of Object.entries(content))
      for (const [key, each] of isSection(value as Value) ? Object.entries(value) : [[name, value] as const])
        if (!isValue(each)) throw new Error(words.text(key));
    return content as TomlContent;
  } catch (error) {
    throw error instanceof TomlError ? new Error(words.line(error.line)) : error;
  }
}

function isValue(value: unknown): value is Value {
  return Array.isArray(value) ? value.every(isValue) : ["string", "number", "boolean"].includes(typeof value);
}

/** Return the text of a file with these keys, except those that are null. */
export function writtenToml(content: Readonly<Record<string, Value | Section | null>>): string {
  const all = Object.entries(content).filter((each): each is [string, Value | Section] => each[1] !== null);
  const keys = all.flatMap(([key, value]) => (isSection(value) ? [] : [`${key} = ${written(value)}`]));
  const sections = all.flatMap(([name, value]) =>
    isSection(value) ? ["", `[${name}]`, ...Object.entries(value).map(([key, each]) => `${key} = ${written(each)}`)] : [],
  );
  return [...keys, ...sections, ""].join("\n");
}

function written(value: Value): string {
  return Array.isArray(value) ? `[${value.map(written).join(", ")}]` : JSON.stringify(value);
}

/** Return the text after `--sensor` for each sensor. */
export function sensorTexts(sensor: SensorSettings): string[] {
  if (sensor.sensors) return sensor.sensors.flatMap(sensorTexts);
  const { kind, module, class: _, values: __, options, ...settings } = sensor;
  const all = Object.entries({ ...settings, ...options } as Readonly<Record<string, Setting>>);
  const text = (value: Setting): string =>
    typeof value === "boolean" ? (value ? "yes" : "no") : Array.isArray(value) ? value.join(",") : String(value);
  return [[module ?? kind, ...all.map(([name, value]) => `${name}=${text(value)}`)].join(" ")];
}

/** Return the texts after `--switch`. */
export function switchTexts(switches: readonly (readonly Switched[])[], classNames: readonly string[]): string[] {
  const text = (what: Switched): string => {
    if (typeof what === "number") return String(what);
    if (isKey(what)) return `key:${nameOfKey(what[0]!)}`;
    const [pin, ...values] = what;
    if (values.length === 1) return `${pin}:${values[0]}Hz`;
    return `${pin}:${values.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
  };
  return switches.flatMap((row, c) => (row.length ? [`${classNames[c]!}=${row.map(text).join("+")}`] : []));
}

/** Return the keys that label while the board records. */
export function labelKeys(classNames: readonly string[]): string[] {
  return classNames.map((name, c) => `${c}=${name}`);
}
