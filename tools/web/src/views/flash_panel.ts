// From the page straight to a board: connect, copy, test, start.

import { canConnect, chosenDevice, Port } from "../board/port";
import { BoardError, RawRepl } from "../board/raw_repl";
import { make } from "../dom";
import { Engine } from "../learning/engine";
import { programFiles, takenOn, type Model, type Target } from "../model";
import { BYTECODE, type PageData } from "../page_data";
import { texts } from "../texts";

const BAUD = 115_200;
const FAILED = /does not fit|\w+Error\b/; // messages of a program that cannot start
const START = 8_000; // milliseconds for the program to start, or to print an error

/** The state of a board that is being written. */
interface Writing {
  readonly part: string;
  readonly element: HTMLElement;
  readonly status: HTMLElement;
  readonly progress: HTMLProgressElement;
  done: Promise<void>;
}

let writing: Writing | null = null; // a panel that replaces the first one shows it, too

/** Make a button that puts the model, made on demand, on a board; without access to ports, explain how to get it. */
export function flashPanel(
  model: () => Promise<Model>,
  target: Target,
  data: PageData,
  part: string,
): HTMLElement {
  if (!canConnect()) return make("p", {}, texts.board.noSerial);
  const button = make("button", { type: "button", id: `${part}flash` }, texts.board.flash);
  const shown = writing?.part === part ? writing : unwritten(part);
  const { element, status, progress } = shown;
  const say = (text: string, state = ""): void => {
    status.textContent = text;
    status.className = state;
  };
  const write = async (): Promise<void> => {
    try {
      say(texts.board.connecting);
      const line = await putOnBoard(model, target, data, say, (done, total) => {
        progress.hidden = false;
        [progress.value, progress.max] = [done, total];
        say(done < total ? texts.board.copying(done, total) : texts.board.checking);
      });
      say(`${texts.board.done} ${line}`, "good");
    } catch (error) {
      say(error instanceof Error ? error.message : String(error), "bad");
    }
    progress.hidden = true;
    if (writing === shown) writing = null;
  };
  const wait = (): void => {
    button.disabled = true;
    void shown.done.then(() => (button.disabled = false));
  };
  button.onclick = () => {
    writing = shown;
    shown.done = write();
    wait();
  };
  if (writing === shown) wait();
  return make("div", {}, button, element);
}

function unwritten(part: string): Writing {
  const status = make("p", { role: "status", id: `${part}flash-status` });
  const progress = make("progress", { hidden: true, "aria-label": texts.board.flash });
  return { part, element: make("div", {}, progress, status), status, progress, done: Promise.resolve() };
}

async function putOnBoard(
  made: () => Promise<Model>,
  target: Target,
  data: PageData,
  say: (text: string) => void,
  progress: (done: number, total: number) => void,
): Promise<string> {
  const port = await Port.open(await chosenDevice(), BAUD);
  try {
    const { architectureOf, checkMemory, flash } = await import("../board/flash"); // loaded only when needed
    const model = await made();
    const expected = await expectedSelftest(model);
    const repl = await RawRepl.enter(port);
    const boardArch = await architectureOf(repl);
    const { board, sensor } = target;
    const like = board.arch === boardArch ? board : data.boards.find((each) => each.arch === boardArch);
    const arch = like?.arch ?? BYTECODE;
    if (like) await checkMemory(repl, takenOn(like, model, sensor.kind !== "serial"), board.name);
    say(texts.board.answers(arch));
    const files = await programFiles(model, target, arch, data);
    await flash(repl, files, data.board_code, expected, progress);
    const line = lastLine(await repl.start(START));
    if (FAILED.test(line)) throw new BoardError(texts.board.noStart(line));
    return line;
  } finally {
    await port.close();
  }
}

async function expectedSelftest(model: Model): Promise<number> {
  const engine = await Engine.start(model.learner.learner_class, model.parameters);
  try {
    return await engine.selftest();
  } finally {
    engine.stop();
  }
}

/** Return the last line of the starting program's output, without the prompt. */
function lastLine(output: string): string {
  const lines = output.split(/[\r\n]+/).map((line) => line.trim());
  return lines.filter((line) => line && !line.startsWith(">>>")).at(-1) ?? "";
}
