"""The parts of a C header for a model with spare classes."""

from __future__ import annotations

from .model_files import OpenModel

NAMED_CLASS = ("class_names", "named_class")  # the kernel

HEAD = """\

   int microshrub_predict(const int32_t *raw) gives the class of a sample, one that is named, and
   microshrub_votes the votes for each class. int microshrub_learn(const int32_t *raw, int label)
   learns the sample and gives the class that was predicted before, or -1 if there is no such
   class as the label. A label of a spare class names it: from then on it is predicted, too.
   microshrub_is_named(c) tells whether it is; what it is called is for you to keep. A missing
   value is MICROSHRUB_MISSING: the feature keeps its last code. What these do is what predict()
   and learn() of a SpareClasses do; microshrub_crc32() of the state is the model's
   state_crc32(). What is new is not looked for.
"""
_FUNCTIONS = """
static inline void microshrub_encode(const int32_t *raw)
{
    ENCODE(microshrub_ranges, (void *)raw, microshrub_codes, 1);
}

static inline int microshrub_is_named(int c)
{
    return c >= 0 && c < MICROSHRUB_CLASSES && microshrub_names_state[c] == 1;
}

static inline int microshrub_named_class(int predicted)
{
    return NAMED_CLASS(microshrub_names_state, microshrub_names_stands, microshrub_votes,
        predicted, MICROSHRUB_CLASSES);
}

static inline int microshrub_predict(const int32_t *raw)
{
    microshrub_encode(raw);
    return microshrub_named_class(PREDICT(TABLE, microshrub_codes, 0));
}

static inline int microshrub_learn(const int32_t *raw, int label)
{
    int predicted;
    if (label < 0 || label >= MICROSHRUB_CLASSES)
        return -1;
    label = microshrub_names_stands[label];
    microshrub_names_state[label] = 1;
    LEARNED
    return predicted;
}

"""
_AT_ONCE = """microshrub_encode(raw);
    predicted = microshrub_named_class(LEARN(TABLE, microshrub_codes, 0, label));"""
_BEFORE = """predicted = microshrub_predict(raw); /* learning leaves other votes */
    (void)LEARN(TABLE, microshrub_codes, 0, label);"""


def functions(model: OpenModel) -> str:
    """Return the functions, in which words in capitals are placeholders."""
    learned = _BEFORE if model.learner.votes_change else _AT_ONCE
    return _FUNCTIONS.replace("LEARNED", learned)
