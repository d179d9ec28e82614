// A board's figures on its learning, as a table.

import { table } from "../dom";
import type { DeviceStatus, Configuration, RegressionErrors } from "../link/board_link";
import { count, percent, texts } from "../texts";

/** Make the table of a board that predicts classes; `taught` of them had labels, and with only one, all is right. */
export function classTable(status: DeviceStatus, taught: number): HTMLElement {
  const { names, levels } = texts.watch;
  const accuracy = [
    [names.accuracy, percent(status.accuracy)],
    [names.nochange, percent(status.accuracy_nochange)],
    [names.kappa, percent(status.kappa)],
  ];
  return table(
    [],
    [
      [names.samples, count(status.samples)],
      ...(taught > 1 ? accuracy : []),
      [names.drift, `${levels[status.drift] ?? ""} (${count(status.drifts)})`],
      ...boardRows(status),
    ],
  );
}

/** Return how many classes had labels, from counts [label * classes + predicted]. */
export function taughtIn(counts: readonly number[]): number {
  const classes = Math.round(Math.sqrt(counts.length));
  const labels = counts.flatMap((count, i) => (count ? [Math.floor(i / classes)] : []));
  return new Set(labels).size;
}

/** Make the table of a board that predicts the value of a sample at a place, in its unit. */
export function numberTable(
  status: DeviceStatus,
  errors: RegressionErrors,
  { feature_names: features, units }: Configuration,
  target: number,
): HTMLElement {
  const { names } = texts.watch;
  const [offset, digits] = units?.[target] ?? [0, 0];
  const value = (raw: number): string => decimal(offset + raw / 10 ** digits, digits);
  const error = (raw: number): string => (raw / 10 ** digits).toPrecision(5);
  const { predicted, half } = errors;
  const between = texts.watch.between(value(predicted - half), value(predicted + half));
  const share = Math.round((1e6 * errors.inside) / Math.max(errors.scored, 1));
  return table(
    [],
    [
      [names.came, count(status.samples)],
      [texts.watch.predicted(features[target] ?? ""), value(predicted) + (half < 0 ? "" : between)],
      [names.error, texts.watch.of(error(errors.mae), errors.scored)],
      [names.lastTarget, error(errors.nochange)],
      ...(half < 0 ? [] : [[names.inside, percent(share)]]),
      ...boardRows(status),
    ],
  );
}

function boardRows(status: DeviceStatus): [string, string][] {
  const { names, saved } = texts.watch;
  return [
    [names.saved, saved(status.unsaved, status.saved_ago)],
    [names.heap, count(status.heap_free)],
    [names.seconds, count(status.uptime)],
    [names.damaged, count(status.damaged)],
    ...(status.missed ? [[names.missed, count(status.missed)] as [string, string]] : []),
  ];
}

function decimal(value: number, digits: number): string {
  return value.toFixed(Math.max(digits, 0));
}
