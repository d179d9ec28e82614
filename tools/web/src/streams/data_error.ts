import { texts } from "../texts";

/** An error in a file; the message tells the user what to do. */
export class DataError extends Error {}

/** Return the error for a file that only the command line reads, with the command that converts it to
 * a file for this page. */
export function readByCommand(name: string, message: string): DataError {
  return new DataError(`${message} ${texts.errors.byCommand(copyCommand(name))}`);
}

function copyCommand(name: string): string {
  const isPlain = !/["$`\\!%]/.test(name);
  const file = isPlain ? name.replace(/^-/, "./-") : "FILE";
  const copy = `${file.replace(/(\.[^./]*)?(\.gz)?$/, "")}-plain.csv`;
  const quoted = (each: string): string => (/^[\w./-]+$/.test(each) ? each : `"${each}"`);
  return `microshrub look ${quoted(file)} --csv ${quoted(copy)}`;
}
