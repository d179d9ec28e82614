"""In C, what stands around a learner of numbers; words in capitals are filled in.

The places of the words are those of firmware's target.py, interval.py and forecaster.py.
"""

from __future__ import annotations

TARGET = """
enum { /* words of the target's range, and of the forecaster */
    MICROSHRUB_LEAST = 4, MICROSHRUB_GREATEST = 5, MICROSHRUB_ROUNDED = 7,
    MICROSHRUB_KEPT = 4, MICROSHRUB_HEAD = 5, MICROSHRUB_AT = 6, MICROSHRUB_HELD = 7
};

static inline int32_t microshrub_note(int32_t y) /* a target; gives its code */
{
    int32_t *unit = microshrub_target_range, code;
    if (y < unit[MICROSHRUB_LEAST])
        unit[MICROSHRUB_LEAST] = y;
    if (y > unit[MICROSHRUB_GREATEST])
        unit[MICROSHRUB_GREATEST] = y;
    code = CODE(unit, y);
    unit[MICROSHRUB_ROUNDED] = y - VALUE(unit, code);
    return code;
}

static inline int32_t microshrub_said(int32_t code) /* the raw value that is predicted */
{
    int32_t *unit = microshrub_target_range;
    int32_t said = VALUE(unit, code) + unit[MICROSHRUB_ROUNDED];
    if (unit[MICROSHRUB_LEAST] > unit[MICROSHRUB_GREATEST])
        return said;
    if (said > unit[MICROSHRUB_GREATEST])
        said = unit[MICROSHRUB_GREATEST];
    return said < unit[MICROSHRUB_LEAST] ? unit[MICROSHRUB_LEAST] : said;
}
"""

NO_INTERVAL = """
static inline void microshrub_judge(int32_t said, int32_t y)
{
    (void)said;
    (void)y;
}

static inline int32_t microshrub_width(void)
{
    return -1;
}
"""

INTERVAL = """
static inline int32_t microshrub_width(void)
{
    return microshrub_interval_state[0];
}

static inline void microshrub_judge(int32_t said, int32_t y) /* what came of a prediction */
{
    enum { HALF, PART, MEAN, SEEN, SHARE };
    const int32_t most = 536870911; /* 2**29 - 1 */
    int32_t *state = microshrub_interval_state;
    int32_t error = said < y ? y - said : said - y, step, part, half;
    int shift = 0;
    if (error > most)
        error = most;
    if (state[SEEN] < 64)
        state[SEEN]++;
    state[MEAN] += microshrub_floor_div(error - state[MEAN], state[SEEN]);
    while (shift < 4 && state[SEEN] >> (shift + 3))
        shift++;
    step = state[MEAN] >> shift;
    if (step < state[HALF] >> 4)
        step = state[HALF] >> 4;
    step = step < 1 ? 1 : step > 2097152 ? 2097152 : step;
    part = state[PART] + step * (error <= state[HALF] ? state[SHARE] - 256 : state[SHARE]);
    half = state[HALF] + microshrub_floor_div(part, 256);
    state[PART] = half >= 0 && half < most ? microshrub_floor_mod(part, 256) : 0;
    state[HALF] = half < 0 ? 0 : half > most ? most : half;
}
"""

TAKE_NOW = """
static inline int32_t microshrub_take(const int32_t *raw)
{
    const int32_t y = LIMITED(raw[MICROSHRUB_TARGET]);
    int32_t said;
    ARRANGE((int32_t *)raw, 0, microshrub_forecaster_words, microshrub_forecaster_row,
        microshrub_forecaster_recent);
    ENCODE(microshrub_forecaster_row, microshrub_forecaster_codes, 1, ARGUMENTS);
    microshrub_half = microshrub_width();
    if (y == MICROSHRUB_MISSING)
        return microshrub_said(PREDICT(TABLE, microshrub_forecaster_codes, 0));
    said = microshrub_said(LEARN(TABLE, microshrub_forecaster_codes, 0,
        CODE(microshrub_target_range, y)));
    (void)microshrub_note(y);
    microshrub_judge(said, y);
    return said;
}
"""

TAKE_AHEAD = """
static inline int32_t microshrub_take(const int32_t *raw)
{
    const int32_t y = LIMITED(raw[MICROSHRUB_TARGET]);
    int32_t *words = microshrub_forecaster_words, at = words[MICROSHRUB_AT], said;
    if (words[MICROSHRUB_HELD] == MICROSHRUB_HORIZON && y != MICROSHRUB_MISSING) {
        /* the sample that waited for this value */
        (void)LEARN(TABLE, microshrub_forecaster_rows, at * MICROSHRUB_FEATURES,
            microshrub_note(y));
        microshrub_judge(microshrub_forecaster_predicted[at], y);
    }
    words[MICROSHRUB_HEAD] = words[MICROSHRUB_HEAD] + 1 < words[MICROSHRUB_KEPT]
        ? words[MICROSHRUB_HEAD] + 1 : 0;
    microshrub_forecaster_recent[words[MICROSHRUB_HEAD]] = y;
    ARRANGE((int32_t *)raw, 0, words, microshrub_forecaster_row, microshrub_forecaster_recent);
    ENCODE(microshrub_forecaster_row, microshrub_forecaster_codes, 1, ARGUMENTS);
    said = microshrub_said(PREDICT(TABLE, microshrub_forecaster_codes, 0));
    if (words[MICROSHRUB_HELD] < MICROSHRUB_HORIZON && y != MICROSHRUB_MISSING)
        said = y; /* no target has come so far: nothing changes */
    microshrub_half = microshrub_width();
    KEEP(microshrub_forecaster_codes, words, microshrub_forecaster_rows, MICROSHRUB_FEATURES);
    microshrub_forecaster_predicted[at] = said;
    words[MICROSHRUB_AT] = at + 1 < MICROSHRUB_HORIZON ? at + 1 : 0;
    if (words[MICROSHRUB_HELD] < MICROSHRUB_HORIZON)
        words[MICROSHRUB_HELD]++;
    return said;
}
"""
