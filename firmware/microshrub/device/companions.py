"""Makes an application's companions, in the order in which they are called at each point.

make() makes the companions of a model, and make_for_board() those that use the board's pins and
network. The latter are called later, and so see the results of the former. companion.py lists the
points. A program needs only the modules of the companions that it has. A board keeps this module
in its RAM only while it makes the companions.
"""

_POINTS = ("look", "note", "show", "plot", "late", "count", "turn")


def join(app, companion):
    """Have an application call a companion at its points, after the companions so far."""
    app.companions += (companion,)
    for point in _POINTS:
        method = getattr(companion, point, None)
        before = getattr(app, point)
        if method and before:
            from .companion import both

            method = both(before, method)
        if method:
            setattr(app, point, method)


def make(app):
    """Make the companions that the configuration of an application names; it has its learner."""
    configuration = app.configuration
    if configuration.anomaly is not None:
        if configuration.anomaly.get("pin") is None:
            from .watchers import AnomalyScores

            join(app, AnomalyScores(app))
        else:
            from .watchers import NormalButton

            join(app, NormalButton(app))
    if configuration.queries is not None:
        from .label_queries import LabelQueries

        join(app, LabelQueries(app))
    if configuration.spare_classes is not None:
        from .novel_classes import NovelClasses

        join(app, NovelClasses(app))
    if configuration.watchers is not None:
        from .watchers import Watchers

        join(app, Watchers(app))
    if configuration.share is not None:
        from .sharing import BoardSharing

        join(app, BoardSharing(app))


def make_for_board(service, board, folder):
    """Make the companions of a service's application that use pins or the network."""
    app = service._app
    if app.configuration.switches is not None:
        from .switches import Switches

        join(app, Switches(app, board))
    if app.configuration.network is not None:
        from .network_start import attach

        for companion in attach(service, board, folder):  # MQTT, then shared samples
            join(app, companion)
