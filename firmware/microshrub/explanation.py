"""Explains a HoeffdingTree's prediction: a sample's path of tests as a line of text.

Tests are on codes. With the quantizer, they are written as tests on the raw value, and with units,
in those of the feature, exactly: a value in that unit passes both or neither.

Reads the buffers of hoeffding/pool.py and hoeffding/histograms.py by name. Allocates, so it is not
for hot paths.
"""

from micropython import const

# From elsewhere, written by `make constants`:
# hoeffding/pool.py
_NO_SLOT = const(65535)
# (end)

_PLACES = const(15)  # behind the point; what needs more is written with an exponent


def explain(model, x, quantizer=None, names=None, classes=None, units=None):
    """Return the tests that x passes, and its leaf's prediction, as one line of text.

    x          array('H') of `features` codes
    quantizer  tests are on raw values, else on codes
    names      of the features, else "x[0]"; classes: names of the classes, else "class 0"
    units      of each feature a pair (offset, digits), ints: a raw value stands for
               offset + raw / 10**digits

    "price <= 0.052, period > 12 -> UP (0.83 of 412)": the class is that of model.predict(x), which
    fills `votes`; 0.83 of the 412 samples counted in the leaf belong to it (its own samples, and
    the share of its parent's that it began with). A leaf without statistics has no brackets.

    Raises ValueError if the model has no tree, or if an argument does not match its features or
    classes.
    """
    child = _buffer(model, "tree.child")
    feature = _buffer(model, "tree.feature")
    threshold = _buffer(model, "tree.threshold")
    _check("names", names, model.features)
    _check("classes", classes, model.classes)
    _check("units", units, model.features)
    if quantizer and quantizer.features != model.features:
        raise ValueError("the quantizer has to be of %d features" % model.features)
    if units and not quantizer:
        raise ValueError("units are of raw values: they need a quantizer")
    label = model.predict(x)
    tests = []
    node = 0
    while child[node]:
        f = feature[node]
        above = x[f] > threshold[node]
        tests.append(condition(f, threshold[node], above, quantizer, names, units))
        node = child[node] + int(above)
    text = ", ".join(tests) + " -> " if tests else ""
    text += classes[label] if classes else "class %d" % label
    counts = leaf_counts(model, node)
    if sum(counts):
        text += " (%s of %d)" % (share(counts[label], sum(counts)), sum(counts))
    return text


def condition(feature, threshold, above, quantizer=None, names=None, units=None):
    """The text of a test: code <= threshold, or if `above` code > threshold; see explain()."""
    value = quantizer.raw(feature, threshold) if quantizer else threshold
    if units:
        value = decimal(value, *units[feature])
    name = names[feature] if names else "x[%d]" % feature
    return "%s %s %s" % (name, ">" if above else "<=", value)


def leaf_counts(model, leaf):
    """How many samples of each class count in a leaf, as a list; [] if it keeps no statistics."""
    slot = _buffer(model, "tree.slot")[leaf]
    if slot == _NO_SLOT:
        return []
    prior = _buffer(model, "observers.prior")
    return [prior[slot * model.classes + c] for c in range(model.classes)]


def share(part, total):
    """part / total in hundredths, as text."""
    hundredths = (200 * part + total) // (2 * total)
    return "%d.%02d" % (hundredths // 100, hundredths % 100)


def decimal(raw, offset, digits):
    """offset + raw / 10**digits as text, exactly."""
    if not offset and not -_PLACES <= digits <= _PLACES:
        return "%de%d" % (raw, -digits)
    if digits <= 0:
        return str(offset + raw * 10**-digits)
    number = offset * 10**digits + raw
    text = str(abs(number))
    text = "0" * (digits + 1 - len(text)) + text
    end = len(text)
    while text[end - 1] == "0" and end > len(text) - digits:
        end -= 1
    point = len(text) - digits
    text = text[:point] + ("." + text[point:end] if end > point else "")
    return "-" + text if number < 0 else text


def _buffer(model, name):
    for known, _, buffer in model.buffers():
        if known == name:
            return buffer
    raise ValueError("only a HoeffdingTree has a tree to explain")


def _check(name, given, length):
    if given is not None and len(given) != length:
        raise ValueError("%s has to have %d items, not %d" % (name, length, len(given)))
