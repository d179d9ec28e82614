// Alles, was die Seite sagt, auf Deutsch.

import type { Texts } from "../texts";
import { OPTIONS } from "./options_de";

const count = (n: number): string => n.toLocaleString("de");
const kilobytes = (n: number): string => `${count(n / 1024)} KB`;
const samples = (n: number): string => (n === 1 ? "1 Beispiel" : `${count(n)} Beispiele`);
const ofSamples = (n: number): string => (n === 1 ? "1 Beispiel" : `${count(n)} Beispielen`); // "von ..."

/** Translations of the simulator's tables on files and columns, which the page has in English. */
const GERMAN: Readonly<Record<string, string>> = {
  "a model that `simulate --save` wrote": "ein Modell von `simulate --save`",
  "an OpenDocument file": "eine OpenDocument-Datei",
  "an Excel workbook": "eine Excel-Arbeitsmappe",
  "an old Excel workbook": "eine alte Arbeitsmappe von Excel",
  "a zip archive": "ein Zip-Archiv",
  "a Parquet file": "eine Parquet-Datei",
  "an Arrow or Feather file": "eine Arrow- oder Feather-Datei",
  "an HDF5 file": "eine HDF5-Datei",
  "a Python pickle": "ein Pickle von Python",
  "a NumPy array": "ein NumPy-Array",
  "a MATLAB file": "eine MATLAB-Datei",
  "an SQLite database": "eine SQLite-Datenbank",
  "packed with gzip twice": "zweimal mit gzip gepackt",
  "packed with bzip2": "mit bzip2 gepackt",
  "packed with xz": "mit xz gepackt",
  "packed with zstd": "mit zstd gepackt",
  "an archive": "ein Archiv",
  "a PDF": "ein PDF",
  "a picture": "ein Bild",
  "a web page": "eine Webseite",
  "an XML file": "eine XML-Datei",
  "a JSON file": "eine JSON-Datei",
  "Save the sheet that has the samples as CSV in UTF-8 (File, Save As), and name that file.":
    "Speichere das Blatt mit den Beispielen als CSV in UTF-8 (Datei, Speichern unter) und wähl diese Datei.",
  "Unpack it, and name the CSV or ARFF file in it.": "Entpack es und wähl die CSV- oder ARFF-Datei darin.",
  "Models are named with --model; DATA is a CSV or ARFF file.": "Wähl eine CSV- oder ARFF-Datei.",
  "Export the table as CSV in UTF-8, and name that file.":
    "Exportiere die Tabelle als CSV in UTF-8 und wähl diese Datei.",
  "Write it as CSV with numpy.savetxt, with a header.":
    "Schreib es mit numpy.savetxt als CSV, mit einer Kopfzeile.",
  "Unpack it once.": "Entpack es einmal.",
  "Name a CSV or ARFF file.": "Wähl eine CSV- oder ARFF-Datei.",
  "Download the data itself, and name that file.": "Lade die Daten selbst herunter und wähl diese Datei.",
  "a clock": "eine Uhrzeit",
  "a row's number": "eine Zeilennummer",
  "an identifier": "eine Kennung",
};
const german = (english: string): string => GERMAN[english] ?? english;

export const de: Texts = {
  language: "de",
  title: "microshrub",
  lead:
    "Lernen auf Mikrocontrollern, Beispiel für Beispiel. Hier lernt derselbe Code wie auf dem Board: " +
    "seine Bibliothek, in MicroPython, in dieser Seite.",
  path: "Schritte",
  lesson: "Für den Unterricht: eine Stunde mit einem Board, das lernt, zum Drucken (englisch)",
  licenses: "Lizenzen der Bestandteile dieser Seite",
  offline: "Nichts verlässt diese Seite. Sie funktioniert auch ohne Netz.",
  failed: (why) => `Die Seite kann nicht starten: ${why}. Lade sie neu.`,
  loading: "Wird geladen ...",
  browser: "Dieser Browser hat kein WebAssembly oder keine Worker mit Modulen. Nimm einen neueren.",

  playground: {
    title: "Spielwiese",
    lead:
      "Sieh dem Lernverfahren zu: bei einem Datenstrom, dessen Regel wechselt, bei einer eigenen Datei " +
      "oder auf einem Board, auf dem sein Programm läuft.",
    streams: "Ein Datenstrom oder eine eigene Datei",
    stream: "Datenstrom",
    ownStream: "Eine eigene CSV- oder ARFF-Datei",
    file: "CSV- oder ARFF-Datei, die Klasse in der letzten Spalte",
    drop: "oder zieh eine Datei hierher",
    label: "Spalte der Klasse",
    leaveOut: "Spalten, die wegbleiben: Kennungen, Uhrzeiten",
    board: "Board",
    learner: "Lernverfahren",
    options: "Optionen des Lernverfahrens",
    start: "Start",
    stop: "Anhalten",
    download: "Diesen Datenstrom herunterladen",
    ready: "Drück auf Start.",
    reading: (name, share, left) => `${name} wird gelesen: ${share} %${left && `, noch ${left}`}`,
    left: (text) => (text ? `, noch ${text}` : ""),
    seconds: (n) => `etwa ${count(n)} s`,
    minutes: (n) => `etwa ${count(n)} min`,
    hours: (n) => (n === 1 ? "etwa 1 Stunde" : `etwa ${count(n)} Stunden`),
    readingStopped: "Angehalten, während die Datei gelesen wurde.",
    notes: "Anmerkungen zur Datei",
    loading: "MicroPython wird geladen ...",
    running: (done, all, accuracy, rate) =>
      `${count(done)} von ${ofSamples(all)}, ${accuracy} richtig vorhergesagt, ${count(rate)} je Sekunde`,
    done: (all, accuracy) =>
      `${samples(all)} gelernt, jeweils vorher ${accuracy} richtig vorhergesagt.`,
    stopped: (done) => `Angehalten nach ${ofSamples(done)}.`,
  },
  streams: {
    sea: "SEA: die Schwelle verschiebt sich",
    agrawal: "Agrawal: die Regel wechselt",
    led: "LED: Ziffern mit Störungen",
  },
  optionHelp: (help) => OPTIONS[help] ?? help,
  streamShape: (n, features, classes) =>
    `${samples(n)}, ${count(features)} Merkmale, ${count(classes)} Klassen`,
  learners: {
    thicket: "Thicket, ganz ohne Optionen",
    shrub: "Shrub Ensemble",
    hoeffding: "Hoeffding-Baum",
  },

  accuracy: {
    title: "Genauigkeit, jeweils vor dem Lernen",
    samples: "Beispiele",
    model: "Lernverfahren, bisher",
    recent: (n) => `Lernverfahren, die letzten ${count(n)}`,
    nochange: "NoChange: die letzte Klasse",
    majority: "MajorityClass: die häufigste Klasse",
    drifts: (n) => (n === 1 ? "1 Drift erkannt" : `${count(n)} Drifts erkannt`),
    none: "keine Drift erkannt",
    first: (sample) => `die erste bei Beispiel ${count(sample)}`,
    described: (model, recent, nochange, majority) =>
      `Genauigkeit: das Lernverfahren ${model}, zuletzt ${recent}, NoChange ${nochange}, MajorityClass ${majority}`,
  },
  newest: {
    title: "Neuestes Beispiel",
    predicted: "vorhergesagt",
    truth: "tatsächlich",
    confidence: "Konfidenz",
    of: (confidence) => `${confidence} von 255`,
    nothing: "nichts: es hatte noch nichts gelernt",
    progress: "Blick ins Lernverfahren",
  },
  confusion: {
    title: "Konfusionsmatrix",
    caption: "Zeilen: tatsächlich. Spalten: vorhergesagt.",
    tooMany: "Die Matrix wird für bis zu 32 Klassen geführt.",
  },
  memory: {
    title: "RAM auf dem Board",
    learner: "die Puffer des Lernverfahrens",
    companions: "Quantisierung, Metriken und Zeilen",
    overhead: "Code, Kopfdaten und Objekte (mit voreingestellten Optionen)",
    free: "frei für dein Programm",
    over: "mehr, als dieses Board hat",
    sum: (taken, free, board) => `${count(taken)} der ${count(free)} Bytes, die ${board} frei hat`,
    buffers: (n) => `Alle ${count(n)} Puffer`,
    buffer: "Puffer",
    bytes: "Bytes",
  },
  state: {
    title: "Bit für Bit gleich",
    page: "CRC32 des Zustands in dieser Seite",
    simulator: "CRC32 des Simulators",
    same: "Sie sind gleich: Jedes Bit jedes Puffers stimmt überein.",
    other: "Sie sind nicht gleich. Bitte melde das.",
    unknown: "Lass zum Vergleich den Simulator dieselbe Datei lernen:",
    waits: "Steht am Ende des Datenstroms hier.",
  },
  takeAway: {
    title: "Auf ein Board bringen",
    program: "Das Programm herunterladen",
    unpack: (board) =>
      `Das Programm lernt auf deinem ${board} weiter. Entpack die Zip-Datei in einen Ordner gleichen ` +
      "Namens; dieser Befehl kopiert ihn, prüft jede Datei und lässt das Board beweisen, dass es " +
      "dieselben Bits berechnet:",
    model: "Das Modell herunterladen",
    open: "Das Modell ist auch eine Datei des Simulators:",
    tooLarge: (board, taken, free) =>
      `Mit dem Programm braucht das Modell etwa ${count(taken)} Bytes RAM; ${board} hat ${count(free)} frei. ` +
      "Wähl kleinere Optionen, ein anderes Lernverfahren oder ein anderes Board.",
    waits: "Das Modell kannst du herunterladen, sobald es fertig gelernt hat.",
  },
  board: {
    flash: "Ein Board verbinden und das Programm darauf bringen",
    noSerial:
      "Um das von hier aus zu tun, öffne diese Seite an einem Computer in Chrome, Edge oder Firefox " +
      "(ab 151), die WebSerial haben, oder starte microshrub bridge --port PORT und öffne die Adresse, die es ausgibt.",
    noneChosen:
      "Es wurde kein Anschluss gewählt. Steckt das Board an einem Kabel, das auch Daten überträgt?",
    taken:
      "Der Anschluss lässt sich nicht öffnen. Ein anderes Programm oder ein anderer Tab belegt ihn: " +
      "Schließ diesen Tab, Thonny oder mpremote.",
    gone: "Das Board wurde abgezogen oder neu gestartet.",
    bridgeGone:
      "Die Brücke antwortet nicht, oder nicht dieser Adresse. Läuft microshrub bridge? Öffne die " +
      "Adresse, die es ausgibt.",
    silent:
      "MicroPython antwortet nicht. Ist es auf dem Board installiert? Wenn dort ein Programm läuft, " +
      "drück die Reset-Taste des Boards und fang noch einmal an.",
    version:
      "Das MicroPython dieses Boards lädt keine .mpy-Dateien der Version 6. Installiere ein neueres.",
    says: (text) => `Das Board sagt ${text}`,
    connecting: "Verbindung wird hergestellt ...",
    answers: (arch) => `MicroPython antwortet; sein Code ist ${arch}. Wird kopiert ...`,
    copying: (done, total) => `${count(done)} von ${count(total)} Bytes kopiert`,
    checking: "Jede Datei wird verglichen, und das Board lernt einen festen Datenstrom ...",
    done: "Das Board hat dieselben Bits und hat sein Programm gestartet:",
    space: (need, free) =>
      `Das Programm braucht ${count(need)} Bytes im Flash des Boards, und ${count(free)} sind frei. ` +
      "Lösch dort Dateien.",
    memory: (taken, free, name) =>
      `Das Programm braucht etwa ${count(taken)} Bytes RAM, und dieses Board hat ${count(free)} frei. Ist es ` +
      `ein ${name}? Wenn nicht, wähl oben dein Board. Das Programm des Boards ist unverändert.`,
    noStart: (line) => `Das Programm ist auf dem Board, startet aber nicht: ${line}`,
    full: "Der Flash des Boards ist voll. Lösch dort Dateien; das Board hat noch sein bisheriges Programm.",
    damaged: (path) =>
      `${path} kam auf dem Board nicht so an, wie es gesendet wurde. Fang noch einmal an; das Board ` +
      "hat noch sein bisheriges Programm.",
    other: (actual, expected) =>
      `Das Modell des Boards hat die Prüfsumme ${actual}, und das dieser Seite ${expected}. Das Programm ` +
      "des Boards ist unverändert. Bitte melde das.",
  },
  blank: {
    title: "Ein neues Board: erst MicroPython installieren",
    lead: "Ein Board braucht MicroPython, bevor es lernen kann. Wähl deines:",
    drag: (name, firmware) =>
      `Halt die Taste BOOTSEL gedrückt, während du den ${name} einsteckst: Er erscheint als Laufwerk ` +
      `${firmware.startsWith("RPI_PICO2") ? "RP2350" : "RPI-RP2"}. Zieh die Datei ` +
      `${firmware}-DATE-vVERSION.uf2 darauf, die neueste von micropython.org/download/${firmware}. ` +
      "Das Laufwerk verschwindet, und das Board startet mit MicroPython.",
    download: (name, firmware) =>
      `Lade für ${name} die Datei ${firmware}-DATE-vVERSION.bin herunter, die neueste von ` +
      `micropython.org/download/${firmware}. Alles, was auf dem Board ist, wird gelöscht.`,
    file: "Die Datei, die du heruntergeladen hast",
    write: "Board verbinden, löschen und MicroPython schreiben",
    noFile: "Wähl zuerst die heruntergeladene Datei.",
    noImage:
      "Das ist kein Abbild für einen ESP32: Es beginnt nicht mit dem Byte E9. Wähl die .bin-Datei, so " +
      "wie sie heruntergeladen wurde.",
    noPartitions:
      "Dieses Abbild hat keine Partitionstabelle, kann also kein leeres Board starten. Wähl die " +
      "Datei, deren Name auf .bin endet, nicht auf .app-bin.",
    unknownChip: (id, known) =>
      `Dieses Abbild ist für den Chip mit der Nummer ${id}. Diese Seite kennt ${known.join(", ")}.`,
    otherChip: (actual, wanted) =>
      `Das Board hat einen ${actual}, und das Abbild ist für einen ${wanted}. Es wurde nichts ` +
      "geschrieben. Lade das Abbild für dein Board herunter.",
    noLoader: (why) =>
      "Der Bootloader im ROM des Chips antwortet nicht. Halt die Taste BOOT gedrückt, drück kurz RESET " +
      `(oder EN), lass BOOT los und fang noch einmal an. (${why})`,
    small: (size) =>
      `Das Abbild passt nicht in den Flash des Boards, der seine Größe mit ${size} angibt.`,
    connecting: "Verbindung mit dem Bootloader im ROM des Chips ...",
    erasing: (chip) => `${chip} gefunden. Sein Flash wird gelöscht, was eine Minute dauern kann ...`,
    writing: (done, total) => `${count(done)} von ${count(total)} komprimierten Bytes geschrieben`,
    comparing: "Alles ist geschrieben; der Chip vergleicht es ...",
    starting:
      "Im Flash steht, was in der Datei steht. Warten auf den Start von MicroPython ...",
    answers: (version, machine) =>
      `MicroPython ${version} antwortet (${machine}). Bring jetzt ein Modell auf das Board: siehe oben.`,
    silent:
      "Im Flash steht, was in der Datei steht, doch an diesem Anschluss antwortet MicroPython " +
      "noch nicht. Drück die Reset-Taste des Boards; bring dann ein Modell darauf: siehe oben.",
  },
  watch: {
    title: "Einem Board zusehen",
    lead:
      "Verbinde ein Board, auf dem das Programm von microshrub läuft: Sieh, wie gut es lernt, und bring " +
      "ihm etwas bei.",
    connect: "Verbinden",
    end: "Trennen",
    numbers: "Was das Board meldet",
    sensor: "Sein eigener Sensor",
    csv: "Die Aufnahme herunterladen",
    labels: "Klassen",
    noSensor:
      "Es kam kein Beispiel von einem Sensor. Ein Board, das über seine Leitung lernt, schickt keine.",
    stream: "Das Board den oben gewählten Datenstrom lernen lassen",
    confirmed: (done, all) => `${count(done)} von ${ofSamples(all)} bestätigt`,
    sent: (n, seconds) =>
      `${samples(n)} in ${seconds.toLocaleString("de", { maximumFractionDigits: 1 })} s gesendet und gelernt.`,
    state: "CRC32 des Zustands auf dem Board:",
    waits: (why) =>
      `${why} Es geht weiter, sobald das Board zurück ist, vom ersten Beispiel an, das nicht bestätigt ` +
      "wurde.",
    back: "Das Board ist zurück.",
    forgot:
      "Das Board wurde neu gestartet und weiß nicht mehr, was es vor diesem Datenstrom gelernt hatte. " +
      "Bring das Programm noch einmal darauf, oder fang den Datenstrom von vorn an.",
    resets: "Das Board startet immer wieder neu. Sieh in einem Terminal, was es sagt.",
    learned: (n, accuracy) => `${samples(n)} gelernt${accuracy && `, ${accuracy} richtig vorhergesagt`}`,
    newest: (name, confidence, recorded) =>
      `${name}, Konfidenz ${confidence} von 255; ${samples(recorded)} aufgenommen`,
    nothingYet: (recorded) => `Das Board hat noch nichts gelernt; ${samples(recorded)} aufgenommen`,
    otherStream:
      "Das Programm des Boards ist für andere Merkmale, Klassen oder Einheiten als der Datenstrom, der " +
      "oben gewählt ist.",
    forecast: (n) => `Das Board hat ${samples(n)} erhalten.`,
    recorded: (rows) => `${samples(rows)} aufgenommen`,
    predicted: (name) => `vorhergesagt: ${name}`,
    between: (low, high) => `, zwischen ${low} und ${high}`,
    of: (error, n) => `${error} von ${count(n)}`,
    names: {
      came: "Beispiele, die kamen",
      error: "mittlerer absoluter Fehler",
      lastTarget: "NoChange: der letzte Zielwert",
      inside: "innerhalb des Intervalls",
      samples: "Beispiele mit Klasse",
      accuracy: "Genauigkeit",
      nochange: "NoChange: die letzte Klasse",
      kappa: "Kappa",
      heap: "freie Bytes im Heap",
      drift: "Drift (wie oft bisher)",
      seconds: "Sekunden seit dem Start",
      damaged: "beschädigte Rahmen",
      missed: "verpasste Messungen",
      saved: "gespeichert: Stecker darf gezogen werden",
    },
    saved: (unsaved, seconds) =>
      unsaved > 0
        ? `nein: ${samples(unsaved)} noch nicht`
        : unsaved < 0
          ? "nie: Dieses Programm behält ohne Strom nichts"
          : seconds < 0
            ? "nichts Neues"
            : `vor ${count(seconds)} s`,
    levels: ["keine", "Warnung", "Drift"],
    errors: {
      silent:
        "Das Programm des Boards antwortet nicht. Bring zuerst eines darauf; wenn eines da ist, drück " +
        "die Reset-Taste des Boards.",
      reset: "Das Board wurde neu gestartet. Verbinde noch einmal.",
      version: "Das Programm des Boards spricht eine andere Version des Protokolls. Bring ein neues darauf.",
    },
  },

  anomalies: {
    title: "Was ungewöhnlich ist",
    now: (score, threshold, alarms) =>
      `Das letzte Beispiel hat den Wert ${score}; Alarm gibt es über ${threshold}. Alarme bisher: ${count(alarms)}.`,
    normal: "Das ist normal",
    isNormal: (left) =>
      left
        ? `Das ist normal: ${left === 1 ? "Das nächste Beispiel zeigt" : `Die nächsten ${samples(left)} zeigen`} es.`
        : "Das ist normal: Was sich das Board gemerkt hat, bleibt so.",
    tooOld: "Das Programm des Boards ist dafür zu alt. Bring ein neues darauf.",
  },

  queries: {
    title: "Welche Klasse?",
    asked: (id, predicted) => `Was ist Beispiel ${id}? Vorhergesagt: ${predicted}.`,
    changed: (id) => `Die Frage hatte gerade gewechselt: Jetzt geht es um Beispiel ${id}. Bitte noch einmal antworten.`,
    none: "Kein Beispiel wartet auf seine Klasse.",
    answers: "Antworten",
    many: (asked, seen) => {
      const share = ((100 * asked) / Math.max(seen, 1)).toFixed(2).replace(".", ",");
      return `Nach ${count(asked)} von ${ofSamples(seen)} wurde gefragt, ${share} %.`;
    },
  },

  naming: {
    title: "Neue Klassen",
    novel: (n, isAsking) =>
      (n === 1 ? "1 neuartiges Beispiel wartet" : `${count(n)} neuartige Beispiele warten`) +
      ` auf einen Namen.${isAsking ? " Was ist das?" : ""}`,
    name: "Name",
    which: "Klasse",
    into: "ist dasselbe wie",
    none: "Wähl erst eine Klasse.",
    do: {
      name: "So heißen die neuartigen Beispiele",
      dismiss: "Sie sind nichts Neues",
      rename: "Gib ihr den Namen von oben",
      forget: "Vergiss sie",
      merge: "Leg sie zusammen",
    },
  },

  teach: {
    title: "Bring ihm eine Geste bei",
    lead:
      "Drück auf einen Namen und mach einige Sekunden lang diese Geste, dann die nächste. Drück zuletzt " +
      "auf „nur vorhersagen“: Kennt es sie?",
    source: "Sensor",
    sourceGroups: { board: "Für ein Board", play: "Zum Spielen" },
    sources: {
      pointer: "Zeiger oder Finger",
      motion: "Bewegung des Handys",
      keyboard: "Tastatur",
      microphone: "Mikrofon (wie laut es ist)",
      board: "Ein Board am Kabel",
    },
    hints: {
      pointer: "Beweg hier den Zeiger oder einen Finger.",
      motion: "Beweg dieses Gerät.",
      keyboard: "Drück Tasten: die Pfeiltasten, oder beliebige in einem Rhythmus.",
      microphone: "Sprich, klatsch, pfeif.",
      board: "Steck ein Board an, dessen Programm einen Sensor hat, und drück auf „Anfangen“.",
    },
    readings: {
      title: "Ein Programm, das seine Messungen schickt",
      lead: "Es ersetzt das Programm, das auf dem Board ist. Drück danach auf „Anfangen“.",
    },
    cable: {
      rate: (rate) => (rate === 1 ? "1 Messung je Sekunde" : `${count(rate)} Messungen je Sekunde`),
      waits: (why) =>
        `${why} Steck es wieder an, dann geht es weiter. Gelerntes bleibt; „Beenden“ hört hier auf.`,
      back: "Das Board ist wieder da.",
      lost: (why) => `${why} Gelerntes bleibt. Ist das Board wieder da, drück auf „Weitermachen“.`,
      silent:
        "Kein Programm von microshrub antwortet. Startet das Board gerade, warte und drück noch einmal " +
        "auf „Anfangen“; hängt sein Programm, drück die Reset-Taste. Hat das Board nur MicroPython, bekommt " +
        "es unten ein Programm; hat es keines, braucht es das zuerst: siehe „Ein neues Board“ im " +
        "nächsten Schritt.",
      tooOld: "Das Programm des Boards ist zu alt: Es sagt nicht, was sein Sensor ist. Bau es neu.",
      forecasts:
        "Das Programm des Boards sagt eine Zahl vorher. Um ihm Gesten beizubringen, bring ein anderes " +
        "darauf, etwa das Programm unten.",
      noSensor:
        "Das Programm des Boards hat keinen Sensor: Beispiele kommen über das Kabel. Bring eines mit " +
        "Sensor darauf, etwa das Programm unten, oder bau eines mit --sensor.",
      features:
        "Das Programm des Boards macht aus seinen Messungen Merkmale und schickt nur diese. Hier " +
        "werden die Messungen gebraucht: Bring ein Programm ohne --features auf das Board, etwa das " +
        "unten.",
      slow: (seconds) =>
        `Das Board misst alle ${count(seconds)} Sekunden, und eine Geste braucht mindestens eine ` +
        "Messung je Sekunde. Bau sein Programm mit einer höheren Rate.",
      nothing: "Vom Board kommt keine Messung. Antwortet sein Sensor? Prüf, wie er verdrahtet ist.",
      otherProgram: "Auf dem Board ist jetzt ein anderes Programm.",
      otherReadings: (names, rate) =>
        `Gelernt wurde mit den Messungen ${names.join(", ")}, ${count(rate)} je Sekunde, und dieses ` +
        "Board hat andere. Verbinde das Board von vorher, oder fang von vorn an.",
    },
    remarks: {
      motion: "Ein Board fühlt dasselbe mit einem MPU-6050.",
      board: "Gelernt wird mit dem, was das Board hat.",
      pointer:
        "Zum Spielen: Ein Board hat keinen Zeiger. Um einem Board etwas beizubringen, öffne diese " +
        "Seite auf einem Handy oder wähl „Ein Board am Kabel“.",
      keyboard:
        "Zum Spielen: Ein Board hat keine Tastatur. Um einem Board etwas beizubringen, öffne diese " +
        "Seite auf einem Handy oder wähl „Ein Board am Kabel“.",
      microphone: "Zum Spielen: Das Mikrofon eines Boards hört anders. Um einem Board etwas beizubringen, wähl „Ein Board am Kabel“.",
    },
    classes: {
      title: "Gesten",
      add: "Geste hinzufügen",
      name: (n) => `Name der Geste ${n}`,
      remove: (name) => `${name} und ihre Aufnahmen löschen`,
      threshold: (name) => `Konfidenz, ab der ${name} erkannt wird`,
      above: (percent) => (percent ? `erst ab ${percent} %` : "bei jeder Konfidenz"),
      howToThreshold:
        "Unter dieser Konfidenz wird die Geste hier nicht erkannt und schaltet auf einem Board nichts.",
      record: "Aufnehmen",
      recording: "Nimmt auf ...",
      howToRecord: "Drücken: 3, 2, 1, dann nimmt es fünf Sekunden auf. Halten: solange du hältst.",
      samples,
      fresh: (n) => `Geste ${n}`,
      nameless: "Eine Geste braucht einen Namen.",
      twice: (name) => `Es gibt schon eine Geste namens ${name}. Nimm einen anderen Namen.`,
    },
    defaultNames: ["Kreis", "Linie", "Ruhe"],
    start: "Anfangen",
    stop: "Beenden",
    goOn: "Weitermachen",
    over: "Von vorn",
    undo: "Rückgängig",
    open: "Ein Projekt öffnen",
    loading: "MicroPython wird geladen ...",
    labels: "Was du zeigst",
    predict: "nur vorhersagen",
    hears: "Es erkennt",
    nothingYet: "noch nichts",
    below: (name, percent) => `${name}? Unter ${percent} %`,
    unsure: (names) => `unsicher: ${names.join(" oder ")}`,
    first: "Drück auf einen Namen und zeig die Geste.",
    teaching: (name) => `Es lernt ${name}. Drück nach einigen Sekunden auf den nächsten Namen.`,
    finishing: "Es lernt noch den Rest ...",
    predicting: "Es sagt jetzt nur vorher. Mach irgendeine der Gesten.",
    heard: (learned) => `${samples(learned)} gelernt`,
    waiting: (n) => `; ${samples(n)} ${n === 1 ? "wartet" : "warten"} noch darauf, gelernt zu werden`,
    lost: (n) =>
      `; ${n === 1 ? "1 Messung" : `${count(n)} Messungen`} verloren: Das Gerät war zu beschäftigt, oder ` +
      "der Sensor machte Pause",
    stopped: (n) =>
      `Es hat ${samples(n)} gelernt. Bring es jetzt im nächsten Schritt auf ein Board.`,
    nothing: "Es wurde nichts gelernt: Drück auf einen Namen und zeig die Geste.",
    unseen: {
      all: "Nimm jede Geste noch einmal auf, um zu sehen, wie gut es sie kennt.",
      more: (names) => `Nimm ${names.join(" und ")} noch einmal auf, um zu sehen, wie gut es sie kennt.`,
      later: "Drück auf „nur vorhersagen“, um zu sehen, wie gut es sie kennt.",
      checking: "Es lernt einige Aufnahmen von vorn und sagt die anderen vorher ...",
      failed: (why) => `Wie gut es ist, lässt sich nicht sagen: ${why}`,
      sampling: "Es lernt zuerst eine Stichprobe der Zeilen ...",
      sampled: (share, rows, all) =>
        `Auf ungesehenen Daten: ${share}, aus einer Stichprobe von ${count(rows)} der ${count(all)} Zeilen`,
      stretches: "Es lernt einige Abschnitte von vorn und sagt die anderen vorher ...",
      none: "Jede Klasse hat einen Abschnitt: Wie gut es auf ungesehenen Daten ist, lässt sich nicht sagen.",
      figure: (share) => `Auf ungesehenen Daten: ${share}`,
      now: (share) => `; Stand jetzt: ${share}`,
      share: (right, asked, guessing) => `${right} von ${ofSamples(asked)} (geraten: ${guessing})`,
      alike: (one, other, mistaken, asked) =>
        `${one} und ${other} ähneln sich: ${count(mistaken)} von ${count(asked)} verwechselt`,
    },
    cards: {
      title: "Aufnahmen",
      lead:
        "Änderst du eine Aufnahme oder eine Geste, wird alles sofort neu gelernt. „Rückgängig“ nimmt es " +
        "zurück. Dieser Browser behält alles, bis du von vorn anfängst.",
      growing: "wird aufgenommen",
      samples,
      play: (n) => `Aufnahme ${n} abspielen`,
      remove: (n) => `Aufnahme ${n} löschen`,
      move: (n) => `Name der Aufnahme ${n}`,
    },
    exam: {
      begin: "Prüfung: Zeig jede Geste noch einmal",
      show: (name) => `Zeig: ${name}`,
      balanced: (share) => `${share} richtig, jeder Name zählt gleich viel.`,
    },
    noProject: (name) =>
      `${name} ist kein Projekt, das diese Seite gespeichert hat, oder es ist beschädigt. Ein ` +
      "Modell von simulate --save enthält keine Aufnahmen.",
    insecure:
      "Browser geben Bewegungsdaten nur an Seiten, die über https oder von diesem Gerät kommen.",
    refused:
      "Du hast den Bewegungssensor nicht erlaubt. Lade die Seite neu, um wieder gefragt zu werden.",
    noMotion: "Dieses Gerät hat keinen Bewegungssensor oder gibt ihn nicht frei. Nimm den Zeiger.",
    insecureMicrophone:
      "Browser geben Ton nur an Seiten, die über https oder von diesem Gerät kommen.",
    noMicrophone: "Es gibt kein Mikrofon, oder du hast es nicht erlaubt. Nimm einen anderen Sensor.",
    noName: (name) =>
      `In einer CSV-Datei sagt ${name}, dass die Geste nicht bekannt ist. Gib ihr einen anderen Namen.`,
  },

  handOver: {
    title: "Bring es auf ein Board",
    lead: "Ein Board für wenige Euro macht mit dem Gelernten allein weiter und lernt dazu.",
    waits: "Bring ihm erst etwas bei und drück auf „Beenden“: Dann kannst du das Gelernte hier auf ein Board bringen.",
    connect: "Verdrahten, verbinden, fertig",
    resizing: "Es lernt alles noch einmal, mit einem Lernverfahren anderer Größe ...",
    size: (bytes, most) =>
      `Das Lernverfahren belegt ${kilobytes(bytes)} vom RAM dieses Boards` +
      (bytes < most ? `. Je mehr du zeigst, desto größer wird es: hier bis zu ${kilobytes(most)}.` : ", mehr passt hier nicht."),
    lacks: (board, bytes) => `${board}: ${count(bytes)} Bytes RAM zu wenig`,
    sensors: {
      motion: "Ein eigener: ein MPU-6050",
      own: "Der, mit dem es gelernt hat",
      serial: "Keiner: Beispiele über USB",
    },
    ownSensor:
      "Das Programm liest den Sensor, mit dem es gelernt hat, an denselben Pins. Es macht dann selbst " +
      "Merkmale aus den Messungen und schickt die Messungen nicht mehr.",
    wire:
      "Die Bewegung des Handys kam in den Einheiten dieses Sensors. Verdrahte ihn, solange das Board " +
      "nicht angesteckt ist, und halt ihn so, wie du das Handy gehalten hast.",
    line: (names) => {
      const numbers = names.map((name, c) => `pred:${c} ist ${name}`).join(", ");
      return `Für jedes Beispiel gibt es auch eine Zeile über USB aus, für Thonny oder die Arduino-IDE: ${numbers}.`;
    },
    thresholds: (switches) =>
      (switches
        ? "Auf dem Board schaltet eine Geste unter ihrer Konfidenz nichts. "
        : "Die Konfidenz einer Geste gilt für das, was sie auf dem Board schaltet, und noch schaltet nichts. ") +
      "Die ausgegebenen Zeilen nennen die Geste trotzdem.",
    fits: {
      pointer:
        "Ein Board hat keinen Zeiger. Es kann lernen, was du ihm über USB schickst. Soll es selbst " +
        "Bewegung spüren, zeig ihm die Gesten mit einem Handy und gib dem Board einen MPU-6050.",
      motion: "Das Board lernt, was du ihm über USB schickst.",
      keyboard:
        "Ein Board hat keine Tastatur. Es kann lernen, was du ihm über USB schickst; Taster und " +
        "Berührflächen brauchen eine Aufnahme vom Board selbst: microshrub record.",
      microphone:
        "Das Mikrofon eines Boards ist lauter oder leiser als dieses: Nimm mit dem Board auf (microshrub " +
        "record) und bau daraus. Das Programm hier lernt, was du ihm über USB schickst.",
      board:
        "Dieses Programm lernt, was du ihm über USB schickst. Damit es den Sensor des Boards liest, speichere " +
        "das Projekt und bau es: microshrub build --model gestures.mshrub, mit dem --sensor, den das " +
        "Board beim Lernen hatte.",
    },
    keep: "Behalten",
    keepLead:
      "Ein Projekt ist eine Datei mit den Aufnahmen und dem Modell. Öffne sie hier wieder, oder bau " +
      "daraus das Programm für ein Board.",
    save: "Das Projekt speichern",
    csv: "Die Beispiele als CSV speichern",
    link: "Link zu diesem Projekt",
    linkIs: "Kopiere diesen Link: Er öffnet das Projekt auf einem anderen Gerät.",
    copied: "Der Link ist kopiert. Er öffnet das Projekt auf einem anderen Gerät; die Aufnahmen stehen im Link selbst.",
    passwords:
      "Passwörter gehen eine Webseite nichts an, darum bringt die Kommandozeile dieses Programm auf das Board: " +
      "Sie fragt nach denen des WLANs und des Brokers. Das Board meldet dem Broker dann jede Geste, und Home Assistant findet es.",
    folder: "Einen Ordner für die Kommandozeile speichern",
    folderLead:
      "Ein Zip mit microshrub.toml, wie microshrub init sie schreibt, und der Aufnahme. Entpack es in einen " +
      "Ordner; dort simuliert, baut, flasht und beobachtet dieser Befehl:",
    same: "Aus dieser Datei berechnet der Simulator dieselben Bits:",
  },
  link: {
    name: "Der Link",
    tooLarge: (letters, most) =>
      `Das Projekt ist zu groß für einen Link: ${count(letters)} Zeichen, und höchstens ${count(most)} gehen. ` +
      "Speichere das Projekt, und öffne die Datei auf dem anderen Gerät.",
  },
  toml: {
    line: (line) => `microshrub.toml, Zeile ${line}: kein Schlüssel mit Wert, wie TOML sie hat.`,
    unknown: (name) => `microshrub.toml: Es gibt keinen Schlüssel ${name}.`,
    section: (name, isCommand) =>
      `microshrub.toml: ${name} muss ${isCommand ? `ein Abschnitt sein, [${name}]` : "ein Wert sein, kein Abschnitt"}.`,
    text: (key) => `microshrub.toml: ${key} muss ein Text sein.`,
    noBoard: (key, known) =>
      `microshrub.toml: Diese Seite kennt kein Board ${key}. Sie kennt ${known.join(", ")}.`,
    noOption: (sensor, option, known) =>
      `microshrub.toml: Der Sensor ${sensor} hat keine Einstellung ${option}. Er hat ${known.join(", ")}.`,
    classes: (n, most) =>
      `microshrub.toml: label-keys hat ${count(n)} Klassen, und diese Seite lernt zwei bis ${most}.`,
    opened: (board, sensor, names) =>
      `microshrub.toml ist offen: ${board ?? "kein Board"}, ${sensor ? String(sensor) : "kein Sensor"}; ` +
      `${names.join(", ")}.`,
  },
  switches: {
    title: "Was jeder Name schaltet",
    kinds: { line: "Nichts, er wird nur ausgegeben", lights: "Je ein Licht", colour: "Die Farbe einer LED", pixel: "Die Farbe eines NeoPixels", tone: "Der Ton eines Summers", key: "Eine Taste des PCs, über USB", mqtt: "Eine MQTT-Nachricht, etwa an Home Assistant" },
    network: { mqtt: "Broker", wifi: "WLAN", name: "Name des Boards beim Broker" },
    noRadio: (board) => `${board} hat kein WLAN, das eine MQTT-Nachricht braucht. Wähl ein anderes Board.`,
    noKeys: (board) => `${board} kann keine USB-Tastatur sein, wie ein Pico oder ein ESP32-S3. Wähl ein anderes Board.`,
    missing: (feld) => `Für MQTT-Nachrichten füll „${feld}“ aus.`,
    at: { pixel: "NeoPixel an", tone: "Summer an" },
    silent: "still",
    noKey: "keine Taste",
    keys: { Space: "Leertaste", ArrowRight: "→", ArrowLeft: "←", ArrowDown: "↓", ArrowUp: "↑" },
    hertz: (hertz) => `${count(hertz)} Hz`,
    colours: {
      off: "aus",
      red: "rot",
      orange: "orange",
      green: "grün",
      yellow: "gelb",
      blue: "blau",
      magenta: "magenta",
      cyan: "cyan",
      white: "weiß",
    },
  },
  sensors: {
    names: {
      adc: "Analoge Pins: Spannungen",
      mpu6050: "MPU-6050: Bewegung",
      adxl345: "ADXL345: Beschleunigung",
      bh1750: "BH1750: Licht",
      bme280: "BME280: Klima, Luftdruck",
      clamp: "Stromzange: Netzstrom",
      dht22: "DHT22: Temperatur, Feuchte",
      ina219: "INA219: Strom, Spannung",
      lsm6ds3: "LSM6DS3: Bewegung",
      microphone: "Analoges Mikrofon: Lautstärke",
      mpr121: "MPR121: vier Berührflächen",
      scd41: "SCD41: CO2, Temperatur",
      soil_probe: "Bodensonde: Feuchte",
    },
    voltage: (pins) => `Es misst die Spannung an ${pins}.`,
    rate: (sensor, hasDriver, value) =>
      `--sensor ${sensor} rate muss eine ganze Zahl von 1 bis 1.000 sein` +
      `${hasDriver ? ", oder wie 1/60 für eine Messung je Minute" : ""}, nicht „${value}“`,
    slow: (sensor, seconds, value) =>
      `--sensor ${sensor} rate=${value}: Dieser Sensor hat nur alle ${seconds} Sekunden einen Messwert. ` +
      `Schreib rate=1/${seconds} oder langsamer`,
    whole: (sensor, name, value) => `--sensor ${sensor} ${name} muss eine ganze Zahl sein, nicht „${value}“`,
    second: "Ein zweiter Sensor daneben",
    none: "Keiner",
    faster: (sensor, rate, first) =>
      `--sensor ${sensor} rate=${rate}: Der erste Sensor gibt mit rate=${first} den Takt an, also wähl den ` +
      "schnelleren als ersten",
    together: "Die Sensoren liefern zusammen",
    one: (sensor) => `--sensor ${sensor} liefert`,
    values: (giving, given, features) =>
      `${giving} ${given === 1 ? "einen Wert" : `${given} Werte`}, und das Modell hat ` +
      `${features.length === 1 ? "ein Merkmal" : `${features.length} Merkmale`}: ` +
      features.slice(0, 12).join(", ") + (features.length > 12 ? ", ..." : ""),
  },
  pins: {
    none: (pin, board, last) => `Es gibt keinen Pin ${pin}: Der letzte des ${board} ist ${last}`,
    taken: (option, pin, board, by) =>
      `${option}: Pin ${pin} des ${board} gehört einem anderen Chip (${by}). Nimm einen anderen Pin`,
    onlyReads: (option, pin, board) =>
      `${option}: Pin ${pin} des ${board} kann nur lesen und hat keinen Pull-up. Nimm einen anderen Pin`,
    twice: (pin, one, other) =>
      `Pin ${pin} ist für zweierlei: ${one} und ${other}. Gib einem davon einen anderen Pin`,
    button: (option) => `der Taster von ${option}`,
    notAnalog: (pin, analog) => `--sensor adc: Pin ${pin} ist nicht analog; das sind ${analog.join(", ")}`,
    noBus: (sensor, scl, sda) =>
      `--sensor ${sensor}: Die Pins ${scl} und ${sda} können nicht scl und sda eines Busses sein. Auf ` +
      "diesem Chip sind es zwei wie sda=0 scl=1, sda=4 scl=5 (i2c=0) oder sda=2 scl=3, sda=6 scl=7 (i2c=1)",
    otherBus: (sensor, scl, sda, bus) =>
      `--sensor ${sensor}: scl=${scl} sda=${sda} sind Pins von Bus ${bus}: Wähl i2c=${bus}`,
  },
  wiring: {
    sensor: "Sensor",
    picture: (board) => `Wie es mit dem ${board} verdrahtet ist; die Tabelle sagt dasselbe`,
    from: "von",
    to: "nach",
    pin: (name, number) => `${name}, Pin ${number}`,
    light: (label) => `Licht für ${label}, über 330 Ω`,
    ground: "Das andere Ende der Lichter",
    pixel: (end) => `NeoPixel ${end}`,
    buzzer: ["Passiver Summer", "Das andere Ende des Summers"],
    buzzerName: "Summer",
  },

  loss: {
    text: "Was du gezeigt oder benannt hast, ist noch in keiner Datei und ginge verloren.",
    lose: "Vergessen",
    keep: "Behalten",
  },

  phone: {
    title: "Ein Handy als Sensor verwenden",
    lead:
      "Richte die Kamera des Handys hierher: Es öffnet diese Seite, und seine Bewegung kann der Sensor " +
      "sein.",
    picture: (address) => `QR-Code der Adresse ${address}`,
  },

  errors: {
    where: (name, line, column) => `${name}, Zeile ${line}, Spalte ${column}`,
    empty: (name) =>
      `${name} hat keine Beispiele. Nötig sind eine Kopfzeile und eine Zeile je Beispiel.`,
    gzip: (name) =>
      `${name} ist keine gzip-Datei, oder sie ist abgeschnitten oder beschädigt. Kopiere sie noch einmal, ` +
      "oder nimm .gz aus ihrem Namen, wenn sie ungepackter Text ist.",
    gone: (name) =>
      `${name} lässt sich nicht mehr lesen: Die Datei wurde geändert oder verschoben. Wähl sie neu.`,
    utf8: (name) => `${name}: kein Text in UTF-8. Speichere die Datei als CSV in UTF-8.`,
    zero: (name) =>
      `${name}: ein Nullbyte, also kein Text, oder UTF-16. Speichere die Datei in UTF-8.`,
    notCsv: (name, what, remedy) => `${name} ist ${german(what)}, nicht CSV. ${german(remedy)}`,
    saveAsCsv: "Speichere sie als CSV.",
    byCommand: (command) => `\`${command}\` macht daraus eine Datei, die diese Seite liest.`,
    dateClass: (name, column) =>
      `${name}: Die Spalte ${column} enthält Zeitpunkte, und die sind keine Klasse. Wähl eine andere Spalte.`,
    line: (name, line) => `${name}, Zeile ${line}`,
    longLine: (line) =>
      `Zeile ${line}: kein Zeilenende in einer Million Zeichen, also keine Tabelle. Oder such ein ` +
      'verirrtes " darin.',
    quote: (line, mark) => `Zeile ${line} lässt sich nicht lesen. Such ein verirrtes ${mark} darin.`,
    noData: (name) => `${name} hat keine Zeile @data, ist also keine ARFF-Datei.`,
    arffHeader: (name, line) =>
      `${name}: Diese Zeile des Kopfs lässt sich nicht lesen: ${line.trim()}. Attribute sind numeric ` +
      "oder nominal, jedes mit eigenem Namen.",
    unfit: (name, column, type) =>
      `${name}: Das Attribut ${column} hat den Typ ${type}; gelernt wird nur von numeric und nominal. ` +
      "Entferne es.",
    sparse: (name, line) =>
      `${name}, Zeile ${line}: dünn besetzte ARFF-Zeilen werden nicht gelesen. Schreib volle Zeilen.`,
    undeclared: (where, cell) => `${where}: "${cell}" ist im Kopf nicht deklariert.`,
    manyDeclared: (where, n, most) =>
      `${where}: ${n} Werte sind deklariert, höchstens ${most} gehen. Lass die Spalte weg.`,
    columnCount: (n, most) =>
      `Es gibt ${count(n)} Spalten mit Merkmalen neben der Klasse; 1 bis ${most} sind möglich. Zellen ` +
      "trennt ein Komma, Semikolon oder Tabulator.",
    nameless: (where, place) =>
      `${where}: Spalte ${place} hat keinen Namen. Gib ihr einen, oder lösch sie.`,
    twice: (where, each) => `${where}: ${each.join("; ")}. Benenne alle bis auf eine um.`,
    namedAlike: (name, places) =>
      `${places.length === 2 ? "Zwei" : places.length} Spalten heißen ${name} (${places.join(", ")})`,
    otherClass: (name) =>
      `Sonst enthält eine andere Spalte die Klasse. Wähl die Spalte ${name} als Klasse.`,
    sample: (where, cell) =>
      `${where}: ${cell} ist eine Zahl und kein Name, also ist das ein Beispiel. Nötig ist eine ` +
      "Kopfzeile. Füge eine Zeile mit Namen der Spalten ein.",
    noHeader: (where) =>
      `${where}: nur Zahlen, also keine Kopfzeile. Füge eine Zeile mit Namen der Spalten ein.`,
    commentHeader: (where) =>
      `${where} beginnt mit #. Ist es die Kopfzeile, nimm das # weg; ist es ein Kommentar, lösch die ` +
      "Zeile und andere wie sie: Kommentare werden nicht gelesen.",
    oddCell: (where, cell) =>
      `${where}: ${cell} ist kein Name einer Spalte, sondern die Zeile eines Protokolls.`,
    recordLines: (name, format) =>
      `${name} enthält ` +
      {
        mqtt: "MQTT-Nachrichten, je ein Topic und einen JSON-Datensatz",
        influx: "das Zeilenprotokoll von InfluxDB",
      }[format] +
      " und keine Tabelle.",
    longTable: (name) => `${name} hat eine Zeile für jeden Wert jeder Reihe.`,
    comment: (where) =>
      `${where} beginnt mit # wie ein Kommentar. Lösch die Zeile: Kommentare werden nicht gelesen.`,
    excelWord: (where, word) => `${where} ist ${word}, ein Wort für Excel. Lösch die Zeile.`,
    noColumn: (name) => `Es gibt keine Spalte ${name}.`,
    width: (where, expected, actual) =>
      `${where}: ${expected} Zellen erwartet, eine je Spalte, aber ${actual} gefunden. Ergänze die Zeile, ` +
      "oder lösch sie.",
    infinite: (where) =>
      `${where}: eine unendliche Zahl. Lass die Zelle leer, wenn der Wert unbekannt ist.`,
    text: (where, cell) =>
      `${where}: '${cell}' ist Text, aber diese Spalte enthält Zahlen. Schreib eine Zahl, oder lass die ` +
      "Zelle leer, wenn der Wert fehlt.",
    people: (where, advice) => `${where}: ${advice}, hier und im Rest der Datei.`,
    comma: (cell, one, other) =>
      `'${cell}' hat ein Komma für Tausender oder ein Dezimalkomma. Schreib ${one} oder ${other}, ` +
      "je nachdem, was gemeint ist",
    thousands: (cell, plain) => `'${cell}' hat Kommas für Tausender. Schreib ${plain}`,
    grouped: (cell, plain, text) =>
      `'${cell}' hat abgetrennte Tausender oder ist ein Text. Schreib ${plain} oder ${text}, je nachdem, ` +
      "was gemeint ist",
    decimalComma: (cell, plain) => `'${cell}' hat ein Dezimalkomma. Schreib ${plain}`,
    unit: (cell, plain) =>
      `'${cell}' ist eine Zahl mit einer Einheit. Schreib ${plain}, und die Einheit in die Kopfzeile`,
    categories: (where, n, rows) =>
      `${where} hat ${n} verschiedene Texte in den ersten ${rows} Zeilen; es sieht nach einem Datum oder ` +
      "einer Kennung aus: Lösch die Spalte, oder mach Zahlen daraus.",
    noClass: (where) => `${where}: Die Klasse fehlt. Trag sie ein, oder lösch die Zeile.`,
    classCount: (where, names) =>
      names.length < 2
        ? `${where}: Die einzige Klasse ist ${names[0]}, also gibt es nichts zu lernen. Lies mehr ` +
          "Beispiele, oder wähl eine andere Spalte der Klasse."
        : `${where}: Die Spalte hat ${names.length} Klassen, höchstens 256 gehen. Ist es ein Messwert, ` +
          "wähl die Spalte der Klasse.",
    noFile: "Wähl zuerst eine CSV- oder ARFF-Datei.",
  },

  notes: {
    clock: (name) =>
      `Die Spalte ${name} wird weggelassen: Sie sagt, wann eine Zeile aufgenommen wurde, was ein Board, das ` +
      "lernt, nicht wissen kann.",
    header: (name, line) =>
      `${name}, Zeile ${line} wurde als Kopfzeile gelesen. Ist sie ein Beispiel, füge eine Zeile mit Namen ` +
      "der Spalten ein.",
    rises: "nur steigt",
    falls: "nur fällt",
    tells: "die Klasse fast eins zu eins verrät",
    named: (meaning) => `wie ${german(meaning)} heißt`,
    telltale: (file, name, reasons) =>
      `${file}: Von der Spalte ${name} fällt auf, dass sie ${reasons.join(" und ")}. Wenn sie sagt, wann oder wo ` +
      "ein Beispiel aufgenommen wurde, oder aus der Klasse abgeleitet ist, verrät sie hier die Antwort " +
      "und ist auf einem Board nichts wert: Lass die Spalte weg.",
    spaced: (where, name) =>
      `${where}: Die Klasse ${name} hat hier andere Leerzeichen hinter sich als zuvor und wird als eine ` +
      "Klasse gelesen.",
    alike: (where, names, by) =>
      `${where}: Die Klassen ${names.map((name) => `'${name}'`).join(", ")} unterscheiden sich nur ` +
      {
        number: "darin, wie die Zahl geschrieben ist,",
        case: "in Groß- und Kleinschreibung oder Leerzeichen",
        encoding: "darin, wie Buchstaben kodiert sind,",
      }[by] +
      ` und sind für ein Modell ${names.length} Klassen. Ist dieselbe gemeint, schreib sie gleich.`,
    form: (name, column, what) => `${name}: Spalte ${column}: ${what}.`,
    notUtf8: (name, line) =>
      `${name}: Zeile ${line} ist kein UTF-8 und wird als Windows-1252 gelesen, wie ältere Programme es schreiben.`,
    unitOff: (unit) => `die Einheit ${unit} wird weggelassen`,
    signsOff: (signs) => `${signs.join(" und ")} wird weggelassen`,
    decimalCommas: "Dezimalkommas werden gelesen",
    thousandsOut: "Kommas zwischen Tausendern werden weggelassen",
    thousandsApart: "Tausender sind abgesetzt",
    line: (line) => `Zeile ${count(line)}`,
    record: (record) => `Datensatz ${count(record)}`,
    leftOut: (name, n, parts) =>
      `${name}: ${count(n)} ${n === 1 ? "Zeile wird" : "Zeilen werden"} weggelassen: ${parts.join(", ")}.`,
    leftOutKind: (n, kind, first) =>
      `${count(n)} ` +
      {
        boot: "eines Boards, das startet",
        prompt: "der Eingabezeile von MicroPython",
        text: "mit Text",
        header: "mit den Namen der Spalten",
        cut: "halb abgeschnitten",
        units: "mit Einheiten",
      }[kind] +
      (n > 1 ? ` (zuerst ${first})` : ` (${first})`),
    jsonRecords: "die Zeilen sind JSON-Datensätze",
    jsonLists: "die Spalten sind JSON-Listen",
    jsonEdge: "die Zeilen sind die Messwerte aus dem JSON von Edge Impulse",
    jsonIn: (key) => `die Zeilen sind die JSON-Datensätze in ${key}`,
    measured: (where, classes) =>
      `${where}: Ihre ${classes} Klassen sind alle Zahlen. Ist es ein Messwert, wähl die Spalte der ` +
      "Klasse, oder sag die Zahl selbst mit dem Simulator vorher: microshrub simulate --target.",
  },
};
