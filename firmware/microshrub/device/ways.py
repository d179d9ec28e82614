"""Answers to requests that choose what predictions carry from then on."""

from .frames import HEADER


def answer_of(make):
    """What answers such a request; make(put, app, body) gives ways, see scores.ways()."""

    def answer(link, to, body, n):
        ways = link.ways
        if not ways:
            ways = link.ways = make(link.put_prediction, link.app, link.out.body)
        link.put_prediction = ways[body[HEADER] != 0]
        return link.put_words(to, ways[2](link.words))

    return answer
