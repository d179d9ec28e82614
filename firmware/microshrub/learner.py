"""The base class of all learners, and the checks of the values that users pass in."""

from array import array

# found at once: on a board, a miss among a module's own names takes up to 1,000 instructions
from builtins import bool, hasattr, int, isinstance, len, type  # noqa: UP029

import micropython
from micropython import const

from .buffers import Buffers, address_table, table_bytes

MYPY = const(0)  # mypy takes this for true
_DEFAULT_BYTES = const(16384)  # of the buffers, if no size is given
CODES = array("H")  # a sample for same_items()
_ONLY = (
    ""  # the configuration of the only learner that the kernels are for; `build` writes it here
)


class ParameterError(ValueError):
    """A value that a parameter cannot have.

    args is (name of the parameter, a text with the allowed values, the given value).
    """

    def __str__(self):
        return "%s has to be %s, not %r" % self.args


def whole(name, value, low, high):
    """value if it is an int of low..high, else ParameterError."""
    if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
        raise ParameterError(name, "a whole number of %d..%d" % (low, high), value)
    return value


def choice(name, value, allowed):
    """value if it is in the tuple allowed, else ParameterError."""
    if type(value) is not type(allowed[0]) or value not in allowed:
        raise ParameterError(name, "one of " + ", ".join(map(str, allowed)), value)
    return value


def yes_or_no(name, value):
    """value if it is True or False, else ParameterError."""
    if not isinstance(value, bool):
        raise ParameterError(name, "True or False", value)
    return value


def twelve_bits(value):
    """(whole, shift): value > 0 is about whole / 2**shift, 2048 <= whole <= 4096.

    For decimals of up to four places, single precision gives the same two numbers.
    """
    shift = 0
    while value < 2048:
        value *= 2
        shift += 1
    return int(value + 0.5), shift


def number(name, value, allowed, unit):
    """value as a whole number of 1/unit, of twelve bits; for unit 0 the whole number 1 / value.

    Raises ParameterError unless it is in the range allowed, as "1/1024..64".
    """
    low, high = map(_read, allowed.split(".."))
    right = isinstance(value, (int, float)) and not isinstance(value, bool)
    if not right or not low <= value <= high:
        raise ParameterError(name, "a number of " + allowed, value)
    if not value:
        return 0
    bits, shift = twelve_bits(value)
    if not unit:
        return ((1 << shift) + bits // 2) // bits
    half = 1 << shift >> 1 if unit < 4096 else 0  # a unit that is finer than twelve bits
    return (bits * unit + half) >> shift


def _read(text):
    """The value of a word in PARAMETERS: a number, True, False, () or a text."""
    if text.isdigit():
        return int(text)
    if text[:1].isdigit():  # text[0] would stay on a board for ever, as a name
        above, _, below = text.partition("/")
        return float(above) / int(below or 1)
    return () if text == "()" else text == "True" or (text != "False" and text)


def check_classes(name, buffer, classes):
    """Raise ValueError unless buffer is a bytearray of classes. Allocates nothing."""
    if not isinstance(buffer, bytearray) or (len(buffer) and max(buffer) >= classes):
        raise ValueError("%s has to be a bytearray of classes 0..%d" % (name, classes - 1))


def same_items(x, sample):
    """Whether x is an array with items like those of the array sample. Allocates nothing."""
    if not isinstance(x, array):
        return False
    if hasattr(x, "typecode"):  # on CPython only
        return x.typecode == sample.typecode
    try:
        x == sample  # noqa: B015  (refused for other item sizes; signs are not looked at)
    except NotImplementedError:
        return False
    return True


def check_row(x, features):
    """Raise ValueError unless x is an array('H') of that many codes. Allocates nothing."""
    signed = not hasattr(x, "typecode")  # on a board: same_items() does not look at signs there
    if not same_items(x, CODES) or len(x) != features or (signed and features and min(x) < 0):
        raise ValueError("x has to be array('H') of %d codes" % features)


@micropython.viper
def run_rows(learn, t, rows, labels, predictions, begin: int, end: int, features: int):
    """Learn rows one by one, and note the prediction for each."""
    y = ptr8(labels)
    out = ptr8(predictions)
    for i in range(begin, end):
        out[i] = int(learn(t, rows, i * features, y[i]))


class Learner(Buffers):
    """The base class of all learners.

    A subclass lists its parameters, besides `features` and `classes`, in PARAMETERS: one text,
    which takes the least RAM, of rows separated by ";":

        nodes 127 1..65535          a whole number: its default and its range
        window 0 2..1024            0: the class chooses it, see fit()
        max_features 0 0..features  a whole number up to that of the features
        step 0.5 1/1024..64 65536   a number, stored in units of 1/65536; see number()
        leaf proba proba|class      one of these texts, or whole numbers
        adaptive False              True or False
        two_valued ()               a value that the class checks itself

    Parameters are checked and become attributes. The docstring explains them, for --help, too.

    It provides the table of its buffers, `_table()`, and kernels `_predict(t, rows, at)` and
    `_learn(t, rows, at, label)`, which return the class predicted before learning; t has the
    addresses of the buffers.
    """

    PARAMETERS = ""
    moves = False  # whether its codes move with ranges that grow
    votes_change = False  # whether after learn() the votes may not be those of its prediction
    _SHAPE = ("features", "classes")  # type: tuple  # of a sample

    if MYPY:

        def __getattr__(self, name):
            """The parameters are attributes."""

    _is_plan = False  # without buffers, see plan()

    def __init__(self, features, classes, **parameters):
        self.features = whole("features", features, 1, 256)
        self.classes = whole("classes", classes, 2, 256)
        self._set_up(parameters)

    def _set_up(self, parameters):
        """Take the other parameters, and make the buffers."""
        for row in self._rows():
            setattr(self, row[0], self._checked(row, parameters.pop(row[0], _read(row[1]))))
        for name in parameters:
            raise TypeError("unexpected keyword argument '%s'" % name)
        self._prepare()
        if self._is_plan:
            return
        if _ONLY and self.configuration() != _ONLY:
            raise ValueError("this program is for %s: build and flash it again" % _ONLY)
        self._allocate()

    @classmethod
    def _rows(cls):
        """The rows of PARAMETERS, each a list of words."""
        return list(map(str.split, cls.PARAMETERS.split(";"))) if cls.PARAMETERS else []

    def _checked(self, row, value):
        """The value of a parameter as the learner holds it."""
        if len(row) == 2:
            return value if row[1] == "()" else yes_or_no(row[0], value)
        if "|" in row[2]:
            return choice(row[0], value, tuple(map(_read, row[2].split("|"))))
        if len(row) == 4:
            return number(row[0], value, row[2], int(row[3]))
        if row[1] == "0" and value == 0 and not isinstance(value, bool):
            return 0  # the class chooses, or 0 is in the range
        low, high = row[2].split("..")
        return whole(row[0], value, int(low), self.features if high == "features" else int(high))

    def fit(self, name, low, high):
        """Give a parameter of default 0 the most in low..high that fits 16 KB, or low."""
        while low < high:
            middle = (low + high + 1) // 2
            setattr(self, name, middle)
            if self.table_bytes() <= _DEFAULT_BYTES:
                low = middle
            else:
                high = middle - 1
        setattr(self, name, low)

    def _prepare(self):
        """Check parameters against each other, and choose kernels; nothing is allocated yet."""

    def configuration(self):
        """All parameters as one line of text, numbers as they are held: step=32768/65536."""
        text = type(self).__name__
        for row in [[name] for name in self._SHAPE] + self._rows():
            value = getattr(self, row[0])
            if isinstance(value, tuple):
                value = ",".join(map(str, value))
            elif isinstance(value, bool):
                value = int(value)
            elif len(row) == 4:
                value = "%d/%s" % (value, row[3]) if row[3] != "0" else "1/%d" % value
            text += " %s=%s" % (row[0], value)
        return text

    @classmethod
    def plan(cls, **parameters):
        """A learner with these parameters but without its buffers."""
        plan = object.__new__(cls)
        plan._is_plan = True
        cls.__init__(plan, **parameters)
        return plan

    @classmethod
    def nbytes(cls, **parameters):
        """Bytes of the buffers of a learner with these parameters, before there is one."""
        return cls.plan(**parameters).table_bytes()

    def table_bytes(self):
        """Bytes of this learner's buffers."""
        return table_bytes(self._table())

    @staticmethod
    def _predict(t, rows, at):
        raise NotImplementedError

    @staticmethod
    def _learn(t, rows, at, label):
        raise NotImplementedError

    def _allocate(self):
        self._make_buffers(self._table())
        self._addresses = address_table(self._flat)
        # attributes of its own are found sooner
        self._predict = self._predict  # type: ignore[method-assign]
        self._learn = self._learn  # type: ignore[method-assign]
        self._row = ()  # the row that was checked last
        self._start()

    @micropython.viper
    def predict(self, x):
        """The class of the codes x, array('H') of `features`; fills `votes`. Allocates nothing."""
        if x is not self._row or len(x) != self.features:
            self._check(x)
        return self._predict(self._addresses, x, 0)

    def predict_next(self, x):
        """The class of x if it comes right after the sample learned last."""
        return self.predict(x)

    def is_empty(self):
        """Whether its codes move with ranges that grow, and it has learned nothing yet."""
        return False

    def idle(self):
        """Do some of the work that is left for idle times; returns whether there is more."""
        return False

    def label_run(self):
        """How many of the labels learned last are the same; 0 if it is not known."""
        return 0

    def move_codes(self, feature, bits, doublings, steps):
        """Move all codes of a feature with its range (growing_ranges.py), if the class `moves`."""
        self._mover()(self._addresses, feature, bits, doublings, steps)

    def learn(self, x, label):
        """Learn one sample; returns the class that was predicted before. Allocates nothing.

        x is array('H') of `features` codes, label is 0..classes - 1; else ValueError, unchanged.
        """
        if x is not self._row or len(x) != self.features:
            self._check(x)
        if type(label) is not int or not 0 <= label < self.classes:
            whole("label", label, 0, self.classes - 1)
        return self._learn(self._addresses, x, 0, label)

    def _check(self, x):
        """Check a row, unless it is the same object as before, which was checked already."""
        check_row(x, self.features)
        self._row = x

    def forget(self):
        """Have old samples count less; here, forget everything."""
        self.reset()

    def run(self, rows, labels, predictions, begin=0, end=None):
        """Predict, then learn, row by row from `begin` to before `end`. Allocates nothing.

        rows is array('H') of len(labels) * features codes, labels a bytearray of classes;
        predictions, as long, takes what was predicted for each row before it was learned.
        """
        count = len(labels)
        end = count if end is None else end
        if not 0 <= begin <= end <= count:
            raise ValueError("begin and end have to be within the %d rows" % count)
        check_row(rows, count * self.features)
        check_classes("labels", labels, self.classes)
        if not isinstance(predictions, bytearray) or len(predictions) != count:
            raise ValueError("predictions has to be a bytearray as long as labels")
        t = self._addresses
        run_rows(self._learn, t, rows, labels, predictions, begin, end, self.features)
