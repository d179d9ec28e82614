"""A button that names what is new; imported where there are spare classes and a sensor."""

from .sensors import Button


class NamingButton(Button):
    """A button that names what is new; before it, perhaps, one that tells known classes.

    When it is pressed and enough is set aside, this becomes a class with a name such as new 1.
    While it stays pressed, the samples are of the class that got its name last. Otherwise they are
    of the class that the other button tells, as long as that has a name.
    """

    def __init__(self, app, board, other, keep):
        self._app = app
        self._keep = keep  # keep(app) saves what was named
        self._spare = app.spare
        self._other = other
        pin = app.configuration.spare.get("pin")
        self._pin = None if pin is None else board.button(pin)
        self._pressed = False

    def label(self):
        """The class now, -1 if it is not known."""
        before = self._pressed
        self._pressed = self._pin is not None and not self._pin.value()
        names = self._spare.names
        if self._pressed:
            if not before and self._spare.newcomers.is_asking:
                self._name()
            return names.newest
        label = self._other.label() if self._other else -1
        return label if label >= 0 and names.state(names.stands_for(label)) == 1 else -1

    def _name(self):
        """Give what is set aside a name that no class has; nothing if no class is left."""
        names = self._spare.names
        k = 1
        while names.find("new %d" % k) >= 0:
            k += 1
        try:
            self._spare.name("new %d" % k)
        except ValueError:
            self._spare.newcomers.dismiss()
            return
        self._keep(self._app)
