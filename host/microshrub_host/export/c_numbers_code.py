"""In C, what stands around a regressor; words in capitals are filled in.

The places of the words are those of firmware's target.py, interval.py and forecaster.py.
"""

from __future__ import annotations

TARGET = """
enum { /* words of the target's range, and of the forecaster */
    MICROSHRUB_SPAN = 1, MICROSHRUB_LEAST = 4, MICROSHRUB_GREATEST = 5, MICROSHRUB_ROUNDED = 7,
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

static inline int32_t microshrub_within(int32_t said) /* next to it, of the targets seen */
{
    const int32_t *unit = microshrub_target_range;
    if (unit[MICROSHRUB_LEAST] > unit[MICROSHRUB_GREATEST])
        return said;
    if (said > unit[MICROSHRUB_GREATEST])
        return unit[MICROSHRUB_GREATEST];
    return said < unit[MICROSHRUB_LEAST] ? unit[MICROSHRUB_LEAST] : said;
}

static inline int32_t microshrub_said(int32_t code) /* the raw value that is predicted */
{
    int32_t *unit = microshrub_target_range;
    return microshrub_within(VALUE(unit, code) + unit[MICROSHRUB_ROUNDED]);
}
"""

NO_INTERVAL = """
static inline void microshrub_judge(int32_t said, int32_t half, int32_t y)
{
    (void)said;
    (void)half;
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

static inline void microshrub_judge(int32_t said, int32_t half, int32_t y) /* what came of it */
{
    const int32_t most = 536870911; /* 2**29 - 1 */
    const int32_t error = said < y ? y - said : said - y;
    FOLLOW(microshrub_interval_state, error > most ? most : error, half);
}
"""

TAKE_NOW = """
static inline int32_t microshrub_take(const int32_t *raw)
{
    const int32_t y = LIMITED(raw[MICROSHRUB_TARGET]);
    int32_t said;
    ARRANGE((int32_t *)raw, 0, microshrub_forecaster_words, microshrub_forecaster_row,
        microshrub_forecaster_recent);
    ENCODE(microshrub_ranges, microshrub_forecaster_row, microshrub_forecaster_codes, 1);
    microshrub_half = microshrub_width();
    if (y == MICROSHRUB_MISSING)
        return microshrub_said(PREDICT(TABLE, microshrub_forecaster_codes, 0));
    said = microshrub_said(LEARN(TABLE, microshrub_forecaster_codes, 0,
        CODE(microshrub_target_range, y)));
    (void)microshrub_note(y);
    microshrub_judge(said, microshrub_half, y);
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
        JUDGE(microshrub_outlook, at,
            microshrub_forecaster_recent[(words[MICROSHRUB_HEAD] + words[MICROSHRUB_KEPT]
                - MICROSHRUB_HORIZON + 1) % words[MICROSHRUB_KEPT]],
            y, microshrub_target_range[MICROSHRUB_SPAN]);
        microshrub_judge(microshrub_forecaster_predicted[at],
            microshrub_forecaster_halves[at], y);
    }
    words[MICROSHRUB_HEAD] = words[MICROSHRUB_HEAD] + 1 < words[MICROSHRUB_KEPT]
        ? words[MICROSHRUB_HEAD] + 1 : 0;
    microshrub_forecaster_recent[words[MICROSHRUB_HEAD]] = y;
    COMPARE(microshrub_outlook_words, microshrub_outlook_away, microshrub_forecaster_recent,
        words[MICROSHRUB_HEAD], microshrub_target_range[MICROSHRUB_SPAN]);
    ARRANGE((int32_t *)raw, 0, words, microshrub_forecaster_row, microshrub_forecaster_recent);
    ENCODE(microshrub_ranges, microshrub_forecaster_row, microshrub_forecaster_codes, 1);
    said = microshrub_said(PREDICT(TABLE, microshrub_forecaster_codes, 0));
    SEASONS(microshrub_outlook, at, said,
        microshrub_forecaster_recent, words[MICROSHRUB_HEAD]);
    said = FORESEE(microshrub_outlook, at, y);
    said = microshrub_within(said);
    microshrub_half = microshrub_width();
    KEEP(microshrub_forecaster_codes, words, microshrub_forecaster_rows, MICROSHRUB_FEATURES);
    microshrub_forecaster_predicted[at] = said;
    microshrub_forecaster_halves[at] = microshrub_half;
    words[MICROSHRUB_AT] = at + 1 < MICROSHRUB_HORIZON ? at + 1 : 0;
    if (words[MICROSHRUB_HELD] < MICROSHRUB_HORIZON)
        words[MICROSHRUB_HELD]++;
    return said;
}
"""
