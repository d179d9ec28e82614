"""Anomaly scores in the program and on the link; imported when there are any, or a host asks."""


def score_too(app):
    """What predicts a sample with this application, and has its anomaly score taken, too."""
    predict, anomaly, codes = app._predict, app.anomaly, app._codes

    def predict_and_score(label):
        predicted = predict(label)
        anomaly.update(codes)
        return predicted

    return predict_and_score


def ways(put, app, body):
    """(put, put with a score, tell); put(to, prediction) writes a prediction to body[to :].

    Both return how many bytes they wrote. Behind the score stands 1 if it is above the threshold,
    else 0. tell(words) fills score, threshold and alarms so far; it returns 3. Raises
    ValueError without an anomaly score.
    """
    anomaly = app.anomaly
    if not anomaly:
        raise ValueError("this program gives no anomaly score: build it with --anomaly")

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
