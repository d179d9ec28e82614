import { texts } from "../texts";

/** What is wrong with a file and what to do about it, in words for the user. */
export class DataError extends Error {}

/** The same of a file that the command line reads, with the command that makes of it one that is
 * read here. */
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
