// Alles, was die Seite sagt, auf Deutsch.

import type { Texts } from "../texts";

const count = (n: number): string => n.toLocaleString("de");
const samples = (n: number): string => (n === 1 ? "1 Beispiel" : `${count(n)} Beispiele`);

export const de: Texts = {
  language: "de",
  title: "microshrub",
  lead:
    "Lernen auf Mikrocontrollern, Beispiel für Beispiel. Was hier lernt, ist der Code des Boards " +
    "selbst: seine Bibliothek, in MicroPython, in dieser Seite.",
  path: "Schritte",
  licenses: "Lizenzen dessen, woraus sie gemacht ist",
  offline: "Nichts verlässt diese Seite. Sie geht auch ohne Netz.",
  failed: (why) => `Die Seite kann nicht starten: ${why}. Lade sie neu.`,
  browser: "Dieser Browser hat kein WebAssembly oder keine Worker mit Modulen. Nimm einen neueren.",

  playground: {
    title: "Spielwiese",
    lead:
      "Sieh hinein: wie es einen Datenstrom lernt, dessen Regel wechselt, eine eigene Datei, oder von " +
      "einem Board, auf dem sein Programm läuft.",
    streams: "Ein Datenstrom oder eine eigene Datei",
    stream: "Datenstrom",
    ownStream: "Eine eigene CSV- oder ARFF-Datei",
    file: "CSV- oder ARFF-Datei, die Klasse in der letzten Spalte",
    drop: "oder zieh eine Datei hierher",
    label: "Spalte der Klasse",
    leaveOut: "Spalten, die wegbleiben: eine Kennung, eine Uhr",
    board: "Board",
    learner: "Lernverfahren",
    options: "Optionen des Lernverfahrens",
    start: "Start",
    stop: "Anhalten",
    download: "Diesen Datenstrom herunterladen",
    ready: "Drück auf Start.",
    reading: (name, share, left) => `${name} wird gelesen: ${share} %${left && `, noch ${left}`}`,
    left: (text) => (text ? `, noch ${text}` : ""),
    long: (name) => `. Der Simulator ist viel schneller: microshrub simulate ${name}`,
    seconds: (n) => `etwa ${count(n)} s`,
    minutes: (n) => `etwa ${count(n)} min`,
    hours: (n) => (n === 1 ? "etwa 1 Stunde" : `etwa ${count(n)} Stunden`),
    readingStopped: "Angehalten, während die Datei gelesen wurde.",
    notes: "Anmerkungen zur Datei",
    loading: "MicroPython wird geladen ...",
    running: (done, all, accuracy, rate) =>
      `${count(done)} von ${count(all)} Beispielen, ${accuracy} richtig, ${count(rate)} in der Sekunde`,
    done: (all, accuracy) => `${samples(all)} gelernt, ${accuracy} richtig.`,
    stopped: (done) => `Angehalten nach ${count(done)} Beispielen.`,
  },
  streams: {
    sea: "SEA: die Schwelle verschiebt sich",
    agrawal: "Agrawal: die Regel wechselt",
    led: "LED: Ziffern mit Störungen",
  },
  streamShape: (n, features, classes) =>
    `${samples(n)}, ${count(features)} Merkmale, ${count(classes)} Klassen`,
  learners: {
    thicket: "Thicket, ganz ohne Optionen",
    shrub: "Shrub Ensemble",
    hoeffding: "Hoeffding-Baum",
  },

  accuracy: {
    title: "Genauigkeit bis jetzt",
    samples: "Beispiele",
    model: "dieses, bis jetzt",
    recent: (n) => `dieses, die letzten ${count(n)}`,
    nochange: "NoChange: die letzte Klasse",
    majority: "MajorityClass: die häufigste Klasse",
    drifts: (n) => (n === 1 ? "1 Drift wurde bemerkt" : `${count(n)} Drifts wurden bemerkt`),
    none: "es wurde kein Drift bemerkt",
    first: (sample) => `der erste bei Beispiel ${count(sample)}`,
    described: (model, recent, nochange, majority) =>
      `Genauigkeit: das Lernverfahren ${model}, zuletzt ${recent}, NoChange ${nochange}, MajorityClass ${majority}`,
  },
  newest: {
    title: "Neuestes Beispiel",
    predicted: "vorhergesagt",
    truth: "tatsächlich",
    confidence: "Zuversicht",
    of: (confidence) => `${confidence} von 255`,
    progress: "Im Lernverfahren",
  },
  confusion: {
    title: "Verwechslungen",
    caption: "Zeilen: tatsächlich. Spalten: vorhergesagt.",
    tooMany: "Sie werden für bis zu 32 Klassen gezählt.",
  },
  memory: {
    title: "RAM auf dem Board",
    learner: "die Puffer des Lernverfahrens",
    around: "Quantisierung, Zähler und Zeilen",
    beside: "Code, Köpfe und Objekte (mit voreingestellten Optionen)",
    free: "frei für dein Programm",
    over: "mehr, als dieses Board hat",
    sum: (taken, free, board) => `${count(taken)} der ${count(free)} Bytes, die auf ${board} frei sind`,
    buffers: (n) => `Alle ${count(n)} Puffer`,
    buffer: "Puffer",
    bytes: "Bytes",
  },
  state: {
    title: "Die gleichen Bits",
    page: "CRC32 des Zustands in dieser Seite",
    simulator: "CRC32, auf die der Simulator kam",
    same: "Sie sind gleich: Jedes Bit jedes Puffers ist das gleiche.",
    other: "Sie sind nicht gleich. Bitte melde das.",
    unknown: "Zum Vergleich lässt du den Simulator die gleiche Datei lernen:",
    waits: "Steht fest, wenn der ganze Datenstrom gelernt ist.",
  },
  takeAway: {
    title: "Auf ein Board bringen",
    program: "Das Programm herunterladen",
    unpack: (board) =>
      `Das Programm lernt auf deinem ${board} weiter. Pack die Zip-Datei in einen Ordner ihres Namens ` +
      "aus; dieser Befehl kopiert ihn, prüft jede Datei und lässt das Board beweisen, dass es die " +
      "gleichen Bits rechnet:",
    model: "Das Modell herunterladen",
    open: "Das Modell ist auch eine Datei des Simulators:",
    tooLarge: (taken, free) =>
      `Das Programm braucht dort etwa ${count(taken)} Bytes, und ${count(free)} sind frei. Wähl ` +
      "kleinere Optionen, oder ein kleineres Programm: microshrub build fasst die Module zusammen.",
    tooMuchCode: (board, taken, room) =>
      `Der Maschinencode des Programms braucht etwa ${count(taken)} Bytes, und ${board} kann ` +
      `${count(room)} ausführen: Dort startet es nicht. microshrub build macht eins, das startet: ` +
      "Teile, die wenig zu tun haben, bleiben dort Bytecode. Oder wähl einen anderen Lerner.",
    waits: "Mitnehmen kannst du etwas, wenn es gelernt hat.",
  },
  board: {
    flash: "Ein Board verbinden und es darauf bringen",
    noSerial:
      "Um das von hier aus zu tun, öffne diese Seite an einem Computer in Chrome, Edge oder Firefox " +
      "(ab 151), die WebSerial haben, oder starte microshrub bridge --port PORT und öffne die Adresse, die es ausgibt.",
    noneChosen:
      "Es wurde kein Anschluss gewählt. Steckt das Board an einem Kabel, das auch Daten überträgt?",
    taken:
      "Der Anschluss lässt sich nicht öffnen. Ein anderes Programm hält ihn: Schließ Thonny oder " +
      "mpremote.",
    gone: "Das Board wurde abgezogen oder neu gestartet.",
    bridgeGone:
      "Die Brücke antwortet nicht, oder nicht dieser Adresse. Läuft microshrub bridge? Öffne die " +
      "Adresse, die es ausgibt.",
    silent:
      "MicroPython antwortet nicht. Ist es auf dem Board installiert? Wenn dort ein Programm läuft, " +
      "drück die Reset-Taste des Boards und fang noch einmal an.",
    version:
      "Das MicroPython dieses Boards lädt keine .mpy-Dateien der Version 6. Installier ein neueres.",
    says: (text) => `Das Board sagt ${text}`,
    connecting: "Verbinden ...",
    found: (arch) => `MicroPython antwortet; sein Code ist ${arch}. Kopieren ...`,
    copying: (done, total) => `${count(done)} von ${count(total)} Bytes kopiert`,
    checking: "Jede Datei wird verglichen, und das Board lernt einen festen Datenstrom ...",
    done: "Das Board kam auf die gleichen Bits und hat sein Programm gestartet:",
    space: (need, free) =>
      `Das Programm braucht ${count(need)} Bytes vom Flash des Boards, und ${count(free)} sind frei. ` +
      "Lösch Dateien darauf.",
    full: "Der Flash des Boards ist voll. Lösch Dateien darauf; es hat noch sein bisheriges Programm.",
    damaged: (path) =>
      `${path} kam auf dem Board nicht so an, wie es gesendet wurde. Fang noch einmal an; das Board ` +
      "hat noch sein bisheriges Programm.",
    other: (found, expected) =>
      `Das Modell des Boards hat die Prüfsumme ${found}, und das dieser Seite ${expected}. Das Programm ` +
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
    otherChip: (found, wanted) =>
      `Das Board hat einen ${found}, und das Abbild ist für einen ${wanted}. Es wurde nichts ` +
      "geschrieben. Lade das für dein Board herunter.",
    noLoader: (why) =>
      "Der Lader im ROM des Chips antwortet nicht. Halt die Taste BOOT gedrückt, drück RESET (oder EN) " +
      `und lass sie los, lass BOOT los und fang noch einmal an. (${why})`,
    small: (size) =>
      `Das Abbild passt nicht in den Flash des Boards, der seine Größe mit ${size} angibt.`,
    connecting: "Verbinden mit dem Lader im ROM des Chips ...",
    erasing: (chip) => `${chip} gefunden. Sein Flash wird gelöscht, was eine Minute dauern kann ...`,
    writing: (done, total) => `${count(done)} von ${count(total)} gepackten Bytes geschrieben`,
    comparing: "Alles ist geschrieben; der Chip vergleicht es ...",
    starting:
      "Es wurde geschrieben, wie es in der Datei steht. Warten, bis MicroPython startet ...",
    found: (version, machine) =>
      `MicroPython ${version} antwortet (${machine}). Bring jetzt ein Modell auf das Board: siehe oben.`,
    notFound:
      "MicroPython wurde geschrieben, wie es in der Datei steht, und antwortet an diesem Anschluss " +
      "noch nicht. Drück die Reset-Taste des Boards; bring dann ein Modell darauf: siehe oben.",
  },
  watch: {
    title: "Einem Board zusehen",
    lead:
      "Verbinde ein Board, auf dem das Programm von microshrub läuft: Sieh, wie gut es lernt, und lehr " +
      "es etwas.",
    connect: "Verbinden",
    end: "Trennen",
    numbers: "Was das Board sagt",
    sensor: "Sein eigener Sensor",
    csv: "Die Aufnahme herunterladen",
    labels: "Klassen",
    noSensor:
      "Es kam kein Beispiel eines Sensors. Ein Board, das über seine Leitung lernt, hat keinen.",
    stream: "Es den Datenstrom lernen lassen, der oben gewählt ist",
    confirmed: (done, all) => `${count(done)} von ${count(all)} Beispielen bestätigt`,
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
    told: (n, accuracy) => `${samples(n)} gelernt, ${accuracy} richtig`,
    newest: (name, confidence, recorded) =>
      `${name}, Zuversicht ${confidence} von 255; ${samples(recorded)} aufgenommen`,
    otherStream:
      "Das Programm des Boards ist für andere Merkmale, Klassen oder Einheiten als der Datenstrom, der " +
      "oben gewählt ist.",
    forecast: (n) => `${samples(n)} kamen zum Board.`,
    recorded: (rows) => `${samples(rows)} aufgenommen`,
    predicted: (name) => `vorhergesagt: ${name}`,
    between: (low, high) => `, zwischen ${low} und ${high}`,
    of: (error, n) => `${error} von ${count(n)}`,
    names: {
      came: "Beispiele, die kamen",
      error: "mittlerer absoluter Fehler",
      guess: "NoChange: der letzte Wert",
      inside: "innerhalb des Intervalls",
      samples: "Beispiele mit Klasse",
      accuracy: "Genauigkeit",
      nochange: "NoChange: die letzte Klasse",
      kappa: "Kappa",
      heap: "freie Bytes des Heaps",
      drift: "Drift (wie viele bis jetzt)",
      seconds: "Sekunden seit dem Start",
      damaged: "beschädigte Rahmen",
      missed: "verpasste Messwerte",
    },
    levels: ["keiner", "Warnung", "Drift"],
    errors: {
      silent:
        "Das Programm des Boards antwortet nicht. Bring zuerst eines darauf; wenn eines da ist, drück " +
        "die Reset-Taste des Boards.",
      reset: "Das Board wurde neu gestartet. Verbinde noch einmal.",
      version: "Das Programm des Boards spricht eine andere Version. Bring ein neues darauf.",
    },
  },

  anomalies: {
    title: "Was ungewöhnlich ist",
    now: (score, threshold, alarms) =>
      `Das letzte Beispiel hat ${score} Punkte; ein Alarm beginnt über ${threshold}. Bisher: ${count(alarms)}.`,
    normal: "Das ist normal",
    told: (left) =>
      left
        ? `Das ist normal: die nächsten ${samples(left)} zeigen es.`
        : "Das ist normal: was sich das Board gemerkt hat, bleibt so.",
    tooOld: "Dem Programm des Boards kann man es nicht sagen. Bring ein neues dorthin.",
  },

  questions: {
    title: "Welche Klasse?",
    asked: (id, guess) => `Was ist Beispiel ${id}? Vermutet wird ${guess}.`,
    none: "Kein Beispiel wartet auf seine Klasse.",
    answers: "Antworten",
    many: (asked, seen) => {
      const share = ((100 * asked) / Math.max(seen, 1)).toFixed(2).replace(".", ",");
      return `Nach ${count(asked)} von ${count(seen)} Beispielen wurde gefragt, ${share} %.`;
    },
  },

  naming: {
    title: "Was neu ist",
    aside: (n, isAsking) =>
      `${samples(n)} ${n === 1 ? "liegt" : "liegen"} beiseite.` + (isAsking ? " Was ist das?" : ""),
    name: "Name",
    which: "Klasse",
    into: "ist dasselbe wie",
    do: {
      name: "So heißt, was beiseiteliegt",
      dismiss: "Das ist nichts Neues",
      rename: "Gib ihr den Namen von oben",
      forget: "Vergiss sie",
      merge: "Leg sie zusammen",
    },
  },

  teach: {
    title: "Bring ihm eine Geste bei",
    lead:
      "Drück einen Namen und mach einige Sekunden lang diese Geste, dann die nächste. Dann drück " +
      "„nur vorhersagen“: Kennt es sie?",
    source: "Sensor",
    sources: {
      pointer: "Zeiger oder Finger",
      motion: "Bewegung dieses Geräts",
      keyboard: "Tastatur",
      microphone: "Mikrofon (wie laut es ist)",
      board: "Ein Board am Kabel",
    },
    hints: {
      pointer: "Beweg hier den Zeiger oder einen Finger.",
      motion: "Beweg dieses Gerät.",
      keyboard: "Drück Tasten: Pfeile, oder irgendwelche in einem Rhythmus.",
      microphone: "Sprich, klatsch, pfeif.",
      board: "Steck ein Board an, dessen Programm einen Sensor hat, und drück Anfangen.",
    },
    readings: {
      title: "Ein Programm, das seine Messungen schickt",
      lead: "Es kommt an die Stelle des Programms, das auf dem Board ist. Dann drück Anfangen.",
    },
    cable: {
      rate: (rate) => (rate === 1 ? "1 Messung je Sekunde" : `${count(rate)} Messungen je Sekunde`),
      waits: (why) =>
        `${why} Steck es wieder an: Dann geht es weiter. Gelerntes bleibt, und Beenden hört hier auf.`,
      back: "Das Board ist wieder da.",
      lost: (why) => `${why} Gelerntes bleibt. Ist das Board wieder da, drück Weitermachen.`,
      silent:
        "Kein Programm von microshrub antwortet. Startet das Board gerade, warte und drück noch einmal " +
        "Anfangen; hängt sein Programm, drück die Reset-Taste. Hat das Board nur MicroPython, bekommt " +
        "es unten ein Programm; hat es keines, braucht es das zuerst: siehe „Ein neues Board“ im " +
        "nächsten Schritt.",
      tooOld: "Das Programm des Boards ist zu alt: Es sagt nicht, was sein Sensor ist. Bau es neu.",
      forecasts:
        "Das Programm des Boards sagt eine Zahl vorher. Um ihm Gesten beizubringen, bring ein anderes " +
        "darauf, etwa das unten.",
      noSensor:
        "Das Programm des Boards hat keinen Sensor: Beispiele kommen über das Kabel. Bring eines mit " +
        "Sensor darauf, etwa das unten, oder bau eines mit --sensor.",
      features:
        "Das Programm des Boards macht aus seinen Messungen Merkmale und schickt nur diese. Hier " +
        "werden die Messungen gebraucht: Bring ein Programm ohne --features auf das Board, oder das " +
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
    names: "Namen der Gesten, durch Kommas getrennt",
    defaultNames: "Kreis, Linie, Ruhe",
    start: "Anfangen",
    stop: "Beenden",
    goOn: "Weitermachen",
    over: "Von vorn",
    open: "Ein Projekt öffnen",
    loading: "MicroPython wird geladen ...",
    labels: "Was du zeigst",
    predict: "nur vorhersagen",
    hears: "Es erkennt",
    nothingYet: "noch nichts",
    unsure: (names) => `unsicher: ${names.join(" oder ")}`,
    first: "Drück einen Namen und zeig es.",
    teaching: (name) => `Es lernt ${name}. Drück nach einigen Sekunden den nächsten Namen.`,
    finishing: "Es lernt noch den Rest ...",
    predicting: "Es sagt jetzt nur vorher. Mach irgendeine der Gesten.",
    heard: (learned, accuracy) => `${samples(learned)} gelernt, davor ${accuracy} richtig`,
    waiting: (n) => `; ${samples(n)} ${n === 1 ? "wartet" : "warten"} noch`,
    stopped: (n) =>
      `Es hat ${samples(n)} gelernt. Bring es nun auf ein Board: der nächste Schritt.`,
    nothing: "Es wurde nichts gelernt: Drück einen Namen und zeig es.",
    cards: {
      title: "Aufnahmen",
      lead: "Was du löschst oder anders nennst, wird gleich neu gelernt.",
      growing: "wird aufgenommen",
      samples,
      play: (n) => `Aufnahme ${n} abspielen`,
      remove: (n) => `Aufnahme ${n} löschen`,
      move: (n) => `Name der Aufnahme ${n}`,
    },
    exam: {
      begin: "Prüfung: zeig jede noch einmal",
      show: (name) => `Zeig: ${name}`,
      balanced: (share) => `${share} richtig, jeder Name gleich gezählt.`,
      name: "Name",
      right: "richtig",
    },
    noProject: (name) =>
      `${name} ist kein Projekt, das diese Seite gespeichert hat, oder es ist beschädigt. In einem ` +
      "Modell von simulate --save sind keine Aufnahmen.",
    insecure:
      "Ein Browser sagt von Bewegung nur einer Seite etwas, die über https oder von diesem Gerät kam.",
    refused:
      "Du hast den Bewegungssensor nicht erlaubt. Lade die Seite neu, um wieder gefragt zu werden.",
    noMotion: "Dieses Gerät sagt dieser Seite nichts von seiner Bewegung. Nimm den Zeiger.",
    insecureMicrophone:
      "Ein Browser gibt Ton nur einer Seite, die über https oder von diesem Gerät kam.",
    noMicrophone: "Es gibt kein Mikrofon, oder du hast es nicht erlaubt. Nimm einen anderen Sensor.",
    wrongNames: (most) => `Nenn zwei bis ${most} verschiedene Gesten, durch Kommas getrennt.`,
  },

  handOver: {
    title: "Bring es auf ein Board",
    lead: "Ein Board für wenige Euro macht allein damit weiter, und lernt weiter.",
    waits: "Bring ihm erst etwas bei und drück Beenden: Dann kommt das Gelernte hier auf ein Board.",
    connect: "Verdrahten, verbinden, fertig",
    sensors: {
      motion: "Ein eigener: ein MPU-6050",
      own: "Der, mit dem es lernte",
      serial: "Keiner: Beispiele über USB",
    },
    own:
      "Das Programm liest den Sensor, mit dem es gelernt hat, an denselben Pins. Es macht dann selbst " +
      "Merkmale aus den Messungen und schickt die Messungen nicht mehr.",
    wire:
      "Die Bewegung des Telefons kam in den Einheiten dieses Sensors. Verdrahte ihn, solange das Board " +
      "nicht angesteckt ist, und halt ihn so, wie du das Telefon gehalten hast.",
    line: (names) => {
      const numbers = names.map((name, c) => `pred:${c} ist ${name}`).join(", ");
      return `Für jedes Beispiel schreibt es auch eine Zeile auf USB, für Thonny oder die Arduino-IDE: ${numbers}.`;
    },
    fits: {
      pointer:
        "Ein Board hat keinen Zeiger. Es kann lernen, was du ihm über USB schickst; damit es selbst " +
        "fühlt, bring es ihm mit der Bewegung eines Telefons bei, und das Board nimmt ein MPU-6050.",
      motion: "Das Board lernt, was du ihm über USB schickst.",
      keyboard:
        "Ein Board hat keine Tastatur. Es kann lernen, was du ihm über USB schickst; Taster und " +
        "Berührflächen brauchen eine Aufnahme vom Board selbst: microshrub record.",
      microphone:
        "Ein Board hört mit einem eigenen Mikrofon, das lauter oder leiser ist als dieses: Lass es " +
        "aufnehmen, microshrub record, und bau daraus. Dieses Programm lernt, was du über USB schickst.",
      board:
        "Dieses Programm lernt, was du über USB schickst. Damit es den eigenen Sensor liest, speicher " +
        "das Projekt und bau es: microshrub build --model gestures.mshrub, mit dem --sensor, den das " +
        "Board beim Lernen hatte.",
    },
    keep: "Behalten",
    keepLead:
      "Ein Projekt ist eine Datei: Aufnahmen und Modell. Öffne es hier wieder, oder bau daraus das " +
      "Programm eines Boards.",
    save: "Das Projekt speichern",
    csv: "Die Beispiele als CSV speichern",
    same: "Der Simulator kommt damit auf die gleichen Bits:",
  },
  switches: {
    title: "Was jeder Name schaltet",
    kinds: { line: "Nichts, es wird nur gesagt", lights: "Je ein Licht", colour: "Die Farbe einer LED", pixel: "Die Farbe eines NeoPixels" },
    at: "NeoPixel an",
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
    rate: (sensor, value) =>
      `--sensor ${sensor} rate ist eine ganze Zahl von 1 bis 1.000, oder wie 1/60 für eine Messung je ` +
      `Minute, nicht „${value}“`,
    whole: (sensor, name, value) => `--sensor ${sensor} ${name} ist eine ganze Zahl, nicht „${value}“`,
    values: (sensor, given, features) =>
      `--sensor ${sensor} gibt ${given === 1 ? "einen Wert" : `${given} Werte`}, und das Modell hat ` +
      `${features.length === 1 ? "ein Merkmal" : `${features.length} Merkmale`}: ` +
      features.slice(0, 12).join(", ") + (features.length > 12 ? ", ..." : ""),
  },
  pins: {
    none: (pin, board, last) => `Es gibt keinen Pin ${pin}: Der letzte des ${board} ist ${last}`,
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
    picture: (board) => `Wie es mit dem ${board} verdrahtet ist; die Tabelle sagt das Gleiche`,
    from: "von",
    to: "nach",
    pin: (name, number) => `${name}, Pin ${number}`,
    light: (told) => `Licht für ${told}, über 330 Ω`,
    ground: "Das andere Ende der Lichter",
    pixel: (end) => `NeoPixel ${end}`,
  },

  phone: {
    title: "Ein Telefon als Sensor nehmen",
    lead:
      "Richte die Kamera des Telefons hierher: Es öffnet diese Seite, und seine Bewegung kann der " +
      "Sensor sein.",
    picture: (address) => `Ein Bild für eine Kamera, von der Adresse ${address}`,
  },

  errors: {
    where: (name, line, column) => `${name}, Zeile ${line}, Spalte ${column}`,
    empty: (name) =>
      `${name} hat keine Beispiele. Nötig sind eine Kopfzeile und eine Zeile je Beispiel.`,
    gzip: (name) =>
      `${name} ist keine gzip-Datei, oder sie ist abgeschnitten oder beschädigt. Kopier sie noch einmal, ` +
      "oder nimm .gz aus ihrem Namen, wenn sie einfacher Text ist.",
    gone: (name) =>
      `${name} lässt sich nicht mehr lesen: Die Datei wurde geändert oder verschoben. Wähl sie neu.`,
    utf8: (name) => `${name}: kein Text in UTF-8. Speicher die Datei als CSV in UTF-8.`,
    utf16: (name) => `${name} ist Text in UTF-16. Speicher die Datei in UTF-8.`,
    zero: (name) =>
      `${name}: ein Nullbyte, also kein Text, oder UTF-16. Speicher die Datei in UTF-8.`,
    kind: (name, what, remedy) => `${name} ist ${what}, nicht CSV. ${remedy}`,
    saveAsCsv: "Speicher sie als CSV.",
    line: (name, line) => `${name}, Zeile ${line}`,
    longLine: (line) =>
      `Zeile ${line}: kein Zeilenende in einer Million Zeichen, also keine Tabelle. Oder such ein ` +
      'verirrtes " darin.',
    quote: (line, mark) => `Zeile ${line} lässt sich nicht lesen. Such ein verirrtes ${mark} darin.`,
    noData: (name) => `${name} hat keine Zeile @data, ist also keine ARFF-Datei.`,
    arffHeader: (name, line) =>
      `${name}: Diese Zeile des Kopfs lässt sich nicht lesen: ${line.trim()}. Attribute sind numeric ` +
      "oder nominal, jedes mit eigenem Namen.",
    unfit: (name, column, kind) =>
      `${name}: Das Attribut ${column} hat den Typ ${kind}; gelernt wird nur von numeric und nominal. ` +
      "Entfern es.",
    sparse: (name, line) =>
      `${name}, Zeile ${line}: dünn besetzte ARFF-Zeilen werden nicht gelesen. Schreib volle Zeilen.`,
    undeclared: (where, cell) => `${where}: "${cell}" steht nicht im Kopf.`,
    manyDeclared: (where, n, most) =>
      `${where}: ${n} Werte sind vereinbart, höchstens ${most} gehen. Lass die Spalte weg.`,
    columnCount: (n, most) =>
      `Es gibt ${count(n)} Spalten mit Merkmalen neben der Klasse; 1 bis ${most} sind möglich. Zellen ` +
      "trennt ein Komma, Semikolon oder Tabulator.",
    nameless: (where, place) =>
      `${where}: Spalte ${place} hat keinen Namen. Benenn sie, oder lösch sie.`,
    twice: (where, name) => `${where}: Zwei Spalten heißen ${name}. Benenn eine um.`,
    sample: (where, cell) =>
      `${where}: ${cell} ist eine Zahl und kein Name, also ist das ein Beispiel. Nötig ist eine ` +
      "Kopfzeile. Füg eine Zeile mit Namen der Spalten ein.",
    noHeader: (where) =>
      `${where}: nur Zahlen, also keine Kopfzeile. Füg eine Zeile mit Namen der Spalten ein.`,
    commentHeader: (where) =>
      `${where} beginnt mit #. Ist es die Kopfzeile, nimm das # weg; ist es ein Kommentar, lösch die ` +
      "Zeile und andere wie sie: Kommentare werden nicht gelesen.",
    comment: (where) =>
      `${where} beginnt mit # wie ein Kommentar. Lösch die Zeile: Kommentare werden nicht gelesen.`,
    excelWord: (where, word) => `${where} ist ${word}, ein Wort für Excel. Lösch die Zeile.`,
    noColumn: (name) => `Es gibt keine Spalte ${name}.`,
    width: (where, expected, found) =>
      `${where}: ${expected} Zellen erwartet, eine je Spalte, aber ${found} gefunden. Ergänz die Zeile, ` +
      "oder lösch sie.",
    infinite: (where) =>
      `${where}: eine unendliche Zahl. Lass die Zelle leer, wenn der Wert unbekannt ist.`,
    text: (where, cell) =>
      `${where}: '${cell}' ist Text, aber diese Spalte hat Zahlen. Schreib eine Zahl, oder lass die ` +
      "Zelle leer, wenn der Wert fehlt.",
    people: (where, told) => `${where}: ${told}, hier und im Rest der Datei.`,
    comma: (cell, one, other) =>
      `'${cell}' hat ein Komma zwischen Tausendern oder ein Dezimalkomma. Schreib ${one} oder ${other}, ` +
      "je nachdem, was gemeint ist",
    thousands: (cell, plain) => `'${cell}' hat Kommas zwischen Tausendern. Schreib ${plain}`,
    grouped: (cell, plain, text) =>
      `'${cell}' hat abgesetzte Tausender oder ist ein Text. Schreib ${plain} oder ${text}, je nachdem, ` +
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
      `Die Spalte ${name} bleibt weg: Sie sagt, wann eine Zeile aufgenommen wurde, was ein Board, das ` +
      "lernt, nicht wissen kann.",
    header: (name, line) =>
      `${name}, Zeile ${line} wurde als Kopfzeile gelesen. Ist sie ein Beispiel, füg eine Zeile mit Namen ` +
      "der Spalten ein.",
    rises: "nur steigt",
    falls: "nur fällt",
    tells: "die Klasse fast eins zu eins verrät",
    named: (kind) => `wie ${kind} heißt`,
    telltale: (file, name, said) =>
      `${file}: Von der Spalte ${name} fällt auf, dass sie ${said.join(" und ")}. Wenn sie sagt, wann oder wo ` +
      "ein Beispiel aufgeschrieben wurde, oder aus der Klasse gemacht ist, verrät sie hier die Antwort " +
      "und ist auf einem Board nichts wert: Lass die Spalte weg.",
    spaced: (where, name) =>
      `${where}: Die Klasse ${name} hat hier andere Leerzeichen hinter sich als zuvor und wird als eine ` +
      "Klasse gelesen.",
    alike: (where, names) =>
      `${where}: Die Klassen ${names.map((name) => `'${name}'`).join(", ")} unterscheiden sich nur in Groß- ` +
      `und Kleinschreibung oder Leerzeichen und sind für ein Modell ${names.length} Klassen. Sind sie eine, ` +
      "schreib sie gleich.",
    measured: (where, classes) =>
      `${where}: Ihre ${classes} Klassen sind alle Zahlen. Ist es ein Messwert, wähl die Spalte der ` +
      "Klasse, oder sag die Zahl selbst mit dem Simulator vorher: microshrub simulate --target.",
  },
};
