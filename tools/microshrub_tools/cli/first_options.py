"""Which options the --help of a command shows: those of the first hour, each in a line.

An empty text is the option's own. `COMMAND --help-all` shows all of them.
"""

from __future__ import annotations

_DATA = {"DATA": "a CSV or ARFF file, or river:NAME, synth:NAME"}
_READ = _DATA | {
    "--label": "the column of the class (default: the last)",
    "--drop": "columns that are not features (default: none)",
    "--features": "make features of windows of readings (default: off)",
    "--limit": "only the first N samples (default: all)",
}
_BOARD = {"--board": "the board, such as rpi_pico or esp32"}
_MODEL = {"--model": "the learner, or a file that --save wrote"}
_LEARNER = {"--model": "the learner (default thicket)"}
_TARGET = {
    "--target": "predict this column, a number, instead of a class",
    "--horizon": "forecast the target N samples ahead (default 0)",
}
_HELP = {"--help": ""}

SIMULATE = (
    _READ
    | _BOARD
    | _LEARNER
    | {
        "--balance": "do not overlook rare classes (default: off)",
        "--anomaly": "alert about unusual samples, at most '1 per day'",
    }
    | _TARGET
    | {
        "--plot": "draw accuracy over time (default: off)",
        "--save": "save the learned model (default: off)",
    }
    | _HELP
)
TUNE = (
    _READ
    | _BOARD
    | {
        "--trials": "how many models to try",
        "--choose-on": "the part of the stream on which models are chosen",
        "--study": "the file that keeps the trials",
        "--jobs": "processes at the same time (default: one a core)",
        "--plot": "draw accuracy against RAM (default: off)",
    }
    | _TARGET
    | _HELP
)
FLEET = (
    _DATA
    | {
        "--boards": "how many boards (default 5)",
        "--lacking": "part of the classes that each lacks (default 1/3)",
        "--exchange": "samples of a class in a parcel (default 20)",
        "--bytes": "the size of each model (default 16384)",
        "--seed": "which classes each board lacks (default 0)",
        "--jobs": "processes at the same time (default 1)",
    }
    | _HELP
)
COMPARE = (
    _READ
    | {
        "--ours": "our learners (default: all)",
        "--peers": "River's and MOA's learners (default: all installed)",
        "--bytes": "the most bytes that one of our models may take",
        "--jobs": "processes at the same time (default: one a core)",
        "--html": "write a page (default: off)",
    }
    | _TARGET
    | _HELP
)
PARITY = (
    _READ
    | _LEARNER
    | {
        "--every": "compare the states after every N samples",
        "--native": "the native module, too (default: off)",
    }
    | _TARGET
    | _HELP
)
BUDGET = (
    _BOARD
    | _LEARNER
    | {
        "--features": "how many features a sample has (required)",
        "--classes": "how many classes there are (required)",
        "--mqtt": "with the part that reports to a broker (default: off)",
        "--native": "with the kernels in one native module (default: off)",
        "--buffers": "list every buffer (default: one line a thing)",
        "--json": "write the budget as one JSON object (default: off)",
    }
    | _HELP
)
BUILD = (
    {"DATA": "a recording, for a fresh model of samples like those"}
    | _MODEL
    | {"--board": "the board, such as rpi_pico or esp32 (required)"}
    | {
        "--sensor": "adc pins=26,27 rate=50; mpu6050 scl=1 sda=0; FILE.py",
        "--features": "make features of windows of readings (default: off)",
        "--label-pin": "a button: 15 pressed=walk released= (default: none)",
        "--switch": "what a class switches: walk=16 run=27:green (default: none)",
        "--led-pin": "a light that is on while a question waits: 25",
        "--label-budget": "active learning: ask for this share of the labels: 10%%",
        "--anomaly": "alert about unusual samples, at most '1 per day'",
        "--tcp": "let your PC in over Wi-Fi, with a key (default: off)",
        "--mqtt": "report to Home Assistant or a broker (default: none)",
        "--native": "smaller and faster, with a C compiler (default: off)",
        "--output": "the folder to write (default build/BOARD)",
    }
    | _HELP
)
STREAM = (
    _DATA
    | {
        "--port": "the board's port (default: the only board's)",
        "--rate": "samples a second (default: as fast as it goes)",
        "--limit": "only the first N samples (default: all)",
        "--build": "the folder that was flashed (default: found in build/)",
        "--reset": "make the board forget what it learned (default: off)",
    }
    | _HELP
)
RECORD = {
    "--output": "the file to write (required)",
    "--label-keys": "keys that set the label, such as 0=rest,1=walk",
    "--port": "the board's port (default: the only board's)",
    "--seconds": "stop after S seconds (default: at Ctrl-C)",
    "--limit": "stop after N samples (default: at Ctrl-C)",
    "--time": "add a first column with milliseconds (default: off)",
    "--append": "add to an existing file (default: refuse)",
    "--force": "replace an existing file (default: refuse)",
} | _HELP
DEVICE = {
    "PROGRAM": "a build's folder, or a main.py (default: empty)",
    "--sensor": "the recording that its sensors play (default: no pins)",
    "--rate": "rows per second, or 1/60 (default 100)",
    "--press": "buttons: pressed while a row has that label",
    "--speed": "the clock's speed, a multiple of real time (default 1)",
    "--drop": "columns that no sensor plays (default: none)",
    "--no-label": "the last column is also a sensor's, not the label",
} | _HELP
SOAK = (
    _DATA
    | _LEARNER
    | {"--samples": "how many samples to learn", "--heap": "MicroPython's heap, such as 160k"}
    | _HELP
)
YEAR = {
    "--days": "how many days (default 365)",
    "--rate": "samples a minute (default 1)",
    "--seed": "seed of all that happens (default 1)",
    "--sleep": "sleep between samples as `build --sleep`; count the time awake (default: off)",
    "--board": "the board that sleeps (default rpi_pico)",
    "--battery": "a battery whose days are estimated (default: none)",
} | _HELP
REPRODUCE = {
    "EXPERIMENT": "a paper's experiment: --help-all names them",
    "--quick": "a small part of it, in minutes (default: off)",
    "--streams": "some of its streams (default: all)",
    "--methods": "some of its methods (default: all)",
    "--data": "the folder of its data sets",
    "--jobs": "processes at the same time (default: one a core)",
    "--output": "where the results are kept",
    "--html": "write a page (default: off)",
} | _HELP
COSTS = {
    "--board": "the emulated board (default: all)",
    "--native": "with the kernels in one native module (default: off)",
    "--kernels": "also count each kernel of the shrubs (default: off)",
    "--markdown": "also write the page of the documentation",
} | _HELP
SHOW = {
    "MODEL": "a file that `simulate --save` wrote",
    "--plot": "draw the tree, or the shrub with the largest weight",
    "--depth": "only the first N levels of tests (default: all)",
    "--tree": "only the shrub with the N-th largest weight",
    "--row": "explain the prediction for this sample instead",
} | _HELP
