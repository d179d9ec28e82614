// Constants of the simulator and the tools; `make constants` writes this file.

/** The kinds of requests and answers, and the codes of errors. */
export const LINK = {"HELLO": 1, "SAMPLE": 3, "LABELLED": 4, "LABEL": 5, "STATUS": 6, "CONFUSION": 7, "FINGERPRINT": 8, "RESET": 10, "CONFIGURATION": 11, "ANOMALY": 12, "REGRESSION": 13, "QUERIES": 14, "CLASSES": 15, "WELCOME": 129, "AGAIN": 142, "ERROR": 143, "OBSERVED": 144, "OTHER_VERSION": 1, "NO_SESSION": 2, "USED_SESSION": 3};

/** The link's version, and a frame's bytes before and after the payload. */
export const FRAME = {"version": 1, "header": 7, "trailer": 4};

/** The names of the words in an answer, in their order. */
export const WORDS = {"DeviceStatus": ["samples", "right", "accuracy", "accuracy_nochange", "kappa", "kappa_temporal", "heap_used", "heap_free", "drift", "drifts", "uptime", "pending", "checkpoint", "damaged", "missed", "asleep", "unsaved", "saved_ago"], "RegressionErrors": ["predicted", "half", "scored", "high", "low", "nochange_high", "nochange_low", "inside"], "AnomalyStatus": ["score", "threshold", "alarms", "left"], "Query": ["sample_id", "label", "asked", "seen", "saved"]} as const;

/** The first byte of a request about classes. */
export const CLASS_REQUESTS = {"TELL": 0, "NAME": 1, "RENAME": 2, "MERGE": 3, "FORGET": 4, "DISMISS": 5};

/** The code of an unknown label. */
export const UNKNOWN = 65535;

/** The most counts of the confusion matrix in one answer. */
export const COUNTS = 14;

/** Architectures, by number in MicroPython. */
export const ARCHITECTURES: readonly string[] = ["", "x86", "x64", "armv6", "armv6m", "armv7m", "armv7em", "armv7emsp", "armv7emdp", "xtensa", "xtensawin", "rv32imc", "rv64imc"];

/** The analog pins of RP2040 and RP2350. */
export const RP2_ADC: readonly number[] = [26, 27, 28, 29];

/** The companions' options, by name in config.json. */
export const COMPANION_FLAGS: Readonly<Record<string, string>> = {"anomaly": "--anomaly", "spare_classes": "--spare-classes", "queries": "--label-budget", "guarantee": "--guarantee"};

/** Red, green and blue of a NeoPixel's colours, by name. */
export const PIXEL_COLOURS: Readonly<Record<string, readonly number[]>> = {"red": [64, 0, 0], "orange": [64, 20, 0], "yellow": [64, 48, 0], "green": [0, 64, 0], "cyan": [0, 48, 48], "blue": [0, 0, 64], "magenta": [48, 0, 48], "white": [40, 40, 40]};

/** The numbers of a USB keyboard's keys. */
export const KEY_NUMBERS: Readonly<Record<string, number>> = {"a": 4, "b": 5, "c": 6, "d": 7, "e": 8, "f": 9, "g": 10, "h": 11, "i": 12, "j": 13, "k": 14, "l": 15, "m": 16, "n": 17, "o": 18, "p": 19, "q": 20, "r": 21, "s": 22, "t": 23, "u": 24, "v": 25, "w": 26, "x": 27, "y": 28, "z": 29, "1": 30, "2": 31, "3": 32, "4": 33, "5": 34, "6": 35, "7": 36, "8": 37, "9": 38, "0": 39, "Enter": 40, "Escape": 41, "Backspace": 42, "Tab": 43, "Space": 44, "Minus": 45, "Equal": 46, "BracketLeft": 47, "BracketRight": 48, "Backslash": 49, "Semicolon": 51, "Quote": 52, "Backquote": 53, "Comma": 54, "Period": 55, "Slash": 56, "F1": 58, "F2": 59, "F3": 60, "F4": 61, "F5": 62, "F6": 63, "F7": 64, "F8": 65, "F9": 66, "F10": 67, "F11": 68, "F12": 69, "F13": 104, "F14": 105, "F15": 106, "F16": 107, "F17": 108, "F18": 109, "F19": 110, "F20": 111, "F21": 112, "F22": 113, "F23": 114, "F24": 115, "Insert": 73, "Home": 74, "PageUp": 75, "Delete": 76, "End": 77, "PageDown": 78, "ArrowRight": 79, "ArrowLeft": 80, "ArrowDown": 81, "ArrowUp": 82, "ControlLeft": 224, "ShiftLeft": 225, "AltLeft": 226, "MetaLeft": 227, "ControlRight": 228, "ShiftRight": 229, "AltRight": 230, "MetaRight": 231};

/** The keys of microshrub.toml. */
export const PROJECT_KEYS: readonly string[] = ["board", "data", "model", "sensor", "label-pin", "label-keys", "port", "features", "label", "label-from", "classes", "columns", "drop", "group", "wide", "target", "horizon", "lags", "interval", "learner"];

/** The sections of microshrub.toml. */
export const PROJECT_COMMANDS: readonly string[] = ["record", "simulate", "tune", "build", "flash", "monitor", "stream", "device"];

/** Limits of a stream, of a column of texts, and of a file in bytes. */
export const LIMITS = {"features": 256, "classes": 256, "warmup": 256, "categories": 64, "declared": 256, "line": 1048576, "start": 4096};

/** Cells that have no value. */
export const MISSING_CELLS: readonly string[] = ["", "-", "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "none", "null"];

/** Files other than CSV: start, a character a byte; kind; and advice, or pandas' reader. */
export const FILE_KINDS: readonly (readonly [pattern: string, what: string, remedy: string])[] = [["PK\\x03\\x04.{26}config\\.json", "a model that `simulate --save` wrote", "Models are named with --model; DATA is a CSV or ARFF file."], ["PK\\x03\\x04.{26}mimetypeapplication/vnd\\.oasis", "an OpenDocument file", "Save the sheet that has the samples as CSV in UTF-8 (File, Save As), and name that file."], ["PK\\x03\\x04.*(xl/|\\[Content_Types\\]\\.xml|_rels/)", "an Excel workbook", "Save the sheet that has the samples as CSV in UTF-8 (File, Save As), and name that file."], ["PK(\\x03\\x04|\\x05\\x06|\\x07\\x08)", "a zip archive", "Unpack it, and name the CSV or ARFF file in it."], ["\\xd0\\xcf\\x11\\xe0\\xa1\\xb1\\x1a\\xe1", "an old Excel workbook", "Save the sheet that has the samples as CSV in UTF-8 (File, Save As), and name that file."], ["PAR1", "a Parquet file", "read_parquet"], ["ARROW1|FEA1", "an Arrow or Feather file", "read_feather"], ["\\x89HDF\\r\\n", "an HDF5 file", "read_hdf"], ["\\x80[\\x02-\\x05]", "a Python pickle", "read_pickle"], ["\\x93NUMPY", "a NumPy array", "Write it as CSV with numpy.savetxt, with a header."], ["MATLAB 5\\.0", "a MATLAB file", "Export the table as CSV in UTF-8, and name that file."], ["SQLite format 3\\x00", "an SQLite database", "Export the table as CSV in UTF-8, and name that file."], ["\\x1f\\x8b", "packed with gzip twice", "Unpack it once."], ["BZh[1-9]", "packed with bzip2", "Unpack it, and name the CSV or ARFF file in it."], ["\\xfd7zXZ\\x00", "packed with xz", "Unpack it, and name the CSV or ARFF file in it."], ["\\x28\\xb5\\x2f\\xfd", "packed with zstd", "Unpack it, and name the CSV or ARFF file in it."], ["7z\\xbc\\xaf\\x27\\x1c|Rar!\\x1a|.{257}ustar", "an archive", "Unpack it, and name the CSV or ARFF file in it."], ["%PDF-", "a PDF", "Export the table as CSV in UTF-8, and name that file."], ["\\x89PNG|\\xff\\xd8\\xff|GIF8", "a picture", "Name a CSV or ARFF file."], ["\\s*<(!doctype html|html)", "a web page", "Download the data itself, and name that file."], ["\\s*<\\?xml", "an XML file", "Export the table as CSV in UTF-8, and name that file."], ["\\s*(\\{\\s*(\\\"|\\}|$)|\\[\\s*[\\[{\\\"])", "a JSON file", "read_json"]];

/** Names of columns that may give the label away, and their meaning. */
export const TELLTALE_NAMES: readonly (readonly [pattern: string, what: string])[] = [["(date|time|stamp|clock|epoch|uptime|elapsed|ticks?|millis|micros|seconds)+(_?(s|ms|us|ns|utc|local))?|ts|(unix|sys|gps|wall|local|utc)_?time", "a clock"], ["(unnamed_*\\d*|index|idx|rownames?|seq|sequence|(row|line|sample|record|frame)s?)(_?(no|nr|num|number|index|idx))?|no|nr", "a row's number"], ["(.*_)?(id|uid|uuid|guid|identifier)|id_.*", "an identifier"]];

/** The beginnings of lines that a board prints when it starts or crashes. */
export const BOOT = "ets [A-Z][a-z]{2}\\s+\\d+ \\d{4}|ESP-ROM:|Build:[A-Z][a-z]{2} |rst:0x|configsip:|clk_drv:|mode:[A-Z]+, clock div|load:0x|entry 0x|SPIWP:|csum |ho \\d+ tail|chksum |tail \\d+|[EWIDV] \\(\\d+\\) \\w|Brownout detector|Guru Meditation|Backtrace:|Core\\s+\\d register dump|Rebooting\\.\\.\\.|waiting for host|boot: |cpu_start:|~ld|Fatal exception|abort\\(\\) was|ELF file SHA|wdt reset|Soft WDT reset|flash read err|invalid header: 0x|Saved PC:0x";

/** The beginnings of lines that belong to MicroPython's prompt. */
export const PROMPT = "MicroPython v|CircuitPython |Adafruit CircuitPython|Type \\\"help\\(\\)\\\"|>>>|MPY: |soft reboot|raw REPL|Traceback \\(most|  File \\\"|KeyboardInterrupt|code\\.py output|paste mode|=== |\\w*Error: |Press any key to enter the REPL";
