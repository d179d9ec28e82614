"""Pins that follow what is predicted: lights, relays, the colours of an LED.

config.json's `switches` has a list of pins for each class: those that are high while it is the
newest prediction. All others of them are low.
"""


def follow(app, board):
    """Have an application's predictions switch the pins of its configuration."""
    rows = app.configuration.switches
    pins = []
    for row in rows:
        pins += [pin for pin in row if pin not in pins]
    lights = [board.light(pin) for pin in pins]
    high = bytearray(app.classes * len(pins))  # [class * pins + pin]; none of a class without name
    for c in range(len(rows)):
        for pin in rows[c]:
            high[c * len(pins) + pins.index(pin)] = 1
    predict = app._predict

    def switch(at):
        for k in range(len(lights)):
            lights[k].value(high[at + k])

    def predict_and_switch(label):
        predicted = predict(label)
        switch(predicted * len(lights))
        return predicted

    app._predict = predict_and_switch
