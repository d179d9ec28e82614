"""The mutants of tests/mutants.py: a line of a kernel file, its replacement, its tests."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A changed line in a file of firmware/microshrub, and the tests that have to fail."""

    file: str
    line: str  # without its indentation and trailing comment
    replacement: str
    tests: tuple[str, ...]


def _path(test: str) -> str:
    name, colons, one = test.partition("::")
    return f"test_{name}.py{colons}" + f"test_{one}" * bool(one)


def _of(room: str, *rows: tuple[str, str, str, str]) -> list[Mutant]:
    """Return mutants; rows are file, line, replacement, and tests in the room's folder:
    NAME or NAME::TEST.
    """
    return [
        Mutant(
            f"{room}{file}",
            line,
            replacement,
            tuple(f"tests/firmware/{room}{_path(test)}" for test in tests.split()),
        )
        for file, line, replacement, tests in rows
    ]


_SHARED = _of(
    "",
    (
        "fixed.py",
        "_A = const(16380)",
        "_A = const(16382)",
        "fixed::the_period_is_as_long_as_documented",
    ),
    (
        "fixed.py",
        "return ((y * x) >> 15) + 16384",
        "return ((y * x) >> 15) + 16300",
        "fixed::exp_negative_keeps_its_bound_everywhere",
    ),
    ("fixed.py", "if halvings < 15:", "if halvings < 14:", "exp_decays"),
    (
        "adwin.py",
        "_CUT = const(1000)",
        "_CUT = const(100)",
        "drift::a_rise_is_detected_as_late_as_delta_implies",
    ),
    ("adwin.py", "cut = 1", "cut = 0", "drift::a_rise_is_detected_as_late_as_delta_implies"),
    (
        "drift_alarm.py",
        "total -= (total + (horizon >> 1)) // horizon",
        "total -= (total + horizon) // horizon",
        "alarm::the_sum_is_rounded_to_the_nearest_and_has_no_bias",
    ),
    (
        "drift_alarm.py",
        "elif above > words[_THRESHOLD] - (words[_THRESHOLD] >> 2):",
        "elif above > words[_THRESHOLD] - (words[_THRESHOLD] >> 1):",
        "alarm::page_hinkley_follows_the_floats",
    ),
    (
        "anomaly_distance.py",
        "unit = near << 14",
        "unit = near << 13",
        "anomaly",
    ),
    (
        "anomaly_threshold.py",
        "if words[_ANOMALOUS] and quiet == words[_A_PAUSE]:",
        "if words[_ANOMALOUS]:",
        "anomaly",
    ),
    (
        "anomaly_threshold.py",
        "limit += 2 * _RISE if over > 0 else _RISE",
        "limit += _RISE",
        "anomaly",
    ),
    (
        "anomaly_threshold.py",
        "times = (int(log2(period + (period >> 2))) << 8) // int(log2(words[_COUNTED]))",
        "times = (int(log2(period)) << 8) // int(log2(words[_COUNTED]))",
        "anomaly",
    ),
    (
        "anomaly_distance.py",
        "farther = 48 * (away - 2047)",
        "farther = 0",
        "anomaly",
    ),
    (
        "anomaly_threshold.py",
        "_RISE = const(8388608)",
        "_RISE = const(4194304)",
        "anomaly",
    ),
    ("novelty_detection.py", "_ENOUGH = const(8)", "_ENOUGH = const(4)", "novelty_detection"),
    (
        "labelled_memory.py",
        "height = (int(log2(near + away)) - int(log2(near))) << 1",
        "height = int(log2(near + away)) - int(log2(near))",
        "novelty_detection",
    ),
    (
        "novelty_candidates.py",
        "_PATIENCE = const(4)",
        "_PATIENCE = const(1)",
        "novelty_detection",
    ),
    (
        "early_range_growth.py",
        "_SPOILS = const(6)",
        "_SPOILS = const(20)",
        "growing::one_outlier_among_the_first_samples_widens_nothing",
    ),
    (
        "early_range_growth.py",
        "odd = _LEAST_ODD if beyond[f] - least[f] > most[f] - beyond[f] else _MOST_ODD",
        "odd = _MOST_ODD if beyond[f] - least[f] > most[f] - beyond[f] else _LEAST_ODD",
        "growing::one_outlier_among_the_first_samples_widens_nothing",
    ),
    (
        "range_growth.py",
        "_MARGIN = const(4)",
        "_MARGIN = const(2)",
        "growing::a_range_has_room_for_a_sixteenth_more_than_its_values",
    ),
    (
        "range_growth.py",
        "_LONGER = const(1024)",
        "_LONGER = const(16384)",
        "growing::where_few_codes_are_left_a_thousand_values_shrink_the_range",
    ),
    (
        "range_growth.py",
        "limit = limit << 2",
        "limit = limit << 1",
        "growing::a_range_grows_after_several_values_outside_in_a_row",
    ),
    (
        "forecast_runs.py",
        "words[high + 1] = (words[high + 1] >> 1) + ((words[high] & 1) << (_E_BITS - 1))",
        "words[high + 1] = words[high + 1] >> 1",
        "forecast_runs::full_counts_are_halved_equally",
    ),
    (
        "forecast_runs.py",
        "if words[_F_HELD] == words[_F_HORIZON] and y != _MISSING:",
        "if words[_F_HELD] == words[_F_HORIZON]:",
        "forecast_runs::a_run_continues_after_take_and_the_other_way_round",
    ),
    (
        "forecast_runs.py",
        "inside = int(away <= half)",
        "inside = int(away < half)",
        "forecast_runs::an_interval_includes_its_ends",
    ),
    (
        "query_rules.py",
        "_FIRST = const(14000)",
        "_FIRST = const(100)",
        "active_learning",
    ),
    (
        "query_rules.py",
        "r = 16384 + int(below(t, _QUERY_RNG, 32768))",
        "r = 32768",
        "active_learning",
    ),
    (
        "uncertainty.py",
        "_PAUSE = const(1000)",
        "_PAUSE = const(10)",
        "active_learning::two_suspicions_are_1000_samples_apart",
    ),
)
_THICKET = _of(
    "thicket/",
    ("vote_mixing.py", "_SHARPNESS = const(40)", "_SHARPNESS = const(20)", "mixing"),
    (
        "vote_mixing.py",
        "_MEMORY = const(8)",
        "_MEMORY = const(6)",
        "mixing",
    ),
    (
        "vote_mixing.py",
        "share[k] = (share[k] << 12) // total",
        "share[k] = (share[k] << 11) // total",
        "mixing",
    ),
    ("vote_mixing.py", "_LESSONS = const(8)", "_LESSONS = const(0)", "replay"),
    ("vote_mixing.py", "_FARTHER = const(2)", "_FARTHER = const(1)", "replay"),
    (
        "members.py",
        "if state[_T_WITH_SOFTMAX] and state[_T_WITH_REPLAY] and int(in_runs(t[_GROVE])):",
        "if state[_T_WITH_SOFTMAX] and state[_T_WITH_REPLAY]:",
        "replay",
    ),
    (
        "vote_mixing.py",
        "if state[_T_WITH_SOFTMAX] and sum_of_codes & _LEARNED == 0:",
        "if state[_T_WITH_SOFTMAX]:",
        "replay",
    ),
    (
        "grove.py",
        "_LEAF_RATE = const(8)",
        "_LEAF_RATE = const(0)",
        "votes",
    ),
    (
        "grove.py",
        "weight[s] = (weight[s] * x >> 8) * x >> 8",
        "weight[s] = weight[s] * x >> 8",
        "votes",
    ),
    ("grove.py", "dice = (dice + 97) & 255", "dice = 0", "votes"),
    (
        "softmax.py",
        "w = weight[k] - ((change + 512) >> 10)",
        "w = weight[k] - (change >> 10)",
        "softmax",
    ),
    (
        "softmax.py",
        "_VOTE = const(1020)",
        "_VOTE = const(1000)",
        "softmax",
    ),
    (
        "scaling.py",
        "_MEMORY = const(1024)",
        "_MEMORY = const(256)",
        "softmax",
    ),
    (
        "bayes.py",
        "_VIRTUAL = const(2)",
        "_VIRTUAL = const(0)",
        "bayes",
    ),
    (
        "bayes.py",
        "total += y * 185 >> 8",
        "total += y * 370 >> 8",
        "bayes",
    ),
    (
        "neighbours.py",
        "weight = unit // (features + distance[r])",
        "weight = unit // (1 + distance[r])",
        "neighbours",
    ),
    (
        "neighbours.py",
        "if away < farthest and b != state[_N_SKIP]:",
        "if away <= farthest and b != state[_N_SKIP]:",
        "neighbours",
    ),
    (
        "neighbours.py",
        "table[255 + gap] = min(gap * gap >> 6, 255)",
        "table[255 + gap] = min(gap * gap >> 6, 127)",
        "neighbours",
    ),
    (
        "balanced.py",
        "accuracy[k] = (total << 4) // (_SOFTEN * came)",
        "accuracy[k] = (total << 3) // (_SOFTEN * came)",
        "skill",
    ),
    (
        "balanced.py",
        "_RATIO = const(16)",
        "_RATIO = const(2)",
        "balanced",
    ),
    (
        "sample_store.py",
        "_CONTRADICTED = const(6)",
        "_CONTRADICTED = const(60)",
        "store",
    ),
    (
        "tree_growth.py",
        "upto = (so_far * 510 + samples) // (2 * samples)",
        "upto = so_far * 254 // samples",
        "grove",
    ),
    ("drift_response.py", "_MARGIN = const(82)", "_MARGIN = const(400)", "drift_response"),
    ("tree_growth.py", "_BINS = const(16)", "_BINS = const(8)", "pinned_accuracy"),
    ("tree_growth.py", "met += n * ptr16(of_class)[0]", "met += n * n", "trials"),
    ("tree_growth.py", "rest -= n", "rest -= 0", "trials"),
)
_SHRUB = _of(
    "shrub/",
    (
        "gradient.py",
        "residual[c] = residual[c] - _UNIT",
        "residual[c] = residual[c] - _UNIT // 2",
        "ensemble",
    ),
    (
        "weights.py",
        "weight = (weights[rank[i]] + 1) >> 1",
        "weight = weights[rank[i]] >> 1",
        "weights",
    ),
    (
        "weights.py",
        "if weights[rank[j]] * (j + 1) > total:",
        "if weights[rank[j]] * j > total:",
        "weights",
    ),
    ("splits.py", "f = j", "f = j - 1", "cart"),
)
_HOEFFDING = _of(
    "hoeffding/",
    (
        "hat.py",
        "_CHANCE = const(7555)",
        "_CHANCE = const(755)",
        "adaptive",
    ),
    (
        "hat.py",
        "_LEAST = const(300)",
        "_LEAST = const(30)",
        "adaptive",
    ),
    (
        "svfdt.py",
        "fine &= int(reaches(t, _GAINS, gain, 0 - 1))",
        "fine &= int(reaches(t, _GAINS, gain, 1))",
        "strict",
    ),
    (
        "histograms.py",
        "b = (x[at + f] - least) * (first[f + 1] - first[f])",
        "b = (x[at + f] - least) * (first[f + 1] - first[f] - 1)",
        "observers",
    ),
    ("leaf_votes.py", "_LN2 = const(45426)", "_LN2 = const(65536)", "leaves"),
    (
        "learn.py",
        "_REVIEW = const(2000)",
        "_REVIEW = const(20)",
        "hoeffding::an_inner_node_is_reviewed_every_2000_samples",
    ),
)
_REGRESSION = _of(
    "regression/",
    ("linear.py", "_FINE = const(32768)", "_FINE = const(64)", "linear_regressor"),
    (
        "linear.py",
        "error = target - ptr32(address[_LINEAR_PREDICTIONS])[head]",
        "error = target - ptr32(address[_LINEAR_PREDICTIONS])[0]",
        "linear_regressor",
    ),
    (
        "growth.py",
        "merit = square // left + square // right",
        "merit = square // left",
        "shrub_regressor",
    ),
    (
        "weights.py",
        "_LEAF_RATE = const(5)",
        "_LEAF_RATE = const(2)",
        "shrub_regressor",
    ),
    (
        "weights.py",
        "state[_V_PREDICTED] = base + ((total + 8192) >> 14)",
        "state[_V_PREDICTED] = base + ((total + 8192) >> 15)",
        "shrub_regressor",
    ),
    (
        "histograms.py",
        "_FEWEST = const(5)",
        "_FEWEST = const(50)",
        "hoeffding_regressor",
    ),
    (
        "branches.py",
        "return int((ratio * ratio) >> 14 < 1024 - epsilon)",
        "return int((ratio * ratio) >> 14 < 1024)",
        "hoeffding_regressor",
    ),
    ("thicket.py", "_SHARPNESS = const(50)", "_SHARPNESS = const(5)", "thicket_regressor"),
)

MUTANTS = [*_SHARED, *_THICKET, *_SHRUB, *_HOEFFDING, *_REGRESSION]
