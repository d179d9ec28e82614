// All texts of the page, in English. A text in another language has the same name.

const count = (n: number): string => n.toLocaleString("en");
const kilobytes = (n: number): string => `${count(n / 1024)} KB`;
const counted = (n: number, what: string): string => `${count(n)} ${what}${n === 1 ? "" : "s"}`;
const quoted = (value: number | string): string => (typeof value === "number" ? String(value) : `'${value}'`);

export const en = {
  language: "en",
  title: "microshrub",
  lead:
    "Online learning on microcontrollers. What learns here is the board's own code: the device " +
    "library, in MicroPython, in this page.",
  path: "Steps",
  lesson: "For teachers: your first learning board in a lesson, to print",
  licenses: "Licenses of what it is made of",
  offline: "Nothing leaves this page. It works without a network, too.",
  failed: (why: string) => `The page cannot start: ${why}. Load it again.`,
  loading: "Loading ...",
  browser: "This browser has no WebAssembly or no module workers. Use a newer one.",

  playground: {
    title: "Playground",
    lead:
      "Look inside: watch the learner on a stream whose rule changes, on a file of your own, or on a " +
      "board that runs its program.",
    streams: "A stream, or a file of your own",
    stream: "Stream",
    ownStream: "A CSV or ARFF file of your own",
    file: "CSV or ARFF file, the class in the last column",
    drop: "or drop a file here",
    label: "Column of the class",
    leaveOut: "Columns to leave out: an id, a clock",
    board: "Board",
    learner: "Learner",
    options: "Options of the learner",
    start: "Start",
    stop: "Stop",
    download: "Download this stream",
    ready: "Press Start.",
    reading: (name: string, percent: number, left: string) =>
      `Reading ${name}: ${percent} %${left && `, ${left} left`}`,
    left: (text: string) => (text ? `, ${text} left` : ""),
    seconds: (n: number) => `about ${count(n)} s`,
    minutes: (n: number) => `about ${count(n)} min`,
    hours: (n: number) => (n === 1 ? "about 1 hour" : `about ${count(n)} hours`),
    readingStopped: "Stopped while the file was read.",
    notes: "Notes on the file",
    loading: "Loading MicroPython ...",
    running: (done: number, all: number, accuracy: string, rate: number) =>
      `${count(done)} of ${count(all)} samples, ${accuracy} predicted correctly, ${count(rate)} a second`,
    done: (all: number, accuracy: string) =>
      `${counted(all, "sample")} learned; right before each label, ${accuracy} were predicted correctly.`,
    stopped: (done: number) => `Stopped after ${counted(done, "sample")}.`,
  },
  streams: {
    sea: "SEA: a threshold moves half way",
    agrawal: "Agrawal: another rule half way",
    led: "LED: digits, faulty segments",
  } as Record<string, string>,
  optionHelp: (help: string) => help, // the learner's own text
  streamShape: (samples: number, features: number, classes: number) =>
    `${count(samples)} samples, ${count(features)} features, ${count(classes)} classes`,
  learners: {
    thicket: "Thicket, which needs no options",
    shrub: "Shrub Ensemble",
    hoeffding: "Hoeffding tree",
  } as Record<string, string>,

  accuracy: {
    title: "Accuracy right before each label",
    samples: "samples",
    model: "this learner, so far",
    recent: (n: number) => `this learner, last ${count(n)}`,
    nochange: "NoChange: the last label",
    majority: "MajorityClass",
    drifts: (n: number) => (n === 1 ? "1 drift was noticed" : `${count(n)} drifts were noticed`),
    none: "no drift was noticed",
    first: (sample: number) => `the first at sample ${count(sample)}`,
    described: (model: string, recent: string, nochange: string, majority: string) =>
      `Accuracy: the learner ${model}, ${recent} of late, NoChange ${nochange}, MajorityClass ${majority}`,
  },
  newest: {
    title: "Newest sample",
    predicted: "predicted",
    truth: "actual",
    confidence: "confidence",
    of: (confidence: number) => `${confidence} of 255`,
    nothing: "nothing: it had learned nothing yet",
    progress: "Inside the learner",
  },
  confusion: {
    title: "Confusion matrix",
    caption: "Rows: actual. Columns: predicted.",
    tooMany: "The matrix is kept for up to 32 classes.",
  },
  memory: {
    title: "RAM on the board",
    learner: "the learner's buffers",
    companions: "quantizer, metrics and rows",
    overhead: "code, headers and objects (with default options)",
    free: "free for your program",
    over: "more than this board has",
    sum: (taken: number, free: number, board: string) =>
      `${count(taken)} of the ${count(free)} bytes that ${board} has free`,
    buffers: (n: number) => `All ${count(n)} buffers`,
    buffer: "buffer",
    bytes: "bytes",
  },
  state: {
    title: "The same bits",
    page: "CRC32 of the state in this page",
    simulator: "the simulator's CRC32",
    same: "They are equal: every bit of every buffer is the same.",
    other: "They are not equal. Please report that.",
    unknown: "To compare, let the simulator learn the same file:",
    waits: "Shown at the end of the stream.",
  },
  takeAway: {
    title: "Put this on a board",
    program: "Download the program",
    unpack: (board: string) =>
      `The program goes on learning on your ${board}. Unpack the zip into a folder of its name; this ` +
      "copies it, checks every file, and lets the board prove that it computes the same bits:",
    model: "Download the model",
    open: "The model is a file of the simulator, too:",
    tooLarge: (board: string, taken: number, free: number) =>
      `With the program, the model takes about ${count(taken)} bytes of RAM; ${board} has ${count(free)} free. ` +
      "Choose smaller options, another learner or another board.",
    waits: "You can download the model when it has finished.",
  },
  board: {
    flash: "Connect a board and put the program on it",
    noSerial:
      "To do that from here, open this page on a computer in Chrome, Edge or Firefox (151 or newer), " +
      "which have WebSerial, or start microshrub bridge --port PORT and open the address that it prints.",
    noneChosen: "No port was chosen. Is the board plugged in with a cable that carries data?",
    taken: "The port cannot be opened. Another program or tab holds it: close that tab, Thonny or mpremote.",
    gone: "The board was unplugged or reset.",
    bridgeGone:
      "The bridge does not answer, or not to this address. Is microshrub bridge running? Open the " +
      "address that it prints.",
    silent:
      "MicroPython does not answer. Is it installed on the board? If a program is running there, " +
      "press the board's reset button and start again.",
    version: "The MicroPython of this board does not load .mpy files of version 6. Install a newer one.",
    says: (text: string) => `The board says ${text}`,
    connecting: "Connecting ...",
    answers: (arch: string) => `MicroPython answers; its code is ${arch}. Copying ...`,
    copying: (done: number, total: number) => `${count(done)} of ${count(total)} bytes copied`,
    checking: "Every file is compared, and the board learns a fixed stream ...",
    done: "The board holds the same bits, and has started its program:",
    space: (need: number, free: number) =>
      `The program needs ${count(need)} bytes of the board's flash, and ${count(free)} are free. ` +
      "Remove files from it.",
    memory: (taken: number, free: number, name: string) =>
      `The program takes about ${count(taken)} bytes of RAM, and this board has ${count(free)} free. Is it ` +
      `a ${name}? If not, choose your board above. The board's program is unchanged.`,
    noStart: (line: string) => `The program is on the board, but it does not start: ${line}`,
    full: "The board's flash is full. Remove files from it; it still has its previous program.",
    damaged: (path: string) =>
      `${path} did not arrive on the board as it was sent. Start again; the board still has its ` +
      "previous program.",
    other: (actual: string, expected: string) =>
      `The board's model has the checksum ${actual}, and this page's ${expected}. The board's ` +
      "program is unchanged. Please report it.",
  },
  blank: {
    title: "A new board: install MicroPython first",
    lead: "A board needs MicroPython before it can learn. Choose yours:",
    drag: (name: string, firmware: string) =>
      `Hold the button BOOTSEL while you plug the ${name} in: it shows up as a drive, ` +
      `${firmware.startsWith("RPI_PICO2") ? "RP2350" : "RPI-RP2"}. Drag the file ` +
      `${firmware}-DATE-vVERSION.uf2 onto it, the newest one of micropython.org/download/${firmware}. ` +
      "The drive goes away, and the board starts with MicroPython.",
    download: (name: string, firmware: string) =>
      `For the ${name}, download ${firmware}-DATE-vVERSION.bin, the newest one of ` +
      `micropython.org/download/${firmware}. Everything that is on the board is erased.`,
    file: "The file that you downloaded",
    write: "Connect the board, erase it and write MicroPython",
    noFile: "Choose the downloaded file first.",
    noImage:
      "This is not an image for an ESP32: it does not begin with the byte E9. Choose the .bin file, " +
      "as it was downloaded.",
    noPartitions:
      "This image has no partition table, so it cannot start a blank board. Choose the file whose " +
      "name ends in .bin, not in .app-bin.",
    unknownChip: (id: number, known: readonly string[]) =>
      `This image is for the chip with the number ${id}. This page knows ${known.join(", ")}.`,
    otherChip: (actual: string, wanted: string) =>
      `The board has an ${actual}, and the image is for an ${wanted}. Nothing was written. Download ` +
      "the one for your board.",
    noLoader: (why: string) =>
      "The loader in the chip's ROM does not answer. Hold the button BOOT, press and let go of " +
      `RESET (or EN), let go of BOOT, and start again. (${why})`,
    small: (size: string) =>
      `The image does not fit into the board's flash, which says that its size is ${size}.`,
    connecting: "Connecting to the loader in the chip's ROM ...",
    erasing: (chip: string) => `${chip} found. Erasing its flash, which may take a minute ...`,
    writing: (done: number, total: number) =>
      `${count(done)} of ${count(total)} compressed bytes written`,
    comparing: "All is written; the chip compares it ...",
    starting: "It was written as it is in the file. Waiting for MicroPython to start ...",
    answers: (version: string, machine: string) =>
      `MicroPython ${version} answers (${machine}). Now put a model on the board: see above.`,
    silent:
      "MicroPython was written as it is in the file, and does not answer on this port yet. Press the " +
      "board's reset button; then put a model on it: see above.",
  },
  watch: {
    title: "Watch a board",
    lead: "Connect to a board that runs microshrub's program: see how well it learns, and teach it.",
    connect: "Connect",
    end: "Disconnect",
    numbers: "What the board reports",
    sensor: "Its own sensor",
    csv: "Download the recording",
    labels: "Labels",
    noSensor: "No sensor sample has come. A board that learns over its line sends none.",
    stream: "Let the board learn the stream chosen above",
    confirmed: (done: number, all: number) => `${count(done)} of ${count(all)} samples confirmed`,
    sent: (n: number, seconds: number) =>
      `${counted(n, "sample")} sent and learned in ${seconds.toFixed(1)} s.`,
    state: "CRC32 of the state on the board:",
    waits: (why: string) =>
      `${why} It goes on as soon as the board is back, from the first sample that was not confirmed.`,
    back: "The board is back.",
    forgot:
      "The board was reset, and no longer knows what it had learned before this stream. Put the " +
      "program there again, or start the stream again.",
    resets: "The board is reset again and again. See what it says in a terminal.",
    learned: (samples: number, accuracy: string) =>
      `${counted(samples, "sample")} learned${accuracy && `, ${accuracy} right`}`,
    newest: (name: string, confidence: number, recorded: number) =>
      `${name}, confidence ${confidence} of 255; ${counted(recorded, "sample")} recorded`,
    nothingYet: (recorded: number) =>
      `The board has learned nothing yet; ${counted(recorded, "sample")} recorded`,
    otherStream:
      "The board's program is for other features, classes or units than the stream that is " +
      "chosen above.",
    forecast: (samples: number) => `The board received ${counted(samples, "sample")}.`,
    recorded: (rows: number) => `${counted(rows, "sample")} recorded`,
    predicted: (name: string) => `predicted ${name}`,
    between: (low: string, high: string) => `, between ${low} and ${high}`,
    of: (error: string, n: number) => `${error} of ${count(n)}`,
    names: {
      came: "samples that came",
      error: "mean absolute error",
      lastTarget: "NoChange: the last target",
      inside: "inside the interval",
      samples: "samples with a label",
      accuracy: "accuracy",
      nochange: "NoChange: the last label",
      kappa: "kappa",
      heap: "bytes of heap free",
      drift: "drift (how many so far)",
      seconds: "seconds since the start",
      damaged: "damaged frames",
      missed: "readings missed",
      saved: "saved: safe to unplug",
    },
    saved: (unsaved: number, seconds: number) =>
      unsaved > 0
        ? `no: ${counted(unsaved, "label")} unsaved`
        : unsaved < 0
          ? "never: this program keeps nothing without power"
          : seconds < 0
            ? "nothing new"
            : `${count(seconds)} s ago`,
    levels: ["none", "warning", "drift"],
    errors: {
      silent:
        "The board's program does not answer. Put one there first; if there is one, press the " +
        "board's reset button.",
      reset: "The board was reset. Connect again.",
      version: "The board's program speaks another version of the link. Put a new program on it.",
    },
  },

  anomalies: {
    title: "What is unusual",
    now: (score: number, threshold: number, alarms: number) =>
      `The last sample scores ${score}; an alarm begins above ${threshold}. Alarms so far: ${count(alarms)}.`,
    normal: "This is normal",
    isNormal: (left: number) =>
      left
        ? `This is normal: the next ${left === 1 ? "sample shows" : `${count(left)} samples show`} it.`
        : "This is normal: what the board has in mind stays so.",
    tooOld: "The board's program is too old for this. Put a new program on it.",
  },

  queries: {
    title: "Which label?",
    asked: (id: number, predicted: string) => `What is sample ${id}? Predicted: ${predicted}.`,
    changed: (id: number) => `The query had just changed: it is about sample ${id} now. Answer it again.`,
    none: "No sample waits for its label.",
    answers: "Answers",
    many: (asked: number, seen: number) => {
      const share = ((100 * asked) / Math.max(seen, 1)).toFixed(2);
      return `${count(asked)} of ${count(seen)} samples were asked for, ${share} %.`;
    },
  },

  naming: {
    title: "Novel classes",
    novel: (n: number, isAsking: boolean) =>
      (n === 1 ? "1 novel sample waits for a name." : `${count(n)} novel samples wait for a name.`) +
      (isAsking ? " What are they?" : ""),
    name: "Name",
    which: "Class",
    into: "is the same as",
    none: "Choose a class first.",
    do: {
      name: "This is the name of the novel samples",
      dismiss: "They are nothing new",
      rename: "Give it the name above",
      forget: "Forget it",
      merge: "Merge them",
    },
  },

  teach: {
    title: "Teach it a gesture",
    lead:
      "Press a name and make that gesture for a few seconds, then the next one. Then press “only " +
      "predict”: does it know them?",
    source: "Sensor",
    sourceGroups: { board: "For a board", play: "To play" },
    sources: {
      pointer: "Pointer or finger",
      motion: "A phone's motion",
      keyboard: "Keyboard",
      microphone: "Microphone (how loud it is)",
      board: "A board on a cable",
    },
    hints: {
      pointer: "Move the pointer or a finger here.",
      motion: "Move this device.",
      keyboard: "Press keys: arrows, or a rhythm of any keys.",
      microphone: "Speak, clap, whistle.",
      board: "Plug in a board whose program has a sensor, and press Begin.",
    },
    readings: {
      title: "A program that sends its readings",
      lead: "It takes the place of the program that the board has. Then press Begin.",
    },
    cable: {
      rate: (rate: number) => (rate === 1 ? "1 reading a second" : `${count(rate)} readings a second`),
      waits: (why: string) =>
        `${why} Plug it in again: then it goes on. What was taught is kept, and End ends it here.`,
      back: "The board is back.",
      lost: (why: string) => `${why} What was taught is kept. When the board is back, press Go on.`,
      silent:
        "No program of microshrub answers. If the board is starting, wait and press Begin again; if " +
        "its program hangs, press its reset button. A board with only MicroPython gets a program " +
        "below; one without MicroPython needs that first: see “A new board” in the next step.",
      tooOld: "The board's program is too old: it does not tell what its sensor is. Build it again.",
      forecasts:
        "The board's program predicts a number. To teach it gestures, put another program on it, " +
        "such as the one below.",
      noSensor:
        "The board's program has no sensor: samples come to it over the cable. Put one there that has, " +
        "such as the one below, or build one with --sensor.",
      features:
        "The board's program makes features of its readings, and sends only these. Teaching here " +
        "needs the readings: put a program without --features on the board, or the one below.",
      slow: (seconds: number) =>
        `The board takes a reading every ${count(seconds)} seconds, and a gesture needs at least one ` +
        "a second. Build its program with a faster rate.",
      nothing: "The board sends no reading. Does its sensor answer? Check how it is wired.",
      otherProgram: "There is another program on the board now.",
      otherReadings: (names: readonly string[], rate: number) =>
        `It was taught with the readings ${names.join(", ")}, ${count(rate)} a second, and this ` +
        "board has different ones. Connect the earlier board, or start over.",
    },
    remarks: {
      motion: "A board feels the same with an MPU-6050.",
      board: "What teaches is what the board has.",
      pointer: "To play: a board has no pointer. To teach a board, open this page on a phone, or choose “A board on a cable”.",
      keyboard: "To play: a board has no keyboard. To teach a board, open this page on a phone, or choose “A board on a cable”.",
      microphone: "To play: a board's microphone hears differently. To teach a board, choose “A board on a cable”.",
    },
    classes: {
      title: "Gestures",
      add: "Add a gesture",
      name: (n: number) => `Name of gesture ${n}`,
      remove: (name: string) => `Delete ${name} and its recordings`,
      threshold: (name: string) => `Confidence from which ${name} is recognised`,
      above: (percent: number) => (percent ? `only from ${percent} %` : "at any confidence"),
      howToThreshold:
        "Below this confidence, this gesture is not recognised here, and switches nothing on a board.",
      record: "Record",
      recording: "Recording ...",
      howToRecord: "Press: 3, 2, 1, and it records for five seconds. Hold: for as long as you hold.",
      samples: (n: number) => counted(n, "sample"),
      fresh: (n: number) => `gesture ${n}`,
      nameless: "A gesture needs a name.",
      twice: (name: string) => `There is already a gesture named ${name}. Choose another name.`,
    },
    defaultNames: ["circle", "line", "rest"],
    start: "Begin",
    stop: "End",
    goOn: "Go on",
    over: "Start over",
    undo: "Undo",
    open: "Open a project",
    loading: "Loading MicroPython ...",
    labels: "What you show it",
    predict: "only predict",
    hears: "It recognises",
    nothingYet: "nothing yet",
    below: (name: string, percent: number) => `${name}? Below ${percent} %`,
    unsure: (names: readonly string[]) => `unsure: ${names.join(" or ")}`,
    first: "Press a name and show it.",
    teaching: (name: string) => `It learns ${name}. After a few seconds, press the next name.`,
    finishing: "It learns what is left ...",
    predicting: "It only predicts now. Make any of the gestures.",
    heard: (learned: number) => `${counted(learned, "sample")} learned`,
    waiting: (n: number) =>
      n === 1 ? "; 1 sample waits to be learned" : `; ${count(n)} samples wait to be learned`,
    lost: (n: number) =>
      `; ${counted(n, "reading")} lost: the device was too busy, or the sensor paused`,
    stopped: (n: number) =>
      `It has learned ${counted(n, "sample")}. Now put it on a board: the next step.`,
    nothing: "Nothing was learned: press a name and show it.",
    unseen: {
      all: "Record each gesture once more to see how well it does.",
      more: (names: readonly string[]) =>
        `Record ${names.join(" and ")} once more to see how well it does.`,
      later: "Press “only predict” to see how well it does.",
      checking: "It learns some recordings again, and predicts the others ...",
      failed: (why: string) => `How well it does could not be measured: ${why}`,
      sampling: "It learns a sample of the rows first ...",
      sampled: (share: string, rows: number, all: number) =>
        `On unseen data: ${share}, from a sample of ${count(rows)} of the ${count(all)} rows`,
      stretches: "It learns some stretches again, and predicts the others ...",
      none: "Each class has only one stretch, so the accuracy on unseen data cannot be measured.",
      figure: (share: string) => `On unseen data: ${share}`,
      now: (share: string) => `; as of now: ${share}`,
      share: (right: string, samples: number, guessing: string) =>
        `${right} of ${counted(samples, "sample")} (guessing: ${guessing})`,
      alike: (one: string, other: string, mistaken: number, samples: number) =>
        `${one} and ${other} look alike: ${count(mistaken)} of ${count(samples)} mistaken`,
    },
    cards: {
      title: "Recordings",
      lead:
        "When a recording or a gesture is changed, everything is learned again at once. Undo takes it " +
        "back. This browser keeps it all until you start over.",
      growing: "recording",
      samples: (n: number) => counted(n, "sample"),
      play: (n: number) => `Play recording ${n}`,
      remove: (n: number) => `Delete recording ${n}`,
      move: (n: number) => `Name of recording ${n}`,
    },
    exam: {
      begin: "Exam: show each gesture once more",
      show: (name: string) => `Show: ${name}`,
      balanced: (share: string) => `${share} right, each name counted alike.`,
    },
    noProject: (name: string) =>
      `${name} is no project that this page has saved, or it is damaged. A model of simulate --save ` +
      "has no recordings in it.",
    insecure: "Browsers give motion data only to https pages, or to a page from this device.",
    refused: "You did not allow the motion sensor. Load the page again to be asked again.",
    noMotion: "This device has no motion sensor, or does not share it. Use the pointer.",
    insecureMicrophone: "Browsers give sound only to https pages, or to a page from this device.",
    noMicrophone: "There is no microphone, or you did not allow it. Use another sensor.",
    noName: (name: string) =>
      `In a CSV file, ${name} says that the gesture is not known. Give it another name.`,
  },

  handOver: {
    title: "Put it on a board",
    lead: "A board for a few euros continues by itself with what you taught, and goes on learning.",
    waits: "Teach it first, then press End: what it has learned can then be put on a board here.",
    connect: "Wire it, connect it, done",
    resizing: "It learns everything again, with a learner of another size ...",
    size: (bytes: number, most: number) =>
      `The learner takes ${kilobytes(bytes)} of this board's RAM` +
      (bytes < most ? `. The more you teach, the larger it becomes: up to ${kilobytes(most)} here.` : ", the most that fits here."),
    lacks: (board: string, bytes: number) => `${board}: ${count(bytes)} bytes of RAM too few`,
    sensors: {
      motion: "Its own: an MPU-6050",
      own: "The one that taught it",
      serial: "None: samples come over USB",
    },
    ownSensor:
      "The program reads the sensor with which it was taught, at the same pins. It then makes features " +
      "of its readings, and no longer sends the readings themselves.",
    wire:
      "The phone's motion came in the units of this sensor. Wire it while the board is unplugged, and " +
      "hold it as you held the phone.",
    line: (names: readonly string[]) => {
      const numbers = names.map((name, c) => `pred:${c} is ${name}`).join(", ");
      return `It also prints a line for each sample over USB, for Thonny or the Arduino IDE: ${numbers}.`;
    },
    thresholds: (switches: boolean) =>
      (switches
        ? "On the board, a gesture below its confidence switches nothing. "
        : "A gesture's confidence counts for what it switches on the board, and nothing is switched yet. ") +
      "The printed lines name the gesture all the same.",
    fits: {
      pointer:
        "A board has no pointer. It can learn what you send it over USB. For a board that senses motion " +
        "by itself, teach with the motion of a phone, and give the board an MPU-6050.",
      motion: "The board learns what you send it over USB.",
      keyboard:
        "A board has no keyboard. It can learn what you send it over USB; buttons and touch pads need " +
        "a recording made by the board itself: microshrub record.",
      microphone:
        "A board's own microphone is louder or softer than this microphone: record with the board " +
        "(microshrub record), and build from that recording. This program learns what you send over USB.",
      board:
        "This program learns what you send over USB. For a program that reads the board's sensor, save " +
        "the project and build it: microshrub build --model gestures.mshrub, with the --sensor that the " +
        "board had while it was taught.",
    },
    keep: "Keep it",
    keepLead:
      "A project is one file, with the recordings and the model. Open it here again, or build a " +
      "board's program from it.",
    save: "Save the project",
    csv: "Save the samples as CSV",
    link: "Link to this project",
    linkIs: "Copy this link: it opens the project on another machine.",
    copied: "The link is copied. It opens the project on another machine; the recordings are in the link itself.",
    passwords:
      "A web page should not ask for passwords, so the command line puts this program on the board: it asks for the " +
      "network's and the broker's. The board then tells the broker each gesture, and Home Assistant finds it.",
    folder: "Save a folder for the command line",
    folderLead:
      "A zip with microshrub.toml, as microshrub init writes it, and the recording. Unpack it into a " +
      "folder; there, this simulates, builds, flashes and watches:",
    same: "From this file, the simulator computes the same bits:",
  },
  link: {
    name: "The link",
    tooLarge: (letters: number, most: number) =>
      `The project is too large for a link: ${count(letters)} letters, and ${count(most)} are the most. Save ` +
      "the project, and open the file on the other machine.",
  },
  toml: {
    line: (line: number) => `microshrub.toml, line ${line}: not a key and its value, as TOML has them.`,
    unknown: (name: string) => `microshrub.toml: there is no key ${name}.`,
    section: (name: string, isCommand: boolean) =>
      `microshrub.toml: ${name} has to be ${isCommand ? `a section, [${name}]` : "a value, not a section"}.`,
    text: (key: string) => `microshrub.toml: ${key} has to be a text.`,
    noBoard: (key: string, known: readonly string[]) =>
      `microshrub.toml: this page has no board ${key}. It has ${known.join(", ")}.`,
    noOption: (sensor: string, option: string, known: readonly string[]) =>
      `microshrub.toml: the sensor ${sensor} has no setting ${option}. It has ${known.join(", ")}.`,
    classes: (n: number, most: number) =>
      `microshrub.toml: label-keys has ${counted(n, "label")}, and this page teaches two to ${most}.`,
    opened: (board: string | null, sensor: unknown, names: readonly string[]) =>
      `microshrub.toml is open: ${board ?? "no board"}, ${sensor ? String(sensor) : "no sensor"}; ` +
      `${names.join(", ")}.`,
  },
  switches: {
    title: "What each name switches",
    kinds: { line: "Nothing: it is only printed", lights: "A light each", colour: "The colour of an LED", pixel: "The colour of a NeoPixel", tone: "The tone of a buzzer", key: "A key of the PC, by USB", mqtt: "An MQTT message, as to Home Assistant" },
    network: { mqtt: "Broker", wifi: "Wi-Fi network", name: "The board's name at the broker" },
    noRadio: (board: string) => `${board} has no Wi-Fi, which an MQTT message needs. Choose another board.`,
    noKeys: (board: string) => `${board} cannot be a USB keyboard, as a Pico or an ESP32-S3 can. Choose another board.`,
    missing: (field: string) => `For MQTT messages, fill in “${field}”.`,
    at: { pixel: "NeoPixel at", tone: "Buzzer at" },
    silent: "silent",
    noKey: "no key",
    keys: { Space: "Space", ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑" } as Readonly<Record<string, string>>,
    hertz: (hertz: number) => `${count(hertz)} Hz`,
    colours: {
      off: "off",
      red: "red",
      orange: "orange",
      green: "green",
      yellow: "yellow",
      blue: "blue",
      magenta: "magenta",
      cyan: "cyan",
      white: "white",
    },
  },
  sensors: {
    names: {
      adc: "Analog pins: voltages",
      mpu6050: "MPU-6050: motion",
      adxl345: "ADXL345: acceleration",
      bh1750: "BH1750: light",
      bme280: "BME280: climate, air pressure",
      clamp: "Clamp: current of the mains",
      dht22: "DHT22: temperature, humidity",
      ina219: "INA219: direct current, voltage",
      lsm6ds3: "LSM6DS3: motion",
      microphone: "Analog microphone: loudness",
      mpr121: "MPR121: four touch pads",
      scd41: "SCD41: CO2, temperature",
      soil_probe: "Soil probe: moisture",
    } as Readonly<Record<string, string>>,
    voltage: (pins: string) => `It reads the voltage at ${pins}.`,
    rate: (sensor: string, hasDriver: boolean, value: number | string) =>
      `--sensor ${sensor} rate has to be a whole number of 1..1,000` +
      `${hasDriver ? ", or like 1/60 for a reading a minute" : ""}, not ${quoted(value)}`,
    slow: (sensor: string, seconds: number, value: number | string) =>
      `--sensor ${sensor} rate=${value}: this sensor has a reading only every ${seconds} seconds. ` +
      `Write rate=1/${seconds}, or slower`,
    whole: (sensor: string, name: string, value: string) =>
      `--sensor ${sensor} ${name} has to be a whole number, not ${quoted(value)}`,
    second: "A second sensor beside it",
    none: "None",
    faster: (sensor: string, rate: number | string, first: number | string) =>
      `--sensor ${sensor} rate=${rate}: the first sensor sets the pace, with rate=${first}, so put the ` +
      "faster one first",
    together: "the sensors together give",
    one: (sensor: string) => `--sensor ${sensor} gives`,
    values: (giving: string, given: number, features: readonly string[]) =>
      `${giving} ${counted(given, "value")}, and the model has ` +
      `${counted(features.length, "feature")}: ${features.slice(0, 12).join(", ")}` +
      (features.length > 12 ? ", ..." : ""),
  },
  pins: {
    none: (pin: number, board: string, last: number) =>
      `There is no pin ${pin}: the last one of the ${board} is ${last}`,
    taken: (option: string, pin: number, board: string, by: string) =>
      `${option}: pin ${pin} of the ${board} belongs to ${by}. Take another pin`,
    onlyReads: (option: string, pin: number, board: string) =>
      `${option}: pin ${pin} of the ${board} can only read, without a pull-up. Take another pin`,
    twice: (pin: number | string, one: string, other: string) =>
      `pin ${pin} is for two things: ${one} and ${other}. Give one of them another pin`,
    button: (option: string) => `the button of ${option}`,
    notAnalog: (pin: number, analog: readonly number[]) =>
      `--sensor adc: pin ${pin} is not analog; ${analog.join(", ")} are`,
    noBus: (sensor: string, scl: number, sda: number) =>
      `--sensor ${sensor}: pins ${scl} and ${sda} cannot be scl and sda of one bus. On this chip they ` +
      "are two like sda=0 scl=1, sda=4 scl=5 (i2c=0) or sda=2 scl=3, sda=6 scl=7 (i2c=1)",
    otherBus: (sensor: string, scl: number, sda: number, bus: number) =>
      `--sensor ${sensor}: scl=${scl} sda=${sda} are pins of bus ${bus}: add i2c=${bus}`,
  },
  wiring: {
    sensor: "Sensor",
    picture: (board: string) => `How it is wired to the ${board}; the table says the same`,
    from: "from",
    to: "to",
    pin: (name: string, number: number) => `${name}, pin ${number}`,
    light: (label: string) => `Light for ${label}, through 330 Ω`,
    ground: "Other end of the lights",
    pixel: (end: string) => `NeoPixel ${end}`,
    buzzer: ["Passive buzzer", "Other end of the buzzer"],
    buzzerName: "Buzzer",
  },

  loss: {
    text: "What you taught or labelled is in no file yet, and would be lost.",
    lose: "Forget it",
    keep: "Keep it",
  },

  phone: {
    title: "Use a phone as the sensor",
    lead: "Point the phone's camera here: it opens this page, where its motion can be the sensor.",
    picture: (address: string) => `QR code of the address ${address}`,
  },

  errors: {
    where: (name: string, line: number, column: string) =>
      `${name}, line ${line}, column ${column}`,
    empty: (name: string) => `${name} has no samples. It needs a header and a row per sample.`,
    gzip: (name: string) =>
      `${name} is not a gzip file, or it is cut short or damaged. Copy it again, or take .gz off its ` +
      "name if it is plain text.",
    gone: (name: string) => `${name} cannot be read any more: it was changed or moved. Choose it again.`,
    utf8: (name: string) => `${name}: not UTF-8 text. Save the file as CSV in UTF-8.`,
    zero: (name: string) =>
      `${name}: a zero byte, so this is no text, or it is UTF-16. Save the file in UTF-8.`,
    notCsv: (name: string, what: string, remedy: string) => `${name} is ${what}, not CSV. ${remedy}`,
    saveAsCsv: "Save it as CSV.",
    byCommand: (command: string) => `\`${command}\` makes a file of it that this page reads.`,
    dateClass: (name: string, column: string) =>
      `${name}: column ${column} holds dates, and a date is a clock and no class. Choose another column.`,
    line: (name: string, line: number) => `${name}, line ${line}`,
    longLine: (line: number) =>
      `Line ${line}: no line end within a million characters, so this is no table. Or look for a ` +
      'stray " in it.',
    quote: (line: number, mark: string) =>
      `Line ${line} cannot be read. Look for a stray ${mark} in it.`,
    noData: (name: string) => `${name} has no @data line, so it is not an ARFF file.`,
    arffHeader: (name: string, line: string) =>
      `${name}: this line of the header cannot be read: ${line.trim()}. Attributes are numeric or ` +
      "nominal, each with a name of its own.",
    unfit: (name: string, column: string, type: string) =>
      `${name}: attribute ${column} is of type ${type}; only numeric and nominal attributes can be ` +
      "learned from. Remove it.",
    sparse: (name: string, line: number) =>
      `${name}, line ${line}: sparse ARFF rows are not read. Convert it to dense rows.`,
    undeclared: (where: string, cell: string) => `${where}: "${cell}" is not declared in the header.`,
    manyDeclared: (where: string, n: number, most: number) =>
      `${where}: ${n} values are declared and ${most} is the most. Leave the column out.`,
    columnCount: (n: number, most: number) =>
      `There are ${count(n)} feature columns beside the class; 1 to ${most} are possible. Cells are ` +
      "separated by commas, semicolons or tabs.",
    nameless: (where: string, place: number) =>
      `${where}: column ${place} has no name. Name it, or delete the column.`,
    twice: (where: string, each: readonly string[]) => `${where}: ${each.join("; ")}. Rename all but one.`,
    namedAlike: (name: string, places: readonly number[]) =>
      `${places.length === 2 ? "two" : places.length} columns are named ${name} (${places.join(", ")})`,
    otherClass: (name: string) =>
      `Otherwise another column holds the class. Choose the column ${name} as the class.`,
    sample: (where: string, cell: string) =>
      `${where}: ${cell} is a number and no name, so this is a sample. A header row is needed. Add a ` +
      "row of column names.",
    noHeader: (where: string) =>
      `${where}: only numbers, so not a header. Add a row of column names.`,
    commentHeader: (where: string) =>
      `${where} begins with #. If it is the header, take the # away; if it is a comment, delete the ` +
      "line, and others like it: comments are not read.",
    oddCell: (where: string, cell: string) =>
      `${where}: ${cell} is no name of a column, but a line of a log.`,
    recordLines: (name: string, format: "mqtt" | "influx") =>
      `${name} holds ` +
      { mqtt: "MQTT messages, a topic and a JSON record each", influx: "InfluxDB's line protocol" }[format] +
      ", and no table.",
    longTable: (name: string) =>
      `${name} has a row for each value of each series.`,
    comment: (where: string) =>
      `${where} begins with #, as a comment does. Delete the line: comments are not read.`,
    excelWord: (where: string, word: string) =>
      `${where} is ${word}, a word to Excel. Delete the line.`,
    noColumn: (name: string) => `There is no column ${name}.`,
    width: (where: string, expected: number, actual: number) =>
      `${where}: ${expected} cells expected, one per column, but ${actual} found. Complete the row or ` +
      "delete it.",
    infinite: (where: string) =>
      `${where}: an infinite number. Leave the cell empty if the value is unknown.`,
    text: (where: string, cell: string) =>
      `${where}: '${cell}' is text, but this column holds numbers. Write a number, or leave the cell ` +
      "empty if the value is missing.",
    people: (where: string, advice: string) => `${where}: ${advice}, here and in the rest of the file.`,
    comma: (cell: string, one: string, other: string) =>
      `'${cell}' has a comma between thousands, or a decimal comma. Write ${one} or ${other}, ` +
      "whichever is meant",
    thousands: (cell: string, plain: string) =>
      `'${cell}' has commas between thousands. Write ${plain}`,
    grouped: (cell: string, plain: string, text: string) =>
      `'${cell}' has thousands set apart, or is a text. Write ${plain} or ${text}, whichever is meant`,
    decimalComma: (cell: string, plain: string) => `'${cell}' has a decimal comma. Write ${plain}`,
    unit: (cell: string, plain: string) =>
      `'${cell}' is a number with a unit. Write ${plain}, and the unit in the header`,
    categories: (where: string, n: number, rows: number) =>
      `${where} holds ${n} different texts in the first ${rows} rows; it looks like a date or an ` +
      "identifier: delete the column, or turn it into numbers.",
    noClass: (where: string) => `${where}: the class is missing. Fill it in or delete the row.`,
    classCount: (where: string, names: readonly string[]) =>
      names.length < 2
        ? `${where}: the only class is ${names[0]}, so there is nothing to learn. Read more samples, ` +
          "or choose another column of the class."
        : `${where}: the column has ${names.length} classes and 256 is the most. If it is a ` +
          "measurement, choose the class column.",
    noFile: "Choose a CSV or ARFF file first.",
  },

  notes: {
    clock: (name: string) =>
      `The column ${name} is left out: it says when a row was recorded, which a board that learns ` +
      "cannot know.",
    header: (name: string, line: number) =>
      `${name}, line ${line} was read as the header. If it is a sample, add a row of column names.`,
    rises: "only rises",
    falls: "only falls",
    tells: "tells the class nearly one to one",
    named: (meaning: string) => `is named like ${meaning}`,
    telltale: (file: string, name: string, reasons: readonly string[]) =>
      `${file}: the column ${name} ${reasons.join(" and ")}. If it says when or where a sample was taken ` +
      "down, or was made of the class, it gives the answer away here and is worth nothing on a " +
      "board: leave the column out.",
    spaced: (where: string, name: string) =>
      `${where}: the class ${name} has other spaces behind it here than before, and is read as one class.`,
    alike: (where: string, names: readonly string[], by: "number" | "case" | "encoding") =>
      `${where}: the classes ${names.map((name) => `'${name}'`).join(", ")} differ only by ` +
      { number: "how the number is written", case: "case or spaces", encoding: "how letters are encoded" }[by] +
      `, and are ${names.length} classes to a model. If they are one, write them alike.`,
    form: (name: string, column: string, what: string) => `${name}: column ${column}: ${what}.`,
    notUtf8: (name: string, line: number) =>
      `${name}: line ${line} is not UTF-8, so it is read as Windows-1252, which older programs write.`,
    unitOff: (unit: string) => `the unit ${unit} is taken off`,
    signsOff: (signs: readonly string[]) => `${signs.join(" and ")} is taken off`,
    decimalCommas: "decimal commas are read",
    thousandsOut: "commas between thousands are taken out",
    thousandsApart: "thousands are set apart",
    line: (line: number) => `line ${count(line)}`,
    record: (record: number) => `record ${count(record)}`,
    leftOut: (name: string, n: number, parts: readonly string[]) =>
      `${name}: ${count(n)} line${n === 1 ? "" : "s"} left out: ${parts.join(", ")}.`,
    leftOutKind: (
      n: number,
      kind: "boot" | "prompt" | "text" | "header" | "cut" | "units",
      first: string,
    ) =>
      `${count(n)} ` +
      {
        boot: "of a board that starts",
        prompt: "of MicroPython's prompt",
        text: "of text",
        header: "the header again",
        cut: "cut in half",
        units: "of units",
      }[kind] +
      (n > 1 ? ` (the first is ${first})` : ` (${first})`),
    jsonRecords: "the rows are JSON records",
    jsonLists: "the columns are JSON lists",
    jsonEdge: "the rows are the readings of Edge Impulse's JSON",
    jsonIn: (key: string) => `the rows are the JSON records in ${key}`,
    measured: (where: string, classes: number) =>
      `${where}: its ${classes} classes are all numbers. If it is a measurement, choose the class ` +
      "column, or predict the number itself with the simulator: microshrub simulate --target.",
  },
};
