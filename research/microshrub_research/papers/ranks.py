"""Methods over several data sets by their ranks: Friedman's and Wilcoxon's tests.

Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006, sections
3.1.3 and 3.2.2; Benavoli, Corani, Mangili (JMLR 17, 2016) for pairwise tests instead of ranks.
Tables are of shape (data sets, methods); larger figures are better.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from microshrub_host.base.errors import UserError

ALPHA = 0.05

Table = NDArray[np.float64]


@dataclass(frozen=True)
class Ranking:
    """A comparison of the methods of a table; all arrays are in the order of the names."""

    names: Sequence[str]
    data_sets: int
    ranks: NDArray[np.float64]  # average, 1 is the best
    chi_squared: float  # Friedman's statistic, k - 1 degrees of freedom
    f_statistic: float  # Iman's and Davenport's, which is less conservative
    p_value: float  # Friedman's
    pairs: NDArray[np.float64]  # (k, k): Wilcoxon's p-values, Holm-corrected
    cliques: Sequence[Sequence[int]]  # see cliques()

    @property
    def differ(self) -> bool:
        """Whether Friedman's test finds a significant difference."""
        return self.p_value < ALPHA


def compare_ranks(names: Sequence[str], table: Table) -> Ranking:
    """Do all tests on the table. Raises UserError for less than 2 methods or 2 data sets."""
    rows, methods = table.shape
    if rows < 2 or methods < 2:
        raise UserError(
            f"ranks need 2 methods on 2 data sets, not {methods} on {rows}: there is no test"
        )
    from scipy.stats import chi2

    ranks = average_ranks(table)
    statistic = friedman(ranks, rows)
    p_value = float(chi2.sf(statistic, methods - 1))
    pairs = wilcoxon_holm(table)
    together = cliques(ranks, pairs) if p_value < ALPHA else [list(np.argsort(ranks))]
    return Ranking(
        names=names,
        data_sets=rows,
        ranks=ranks,
        chi_squared=statistic,
        f_statistic=iman_davenport(statistic, rows, methods),
        p_value=p_value,
        pairs=pairs,
        cliques=together,
    )


def average_ranks(table: Table) -> NDArray[np.float64]:
    """Return each method's mean rank over all data sets, shape (methods,);
    ties share their ranks.
    """
    from scipy.stats import rankdata

    result: NDArray[np.float64] = rankdata(-table, axis=1).mean(axis=0)
    return result


def friedman(ranks: NDArray[np.float64], data_sets: int) -> float:
    """Return Friedman's statistic as defined by Demsar, without a correction for ties."""
    k = len(ranks)
    spread = float(np.sum(ranks**2)) - k * (k + 1) ** 2 / 4
    return 12 * data_sets / (k * (k + 1)) * spread


def iman_davenport(chi_squared: float, data_sets: int, methods: int) -> float:
    """Return F with k - 1 and (k - 1)(N - 1) degrees of freedom; infinite if all ranks agree."""
    rest = data_sets * (methods - 1) - chi_squared
    return (data_sets - 1) * chi_squared / rest if rest > 1e-9 else float("inf")


def wilcoxon_holm(table: Table) -> NDArray[np.float64]:
    """Return the corrected p-value that two methods are equal, for every pair, shape (k, k)."""
    k = table.shape[1]
    first, second = np.triu_indices(k, 1)
    raw = [signed_rank(table[:, a] - table[:, b]) for a, b in zip(first, second, strict=True)]
    result = np.ones((k, k))
    result[first, second] = result[second, first] = holm(np.array(raw))
    return result


def signed_rank(differences: NDArray[np.float64]) -> float:
    """Return the exact two-sided p-value of Wilcoxon's signed-rank test, also for equal ranks.

    Differences of 0 are left out; if all are 0, the p-value is 1.
    """
    from scipy.stats import rankdata

    apart = differences[differences != 0]
    ranks = np.rint(2 * rankdata(np.abs(apart))).astype(int)  # doubled: halves become whole
    chances = np.zeros(ranks.sum() + 1)  # of every sum of the ranks of positive differences
    chances[0] = 1
    for rank in ranks:
        chances[rank:] += chances[:-rank].copy()
        chances /= 2
    number = int(ranks[apart > 0].sum())
    return min(1.0, 2 * float(min(chances[: number + 1].sum(), chances[number:].sum())))


def holm(p_values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values that may be compared with alpha although there are several (Holm 1979)."""
    order = np.argsort(p_values)
    factors = np.arange(len(p_values), 0, -1)
    result = np.empty(len(p_values))
    result[order] = np.minimum(1, np.maximum.accumulate(p_values[order] * factors))
    return result


def cliques(ranks: NDArray[np.float64], pairs: NDArray[np.float64]) -> list[list[int]]:
    """Return the longest runs of methods, best first, in which no two differ significantly."""
    order = [int(i) for i in np.argsort(ranks, kind="stable")]
    result: list[list[int]] = []
    reached = 0  # the place after the last run
    for start in range(len(order)):
        end = start + 1
        while end < len(order) and all(
            pairs[order[end], order[i]] >= ALPHA for i in range(start, end)
        ):
            end += 1
        if end > reached and end - start > 1:
            result.append(order[start:end])
        reached = max(reached, end)
    return result
