// The page's end of the serial link: each request is carried out once and in order, or the caller
// is told why not. See docs/reference/link.md; the reader of a line that was lost begins anew.

import { decodeFrame, encodeFrame, Splitter, type Frame } from "./frames";

export const HELLO = 1;
const FROM_DEVICE = 128;
const WELCOME = 129;
const AGAIN = 142;
const ERROR = 143;
export const OBSERVATION = 144;
const [OF_VERSION, NOT_OPEN, OVER] = [1, 2, 3];
const OBEYED = [2, 3, 4]; // bytes that a prompt would take for commands
const WORDS = 65536; // sequence numbers

/** What the link needs of a port. */
export interface Carrier {
  take: (data: Uint8Array) => void;
  lost: (why: string) => void;
  write(data: Uint8Array): Promise<void>;
}

/** Milliseconds. */
export interface Times {
  readonly first: number; // without an answer, until requests are sent again
  readonly longest: number; // of such a time
  readonly giveUp: number;
}

export const TIMES: Times = { first: 500, longest: 1000, giveUp: 10_000 };

/** The session is over; `code` says why. */
export class LinkError extends Error {
  constructor(
    readonly code: "silent" | "reset" | "version" | "lost",
    message: string = code,
  ) {
    super(message);
  }
}

/** The device refused a request, for the reason in the message. */
export class RefusedError extends Error {}

export interface Welcome {
  readonly configuration: number; // CRC32 of its text
  readonly features: number;
  readonly classes: number;
}

interface Waiting {
  readonly number: number;
  readonly frame: Uint8Array;
  readonly resolve: (answer: Frame) => void;
  readonly reject: (error: Error) => void;
  answered: boolean;
  resent: boolean;
}

export class Link {
  /** Is called with each observation. */
  observed: (frame: Frame) => void = () => undefined;
  private session = 0;
  private next = 0; // number of the next request
  private credits = 1;
  private sent: Waiting[] = []; // from the oldest that is unanswered on
  private queue: Waiting[] = []; // not sent yet
  private timer: ReturnType<typeof setTimeout> | undefined;
  private patience: number;
  private heard = performance.now();
  private over: LinkError | null = null;
  private readonly splitter = new Splitter((piece) => this.take(piece));

  private constructor(
    private readonly port: Carrier,
    private readonly times: Times,
  ) {
    this.patience = times.first;
    port.take = (data) => this.splitter.feed(data);
    port.lost = (why) => this.end(new LinkError("lost", why));
  }

  /** Say hello until the device answers. `prompted` is called when a prompt comes instead. */
  static async open(
    port: Carrier,
    times: Times = TIMES,
    prompted: () => Promise<void> = async () => undefined,
  ): Promise<[Link, Welcome]> {
    const link = new Link(port, times);
    const begin = performance.now();
    for (;;) {
      const welcome = await link.hello();
      if (welcome) return [link, welcome];
      const seen = new TextDecoder().decode(link.splitter.unfinished);
      if (/>>> |raw REPL|paste mode/.test(seen)) {
        link.splitter.feed(new Uint8Array(1)); // forget it
        await prompted();
      }
      if (link.over) throw link.over;
      if (performance.now() - begin > times.giveUp) throw new LinkError("silent");
    }
  }

  /** Send a request; resolves with its answer. Rejects with RefusedError or LinkError. */
  request(type: number, payload: Uint8Array<ArrayBuffer> = new Uint8Array()): Promise<Frame> {
    return new Promise((resolve, reject) => {
      if (this.over) return reject(this.over);
      const number = this.next;
      this.next = (this.next + 1) % WORDS;
      const frame = encodeFrame({ type, session: this.session, number, credits: 0, payload });
      this.queue.push({ number, frame, resolve, reject, answered: false, resent: false });
      this.push();
    });
  }

  /** How many requests wait for an answer. */
  get pending(): number {
    return this.sent.length + this.queue.length;
  }

  close(): void {
    this.end(new LinkError("lost"));
  }

  private async hello(): Promise<Welcome | null> {
    this.session = helloSession();
    this.next = 0;
    const answer = this.request(HELLO).catch((error: unknown) => {
      if (error instanceof LinkError) return null;
      throw error;
    });
    const late = new Promise<null>((resolve) => setTimeout(() => resolve(null), this.times.longest));
    const frame = await Promise.race([answer, late]);
    if (!frame || frame.type !== WELCOME) {
      this.forget();
      return null;
    }
    const view = new DataView(frame.payload.buffer);
    if (view.getUint16(10, true) !== 1) return null; // an earlier program drew this number
    return {
      configuration: view.getUint32(0, true),
      features: view.getUint16(4, true),
      classes: view.getUint16(6, true),
    };
  }

  private forget(): void {
    clearTimeout(this.timer);
    this.sent = [];
    this.queue = [];
  }

  private take(piece: Uint8Array): void {
    const frame = decodeFrame(piece);
    if (!frame || frame.type < FROM_DEVICE) return;
    const code = frame.type === ERROR ? frame.payload[0] : 0;
    if (code === OF_VERSION) return this.end(new LinkError("version"));
    if (frame.session !== this.session) return;
    if (frame.type === OBSERVATION) return this.observed(frame);
    this.heard = performance.now();
    this.patience = this.times.first;
    if (frame.type === AGAIN) return this.sendAgain(frame.number);
    if (code === NOT_OPEN) {
      if (this.sent[0]?.number !== 0) this.end(new LinkError("reset"));
      return;
    }
    this.answer(frame, code ?? 0);
  }

  private answer(frame: Frame, code: number): void {
    const place = this.sent.findIndex(({ number }) => number === frame.number);
    const waiting = this.sent[place];
    if (!waiting) return;
    this.credits = Math.max(frame.credits, 1);
    if (!waiting.answered) {
      waiting.answered = true;
      if (code === OVER || !code) waiting.resolve(frame);
      else waiting.reject(new RefusedError(new TextDecoder().decode(frame.payload.subarray(1))));
    }
    for (const earlier of this.sent.slice(0, place)) {
      if (earlier.answered || earlier.resent) continue;
      earlier.resent = true; // answers come in order: its own was lost
      this.write(earlier.frame);
    }
    while (this.sent[0]?.answered) this.sent.shift();
    this.push();
  }

  private sendAgain(from: number): void {
    for (const waiting of this.sent) {
      const isLate = (waiting.number - from + WORDS) % WORDS < WORDS / 2;
      if (!waiting.answered && isLate) this.write(waiting.frame);
    }
    this.wait();
  }

  private push(): void {
    while (this.queue.length && this.sent.length < this.credits) {
      const waiting = this.queue.shift()!;
      if (!this.sent.length) this.heard = performance.now();
      this.sent.push(waiting);
      this.write(waiting.frame);
    }
    this.wait();
  }

  private wait(): void {
    clearTimeout(this.timer);
    if (this.sent.length) this.timer = setTimeout(() => this.late(), this.patience);
  }

  private late(): void {
    if (performance.now() - this.heard > this.times.giveUp) {
      return this.end(new LinkError("silent"));
    }
    this.patience = Math.min(2 * this.patience, this.times.longest);
    for (const waiting of this.sent) {
      waiting.resent = false;
      if (!waiting.answered) this.write(waiting.frame);
    }
    this.wait();
  }

  private write(frame: Uint8Array): void {
    this.port.write(frame).catch((error: unknown) => this.end(new LinkError("lost", String(error))));
  }

  private end(why: LinkError): void {
    this.over ??= why;
    const open = [...this.sent, ...this.queue].filter(({ answered }) => !answered);
    this.forget();
    for (const waiting of open) waiting.reject(this.over);
  }
}

/** A session number whose hello has no byte that a prompt would obey. */
function helloSession(): number {
  for (;;) {
    const session = 1 + (crypto.getRandomValues(new Uint16Array(1))[0]! % (WORDS - 1));
    const payload = new Uint8Array();
    const hello = encodeFrame({ type: HELLO, session, number: 0, credits: 0, payload });
    if (!hello.some((byte) => OBEYED.includes(byte))) return session;
  }
}
