"""The C code of an exported model that does not depend on what it learned.

It is that of firmware's quantizer.py, shrub/, leaf_votes.py and fixed.py.
"""

QUANTIZER = """\
static uint16_t microshrub_code(int32_t v, int32_t span, int32_t shift, int32_t scale)
{
    int32_t tail = 8192, bits = 8, unit = shift + 9, top;
    uint32_t d;
    if (!scale) {
        tail = 32767;
        bits = 10;
        unit = 0;
    }
    if (v >= 0 && v <= span) {
        v = shift >= 0 ? v >> shift : v << -shift;
        return (uint16_t)(tail + ((v * scale) >> 14));
    }
    if (unit < 0)
        unit = 0;
    d = (uint32_t)(v < 0 ? -v : v - span) + ((uint32_t)1 << unit);
    for (top = unit; d >> top > 1; top++)
        ;
    d -= (uint32_t)1 << top;
    d = top > bits ? d >> (top - bits) : d << (bits - top);
    d += (uint32_t)(top - unit) << bits;
    return (uint16_t)(v < 0 ? tail - 1 - (int32_t)d : 65536 - tail + (int32_t)d);
}

static void microshrub_encode(const int32_t *raw)
{
    int f;
    for (f = 0; f < MICROSHRUB_FEATURES; f++) {
        int32_t v = raw[f];
        if (v == MICROSHRUB_MISSING)
            continue;
        if (v > 536870911L)
            v = 536870911L;
        if (v < -536870911L)
            v = -536870911L;
        microshrub_last[f] = microshrub_code(v - microshrub_low[f], microshrub_span[f],
                                             microshrub_shift[f], microshrub_scale[f]);
    }
}

"""

DESCEND = """\
static int32_t microshrub_leaf(int tree)
{
    int32_t n = microshrub_root[tree];
    while (n >= 0)
        n = microshrub_child[2 * n + (microshrub_last[microshrub_feature[n]] >
                                      microshrub_threshold[n])];
    return -1 - n;
}

"""

MOST = """\
static int microshrub_most(void)
{
    int c, best = 0;
    for (c = 1; c < MICROSHRUB_CLASSES; c++)
        if (microshrub_votes[c] > microshrub_votes[best])
            best = c;
    return best;
}

"""

BAYES = """\
/* v / 2**bits, rounded down */
static int32_t microshrub_down(int32_t v, int bits)
{
    return v >= 0 ? v >> bits : -1 - ((-1 - v) >> bits);
}

/* log2(n) in Q14 */
static int32_t microshrub_log2(int32_t n)
{
    int top = 0;
    int32_t f, y;
    while (n >> top > 1)
        top++;
    f = (top > 15 ? n >> (top - 15) : n << (15 - top)) - 32768;
    y = microshrub_down(720 * f, 15) - 3110;
    y = microshrub_down(y * f, 15) + 6743;
    y = microshrub_down(y * f, 15) - 11588;
    y = microshrub_down(y * f, 15) + 23619;
    return ((int32_t)top << 14) + microshrub_down(y * f, 15);
}

/* exp(-x) in Q14 for x in Q16 */
static int32_t microshrub_exp_negative(int32_t x)
{
    int32_t y;
    x >>= 1;
    y = microshrub_down(419 * x, 15) - 2521;
    y = microshrub_down(y * x, 15) + 8120;
    y = microshrub_down(y * x, 15) - 16375;
    return microshrub_down(y * x, 15) + 16384;
}

static int microshrub_bayes(int32_t slot)
{
    const uint16_t *low = microshrub_bayes_low + slot * MICROSHRUB_FEATURES;
    const uint16_t *high = microshrub_bayes_high + slot * MICROSHRUB_FEATURES;
    const uint16_t *seen = microshrub_bayes_seen + slot * MICROSHRUB_CLASSES;
    const uint16_t *prior = microshrub_bayes_prior + slot * MICROSHRUB_CLASSES;
    const uint16_t *counts = microshrub_bayes_counts +
        slot * (int32_t)microshrub_first[MICROSHRUB_FEATURES] * MICROSHRUB_CLASSES;
    int32_t total = 0, top;
    int c, f, best;
    for (c = 0; c < MICROSHRUB_CLASSES; c++) {
        int32_t score = -536870912L;
        if (prior[c]) {
            score = microshrub_log2(prior[c]);
            for (f = 0; f < MICROSHRUB_FEATURES; f++) {
                int32_t bins = microshrub_first[f + 1] - microshrub_first[f];
                int32_t cell = ((int32_t)microshrub_last[f] - low[f]) * bins /
                    ((int32_t)high[f] - low[f] + 1) + microshrub_first[f];
                score += microshrub_log2((int32_t)counts[cell * MICROSHRUB_CLASSES + c] + 1) -
                    microshrub_log2((int32_t)seen[c] + bins);
            }
        }
        microshrub_votes[c] = score;
    }
    best = microshrub_most();
    top = microshrub_votes[best];
    for (c = 0; c < MICROSHRUB_CLASSES; c++) {
        int32_t d = top - microshrub_votes[c];
        microshrub_votes[c] = d >= 15 * 16384L ? 0 :
            microshrub_exp_negative(((d & 16383) * (int32_t)45426) >> 14) >> (d >> 14);
        total += microshrub_votes[c];
    }
    for (c = 0; c < MICROSHRUB_CLASSES; c++)
        microshrub_votes[c] = (microshrub_votes[c] << 14) / total * 1020;
    return best;
}

"""

PREDICT = """\
static int microshrub_predict(const int32_t *raw)
{
    int tree, c;
    int32_t leaf = 0;
    for (c = 0; c < MICROSHRUB_CLASSES; c++)
        microshrub_votes[c] = 0;
    microshrub_encode(raw);
    for (tree = 0; tree < MICROSHRUB_TREES; tree++) {
        leaf = microshrub_leaf(tree);
        for (c = 0; c < MICROSHRUB_CLASSES; c++)
            microshrub_votes[c] +=
                microshrub_share[leaf * MICROSHRUB_CLASSES + c] * microshrub_factor[tree];
    }
    return @ANSWER@;
}
"""
