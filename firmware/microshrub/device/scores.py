"""Anomaly scores in the program and on the link; imported when there are any."""

from micropython import const

from ..anomaly import AnomalyScore
from .ways import answer_of

_ANOMALY = const(12)


def score_too(app):
    """Have the anomaly score of each sample taken, too."""
    predict, codes = app._predict, app._codes
    app.anomaly = anomaly = AnomalyScore(app.features, **app.configuration.anomaly)
    app.parts += (anomaly,)
    app.more[_ANOMALY] = answer_of(ways)

    def predict_and_score(label):
        predicted = predict(label)
        anomaly.update(codes)
        return predicted

    app._predict = predict_and_score


def ways(put, app, body):
    """(put, put with a score, tell); put(to, prediction) writes a prediction to body[to :].

    Both return how many bytes they wrote. Behind the score stands 1 if it is above the threshold,
    else 0. tell(words) fills score, threshold and alarms so far; it returns 3.
    """
    anomaly = app.anomaly

    def put_scored(to, prediction):
        size = put(to, prediction)
        body[to + size] = anomaly.score
        body[to + size + 1] = anomaly.is_unlike
        return size + 2

    def tell(words):
        words[0] = anomaly.score
        words[1] = anomaly.threshold
        words[2] = anomaly.alarms
        return 3

    return put, put_scored, tell
