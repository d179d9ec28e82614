"""The learners, one per line; a class is imported when it is first needed.

Learners whose names end in Regressor predict numbers, the others classes. The list is one text,
since tuples would take three times the RAM on a board.
"""

from .learner import choice

_LEARNERS = """
ShrubEnsemble .shrub.ensemble
HoeffdingTree .hoeffding.tree
Thicket .thicket.thicket
BalancedThicket .thicket.balanced
SoftmaxRegression .thicket.softmax
NearestNeighbours .thicket.neighbours
GaussianNaiveBayes .thicket.bayes
Grove .thicket.grove
ShrubRegressor .regression.shrubs
LinearRegressor .regression.linear
HoeffdingRegressor .regression.hoeffding
ThicketRegressor .regression.thicket
"""


def learner_names():
    """The names of the learners' classes."""
    return _LEARNERS.split()[::2]


def is_regressor(name):
    """Whether the learner of that name predicts numbers."""
    return name.endswith("Regressor")


def register(name, module):
    """Add a learner of your own: the class of that name in that module.

    The module is named as for `import`; the name of one in the library begins with a dot.
    """
    global _LEARNERS
    _LEARNERS += "%s %s\n" % (name, module)


def learner_class(name):
    """The class of that name. Raises ValueError, with the known names, if there is none."""
    names = learner_names()
    module = _LEARNERS.split()[2 * names.index(choice("learner", name, names)) + 1]
    level = int(module.startswith("."))
    return getattr(__import__(module[level:], globals(), None, (name,), level), name)
