"""Learns a fixed stream, from which a board must learn the same bits as a PC.

Labels are random. The values of a feature rise with the label, by a different amount for each
feature, with noise on top. Everything is integer arithmetic.
"""

from array import array

from ..fixed import RNG_WORDS, below, generator_table, seed_generator

SAMPLES = 200
_OBSERVED = 50  # samples that the quantizer sees before
_SEED = 2026
_NOISE = 1000
_TICKS = 0x3FFFFFFF  # a clock of 30 bits


def draw(generator, raw, classes):
    """Fill raw, array('i'), with the next sample; returns its label. See fixed.generator_table."""
    label = below(generator, 0, classes)
    for f in range(len(raw)):
        raw[f] = label * (f % 7) * 100 + below(generator, 0, _NOISE) - _NOISE // 2
    return label


def selftest(model, quantizer, clock):
    """Have a fresh model and its fresh quantizer learn 200 samples.

    clock() returns microseconds, as time.ticks_us does. Returns the CRC32 of the model's state and
    the microseconds that encoding and learning all samples took.
    """
    rng = array("i", [0] * RNG_WORDS)
    raw = array("i", [0] * model.features)
    numbers = not hasattr(model, "classes")
    classes = 16 if numbers else model.classes
    x = array("H", raw)
    seed_generator(rng, _SEED)
    generator = generator_table(rng)
    if not quantizer.frozen:  # its ranges do not grow later
        for _ in range(_OBSERVED):
            draw(generator, raw, classes)
            quantizer.observe(raw)
        quantizer.freeze()
    took = 0
    for _ in range(SAMPLES):
        label = draw(generator, raw, classes)
        start = clock()
        quantizer.encode(raw, x)
        model.learn(x, label << 12 if numbers else label)
        took += (clock() - start) & _TICKS
    return model.state_crc32(), took
