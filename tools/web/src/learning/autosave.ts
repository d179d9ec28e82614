// What was taught, kept in the browser: a tab that was closed or killed goes on with it.

import { isSource, shapeOf, type Source } from "../sensors";
import type { Chosen } from "../views/switch_fields";
import type { Above, Lesson } from "./lesson";
import { joined, pieces } from "./recording";
import { featureNames, type Shape } from "./windows";

const EVERY = 1000; // milliseconds between two times at most
const PATIENCE = 2000; // milliseconds for what was kept
const [DATABASE, STORE, KEY] = ["microshrub", "lessons", "gestures"] as const;

/** A lesson, and what it was taught with. */
export interface Kept {
  readonly source: Source;
  readonly shape: Shape;
  readonly board: string; // its key
  readonly bytes: number; // of the learner
  readonly lesson: Lesson;
  readonly switched: Chosen | null; // by each class on a board
}

/** As it is stored; `features` are those of a page that makes others of the same readings. */
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

  /** Whether the browser has all that was to be kept. */
  get isDone(): boolean {
    return !this.timer && !this.writing && !this.failed;
  }

  /** Keep what `made` gives, soon. */
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

/** What was kept; null if nothing was, or nothing that this page can go on with. */
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

/** What an order to the browser's store comes to. Rejects where there is none. */
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
