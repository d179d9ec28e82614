"""The post office of a board's parcels, whoever carries them.

What comes is offered to the application's Parcels, which judges and learns it, see parcels.py; a
class is told when there is something new to tell. parcel_topics.py carries parcels by MQTT,
parcel_packets.py by packets that every board in reach hears.
"""

from array import array

from micropython import const

_AGAIN = const(600)  # between two parcels of a class that are sent: who labels tells much at once


class ParcelPost:
    """Between the Parcels of an application and what carries them.

    sends   'i' of each class, from which second on it may be sent again
    say(words) is for whoever looks.
    """

    def __init__(self, app, say):
        self._app = app
        self._parcels = app.parcels
        self._say = say
        self.sends = array("i", [0] * app.parcels.classes)
        self._tick = say  # until it is set

    def begin(self):
        """Stand before the application's tick, from now on."""
        self._tick, self._app.tick = self._app.tick, self.tick

    def tick(self, milliseconds):
        """Tell the time, as the application takes it; judge or learn, if it is time."""
        said = self._tick(milliseconds)
        parcels = self._parcels
        parcels.turn()
        if parcels.said:
            self.tell(parcels.said)
            parcels.said = b""
        return said

    def tell(self, words):
        """Say what became of a parcel, bytes."""
        self._say("parcel: " + str(words, "utf-8"))

    def offer(self, key, label, origin, body, start, end, size):
        """Have body[start : end] judged, as a parcel of that class and board.

        key names it; size is what end would be if nothing had been dropped. Returns whether it
        has to come again, as another one is judged or learned.
        """
        parcels = self._parcels
        if not parcels.is_new(key):
            return False
        if parcels.is_busy:
            return True
        if size > end or end - start > parcels.room:
            whose = "%s of %s: " % (parcels.class_names[label], origin)
            parcels.refuse(key, whose + "the parcel is too long for this board")
        else:
            parcels.take(key, body, start, end - start, label, origin)
        return False

    def due(self, now):
        """A class of which something new is to be told, or -1."""
        for c in self._parcels.allowed:
            if now >= self.sends[c] and self._parcels.is_due(c):
                return c
        return -1

    def collect(self, label, now):
        """The bytes of a parcel of a class that is to be sent now; None: it is tried later."""
        parcels = self._parcels
        self.sends[label] = now + _AGAIN
        data = None
        try:
            data = parcels.collect(label)
        except (ValueError, MemoryError) as error:
            words = str(error) or "there is no memory for it"
        else:
            parcels.sent(label)
            words = "it is sent to the others"
        name = parcels.class_names[label]
        parcels.said = ("%s of %s: %s" % (name, parcels.name, words)).encode()
        return data
