// The command with which `microshrub build` makes the program of a model for a board.

import type { SensorSettings } from "./link/sensor_settings";
import type { Model, Target } from "./model";
import { isTone, type PixelColours, type Switched } from "./page_data";

const UNSAID = ["kind", "module", "class", "values", "options"]; // of a sensor, or said otherwise

/** For a model in that file. The command that follows it copies the folder that this one makes. */
export function buildCommand(
  file: string,
  { classNames }: Model,
  { board, sensor, switches }: Target,
  colours: PixelColours,
): string {
  const sensors = sensor.kind === "serial" ? [] : (sensor.sensors ?? [sensor]);
  const switched = switches.flatMap((row, c) =>
    row.length ? [`${classNames[c]!}=${row.map((each) => switchWord(each, colours)).join("+")}`] : [],
  );
  const words = [
    ...["--model", file, "--board", board.key, "--output", `microshrub-${board.key}`],
    ...sensors.flatMap((each) => ["--sensor", ...sensorWords(each)]),
    ...(switched.length ? ["--switch", ...switched] : []),
  ];
  return `microshrub build ${words.map(quoted).join(" ")}`;
}

function sensorWords(sensor: SensorSettings): string[] {
  const settings = Object.entries({ ...sensor, ...sensor.options });
  const given = settings.filter(([name]) => !UNSAID.includes(name));
  return [sensor.module ?? sensor.kind, ...given.map(([name, value]) => `${name}=${settingWord(value)}`)];
}

function settingWord(value: unknown): string {
  return typeof value === "boolean" ? (value ? "yes" : "no") : String(value);
}

function switchWord(what: Switched, colours: PixelColours): string {
  if (typeof what === "number") return String(what);
  const [pin, ...colour] = what;
  if (isTone(what)) return `${pin}:${what[1]}Hz`;
  const name = Object.keys(colours).find((each) => String(colours[each]) === String(colour));
  return `${pin}:${name ?? colour.map((each) => each.toString(16).padStart(2, "0")).join("")}`;
}

/** As a shell takes it for one word. */
function quoted(word: string): string {
  return /^[\w=.,:+/-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}
