// Saves the lesson in the browser, so that a tab can continue it after it was closed or killed.

import { isSource, shapeOf, type Source } from "../sensors";
import type { Chosen } from "../views/switch_fields";
import type { Above, Lesson } from "./lesson";
import { joined, pieces } from "./recording";
import { featureNames, type Shape } from "./windows";

const EVERY = 1000; // milliseconds between two saves, at least
const PATIENCE = 2000; // milliseconds to read the saved lesson
const [DATABASE, STORE, KEY] = ["microshrub", "lessons", "gestures"] as const;

/** A lesson, with the sensor, board and learner of its teaching. */
export interface Kept {
  readonly source: Source;
  readonly shape: Shape;
  readonly board: string; // the board's key
  readonly bytes: number; // bytes of the learner
  readonly lesson: Lesson;
  readonly switched: Chosen | null; // things that each class switches on a board
}

/** A stored lesson; another version of the page may make other `features` of the same readings. */
interface Packed extends Omit<Kept, "lesson" | "switched"> {
  readonly switched?: Chosen | null;
  readonly features: readonly string[];
  readonly classNames: readonly string[];
  readonly above?: Above;
  readonly recordings: readonly { readonly label: number; readonly readings: Uint8Array; readonly rows: Int32Array }[];
}

export class Autosave {
  private timer = 0;
  private writing = 0;
  private failed = false;

  /** Whether the browser has saved everything. */
  get isDone(): boolean {
    return !this.timer && !this.writing && !this.failed;
  }

  /** Save the result of `made` soon. */
  keep(made: () => Kept): void {
    this.timer ||= window.setTimeout(() => void this.write(made()), EVERY);
  }

  private async write(kept: Kept): Promise<void> {
    this.timer = 0;
    this.writing++;
    this.failed = !(await stored("readwrite", (store) => store.put(packed(kept), KEY)).then(
      () => true,
      () => false, // such as in a private window
    ));
    this.writing--;
  }
}

/** Return the saved lesson; null without one, or if this page cannot continue it. */
export async function readKept(): Promise<Kept | null> {
  const late = new Promise<null>((resolve) => setTimeout(resolve, PATIENCE, null));
  const loaded = stored("readonly", (store) => store.get(KEY) as IDBRequest<Packed | undefined>);
  return Promise.race([loaded.then((packed) => packed && unpacked(packed)), late]).then(
    (kept) => kept ?? null,
    () => null,
  );
}

function packed({ lesson: { classNames, above, recordings }, shape, ...rest }: Kept): Packed {
  const whole = recordings.filter(([{ rows }]) => rows.length);
  return {
    ...rest,
    shape,
    features: featureNames(shape),
    classNames,
    above,
    recordings: whole.map(([{ readings, rows }, label]) => ({
      label,
      readings: joined(readings),
      rows: new Int32Array(rows.flatMap((row) => [...row])),
    })),
  };
}

function unpacked({ features, classNames, above = [], switched = null, recordings, ...rest }: Packed): Kept | null {
  const shape = shapeOf(rest.source) ?? rest.shape;
  const { axes } = shape;
  if (!isSource(rest.source) || features.join("\n") !== featureNames(shape).join("\n")) return null;
  const each = recordings.map(({ label, readings, rows }) => {
    const made = { readings: pieces(readings, 2 * axes.length), rows: pieces(rows, features.length) };
    return [{ label, ...made }, label] as const;
  });
  return { ...rest, shape, switched, lesson: { classNames, above, recordings: each } };
}

/** Return the result of an order to the browser's store. Rejects without a store. */
async function stored<Result>(mode: IDBTransactionMode, order: (store: IDBObjectStore) => IDBRequest<Result>): Promise<Result> {
  const opening = indexedDB.open(DATABASE, 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await answer(opening);
  try {
    return await answer(order(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

function answer<Result>(request: IDBRequest<Result>): Promise<Result> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result);
    request.onerror = () => reject(request.error as Error);
  });
}
