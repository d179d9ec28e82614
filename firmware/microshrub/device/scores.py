"""Anomaly scores on the link; imported when a host asks for them."""


def with_score(put, anomaly, body):
    """put(to, prediction), which writes a prediction to body[to :], and behind it its score.

    Both return how many bytes they wrote. Behind the score stands 1 if it is above the threshold,
    else 0.
    """

    def put_scored(to, prediction):
        size = put(to, prediction)
        body[to + size] = anomaly.score
        body[to + size + 1] = anomaly.is_unlike
        return size + 2

    return put_scored
