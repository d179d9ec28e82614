"""Mixes the members' votes: each member counts according to its recent accuracy.

Without labels, a prediction depends only on the row, whatever came before it: the member `last`
abstains. While classes are mixed, the other members vote as they do with labels.

In runs, all members that follow runs of one label abstain. The others have a second accuracy, on
samples whose label could not be guessed from the label before: the first sample after a change of
label, and some of the samples held, which are replayed. The softmax regression votes if it
learns held samples, too. Somebody who teaches in runs chooses the classes, so the class that
is shown most need not be the most likely later: the votes of the grove, of the neighbours and of
the softmax regression are divided by each class's share of the samples held (Elkan: The
Foundations of Cost-Sensitive Learning, IJCAI 2001, theorem 2), except with prior="taught".

Replay estimates that accuracy without a fresh label: samples of all classes in turn are drawn from
the store and predicted again, not learned; the neighbours leave the sample itself out. So that no
label takes twice the time of another, replaying one sample is spread over five labels: with the
first one, the members but the neighbours predict, and with each of the four others, a quarter of
the neighbours' search is done, in separate buffers:

    replay.row                                        'H'  [features] the sample's codes
    replay.state, .sample, .distance, .nearest        as neighbours.py has them

The trees have grown on the sample, which flatters them; measurements show that this does no harm.

The softmax regression would follow the run. So with each label of a run, and while
there is time after the last one, it learns several samples of the store again. They would flatter
it far more than the trees, so only three quarters of them are learned again, and it is judged by
the others. A sample's codes, which stay the same wherever it is moved, decide which it is.

Where features tell nothing, even votes would be worse than guessing. So the replayed samples also
give evidence, 0 to 256, that the features tell the classes: how much better than chance the best
member is. The neighbours and the softmax regression have not learned the samples that judge them.
Naive Bayes has, so each feature costs it some of its skill. The trees know their samples by heart,
so their skill counts only from 0.6. The less evidence there is, the less votes are divided, and
the more of them go to the classes by how often they were taught, with prior="taught", too. Samples
of one class alone are no evidence. As long as nothing was replayed, evidence is taken to be full.

The other buffers are those of thicket.py.
"""

import micropython
from micropython import const

from ..fixed import below, exp_decays
from .bayes import predict as ask_bayes
from .grove import predict as ask_grove
from .neighbours import begin, search
from .sample_store import fetch, in_runs
from .softmax import predict as ask_softmax
from .softmax import step

# From elsewhere, written by `make constants`:
# places of buffers
_RING_SHAPE = const(0)
_THICKET_STATE = const(0)
_BAYES_VOTES = const(1)
_SOFTMAX_VOTES = const(1)
_THICKET_VOTES = const(1)
_VOTES = const(1)
_RING_LABELS = const(2)
_THICKET_PREDICTIONS = const(2)
_GROVE_STATE = const(3)
_NEIGHBOURS_STATE = const(3)
_THICKET_ACCURACY = const(3)
_GROVE_VOTES = const(4)
_NEIGHBOURS_VOTES = const(4)
_THICKET_SHARE = const(4)
_THICKET_ALONE = const(5)
_THICKET_FACTOR = const(6)
_THICKET_TAUGHT = const(7)
_THICKET_TELLS = const(8)
_GROVE_RNG = const(17)
_STORE_COUNT = const(24)
# thicket/members.py
_GROVE = const(0)
_T_FEATURES = const(0)
_NEIGHBOURS = const(1)
_T_CLASSES = const(1)
_ALWAYS_EVEN = const(2)
_SOFTMAX = const(2)
_SHRUBS = const(3)
_LAST = const(4)
_THICKET = const(4)
_BAYES = const(5)
_AGAIN = const(6)
_MEMBERS = const(6)
_T_WITH_SOFTMAX = const(6)
_ROW = const(7)
_T_WITH_BAYES = const(8)
_T_WITH_REPLAY = const(9)
_T_EVEN = const(10)
_T_TURN = const(16)
_T_PLACE = const(17)
_T_GAIN = const(19)
_T_OF_NEWEST = const(20)
_T_OF_ALL = const(21)
# thicket/neighbours.py
_N_SKIP = const(3)
_N_COUNT = const(8)
# thicket/sample_ring.py
_R_LENGTH = const(0)
_R_CLASSES = const(2)
_R_HELD = const(3)
# thicket/thicket.py
_TELLING = const(4)
# thicket/trees.py
_G_RECENT = const(7)
# (end)

_FULL = const(256)  # as much evidence as there can be
_LEAST = const(32)  # part of the votes stays with the members
_CHANCE = const(49152)  # Q20: the square of a skill that may be chance, of two classes
_FLATTERED = const(16)  # in Q10: the skill that each feature costs naive Bayes
_BY_HEART = const(614)  # 0.6 in Q10: up to this skill, trees may only know their samples by heart
_REPLAYED = const(127)  # the replayed samples that `tells` looks back over
_OF_BAYES = const(3)  # its place in `tells`
_ONE = const(1048576)  # an accuracy of 1, Q20
_MEMORY = const(8)  # log2 of the samples that an accuracy looks back over
_NEWEST = const(1024)  # samples that neighbours search alone, in a thicket of over 64 KB
_FOR_EACH = const(12)  # samples of a class for each neighbour that votes
_NOTHING = const(1048576)  # exp_decay() of it is 0
_CERTAIN = const(65280)  # votes of 65536 * 255, by 256
_SHARPNESS = const(40)  # where classes are mixed,
_SHARPNESS_IN_RUNS = const(60)  # in runs, while labels come,
_SHARPNESS_ALONE = const(10)  # in runs, without labels
_RAREST = const(4)  # log2 of the most that a rare class's votes are raised
_CHANGES = const(6)  # log2 of the changes of label that an accuracy looks back over
_PARTS = const(4)  # the parts of a replayed sample's search
_MEMORY_AGAIN = const(5)  # log2 of the replayed samples that an accuracy looks back over
_LESSONS = const(8)  # samples held that the softmax regression learns with a label of a run;
_FULL_LESSONS = const(640)  # half of them where more can be held: a label takes longer there
_FARTHER = const(2)  # a step is so many times as long as with a label
_LEARNED = const(3)  # one of these bits is set in the sum of codes of those that it learns


@micropython.viper
def opinion(member, place: int, best: int) -> int:
    """Return the class with the most votes, or -1 for a member that has learned nothing yet.

    The address of the votes stands at `place` in the member's table.
    """
    return best if ptr32(ptr32(member)[place])[best] else -1


@micropython.viper
def voters(t, most: int) -> int:
    """Return how many of the nearest samples vote."""
    address = ptr32(t)
    count = ptr16(address[_STORE_COUNT])
    came = 0
    for c in range(ptr32(address[_RING_SHAPE])[_R_CLASSES]):
        came += int(count[c] > 0)
    voting = ptr32(address[_RING_SHAPE])[_R_HELD] // (_FOR_EACH * came) if came else 1
    if voting > most:
        voting = most
    return voting if voting else 1


@micropython.viper
def mix(t, left: int) -> int:
    """Mix the members' votes by their shares; returns the class with the most votes.

    left, Q12, is the share that divide() took from them: each class gets part of it by how often
    it was taught.
    """
    thicket = t[_THICKET]
    address = ptr32(thicket)
    votes = ptr32(address[_THICKET_VOTES])
    share = ptr32(address[_THICKET_SHARE])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    for c in range(classes):
        votes[c] = 0
    if left:
        taught = ptr16(address[_THICKET_TAUGHT])
        total = 1  # < 2**24
        for c in range(classes):
            total += taught[c]
        for c in range(classes):
            votes[c] = (taught[c] << 14) // total * left * 4  # 2**14 * 2**12 * 2**2
    add(thicket, t[_GROVE], _GROVE_VOTES, share[_GROVE])
    add(thicket, t[_NEIGHBOURS], _NEIGHBOURS_VOTES, share[_NEIGHBOURS])
    if share[_SOFTMAX]:
        add(thicket, t[_SOFTMAX], _SOFTMAX_VOTES, share[_SOFTMAX])
    if share[_SHRUBS]:
        add(thicket, t[_SHRUBS], _VOTES, share[_SHRUBS])
    if share[_BAYES]:
        add(thicket, t[_BAYES], _BAYES_VOTES, share[_BAYES])
    if share[_LAST]:
        c = ptr32(address[_THICKET_PREDICTIONS])[_LAST]
        votes[c] = votes[c] + _CERTAIN * share[_LAST]
    best = 0
    for c in range(classes):
        votes[c] = votes[c] >> 4
        if votes[c] > votes[best]:
            best = c
    return best


@micropython.viper
def weigh(thicket, place: int, sharpness: int):
    """Compute the members' shares of the votes from accuracies; 0 for one that abstains.

    The address of the accuracies stands at `place` in the table. A share is proportional to
    exp(sharpness * (accuracy - the best accuracy)).
    """
    address = ptr32(thicket)
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    accuracy = ptr32(address[place])
    share = ptr32(address[_THICKET_SHARE])
    top = 0
    for k in range(_MEMBERS):
        if predictions[k] >= 0 and accuracy[k] > top:
            top = accuracy[k]
    for k in range(_MEMBERS):
        share[k] = _NOTHING
        if predictions[k] >= 0:
            share[k] = (sharpness * (top - accuracy[k])) >> 4  # 60 * 2**20
    exp_decays(0, 0, _MEMBERS, thicket, _THICKET_SHARE)


@micropython.viper
def divide(thicket, evidence: int) -> int:
    """Make the shares add up to about 4096, or less for want of evidence; returns what lacks."""
    share = ptr32(ptr32(thicket)[_THICKET_SHARE])
    total = 0  # <= 7 * 2**14
    for k in range(_MEMBERS):
        total += share[k]
    for k in range(_MEMBERS):
        if share[k]:  # as a division takes most of the time
            share[k] = (share[k] << 12) // total
    if evidence == _FULL:
        return 0
    left = 4096
    for k in range(_MEMBERS):
        share[k] = share[k] * (evidence + _LEAST) // (_FULL + _LEAST)
        left -= share[k]
    return left


@micropython.viper
def add(thicket, member, place: int, share: int):
    """Add a member's votes: about 65536 * 255 in all, or none."""
    address = ptr32(thicket)
    votes = ptr32(address[_THICKET_VOTES])
    x = ptr32(ptr32(member)[place])
    for c in range(ptr32(address[_THICKET_STATE])[_T_CLASSES]):
        votes[c] = votes[c] + (x[c] >> 8) * share  # 2**16 * 2**12, and so are all together


@micropython.viper
def judge(thicket, label: int):
    """Note whether each member was right; a member that abstained was not."""
    address = ptr32(thicket)
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    accuracy = ptr32(address[_THICKET_ACCURACY])
    for k in range(_MEMBERS):
        right = _ONE if predictions[k] == label else 0
        accuracy[k] = accuracy[k] + ((right - accuracy[k]) >> _MEMORY)


@micropython.viper
def judge_lookback(t, label: int):
    """Note which of the neighbours' two predictions was right; new trees use that many samples."""
    grove = ptr32(ptr32(t[_GROVE])[_GROVE_STATE])
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    if state[_T_OF_NEWEST] >= 0:
        ahead = int(state[_T_OF_NEWEST] == label) - int(state[_T_OF_ALL] == label)
        state[_T_GAIN] = state[_T_GAIN] + ((ahead * _ONE - state[_T_GAIN]) >> _MEMORY)
    grove[_G_RECENT] = _NEWEST if state[_T_OF_NEWEST] >= 0 and state[_T_GAIN] > 0 else 0


@micropython.viper
def share_out(t, place: int, evidence: int) -> int:
    """Set the shares of the members that do not abstain; returns what divide() does.

    The address of their accuracies stands at `place` in the table. While classes are mixed, the
    grove counts twice. In runs without labels, it predicts samples that it has grown on, so
    accuracies say less: shares are more even.
    """
    thicket = t[_THICKET]
    if int(in_runs(t[_GROVE])):
        weigh(thicket, place, _SHARPNESS_ALONE if place == _THICKET_ALONE else _SHARPNESS_IN_RUNS)
    else:
        weigh(thicket, place, _SHARPNESS)
        share = ptr32(ptr32(thicket)[_THICKET_SHARE])
        share[_GROVE] = 2 * share[_GROVE]
    return int(divide(thicket, evidence))


@micropython.viper
def say_alone(t) -> int:
    """Even out the votes of the members that learn from the samples held; returns the evidence.

    Naive Bayes votes as it does; the others abstain.
    """
    evidence = int(say_before(t))
    predictions = ptr32(ptr32(t[_THICKET])[_THICKET_PREDICTIONS])
    predictions[_NEIGHBOURS] = int(even_out(t[_THICKET], t[_NEIGHBOURS], _NEIGHBOURS_VOTES))
    return evidence


@micropython.viper
def say_before(t) -> int:
    """Do the same, but for the neighbours, which may be asked later."""
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    evidence = int(weigh_features(t))
    compare_classes(t, evidence)
    predictions[_GROVE] = int(even_out(t[_THICKET], t[_GROVE], _GROVE_VOTES))
    predictions[_SOFTMAX] = -1
    if state[_T_WITH_SOFTMAX] and state[_T_WITH_REPLAY]:
        predictions[_SOFTMAX] = int(even_out(t[_THICKET], t[_SOFTMAX], _SOFTMAX_VOTES))
    predictions[_SHRUBS] = -1
    predictions[_LAST] = -1
    return evidence


@micropython.viper
def compare_classes(t, evidence: int):
    """Compute the factor of each class's votes, Q8: 1 for the class with the most samples held.

    With less evidence, 0..256, all factors are nearer to 1.
    """
    address = ptr32(t[_THICKET])
    factor = ptr16(address[_THICKET_FACTOR])
    state = ptr32(address[_THICKET_STATE])
    count = ptr16(ptr32(t[_GROVE])[_STORE_COUNT])
    classes = state[_T_CLASSES]
    most = 1
    for c in range(classes):
        if count[c] > most:
            most = count[c]
    least = (most >> _RAREST) + 1
    for c in range(classes):
        factor[c] = 256
        if state[_T_EVEN] and count[c] != most:
            more = (most << 8) // (count[c] if count[c] > least else least) - 256  # < 2**12
            factor[c] = 256 + (more * evidence >> 8)  # 2**12 * 2**8


@micropython.viper
def even_out(thicket, member, place: int) -> int:
    """Multiply a member's votes by the factors; returns the class with the most, -1 for none.

    The address of the votes stands at `place` in the member's table.
    """
    address = ptr32(thicket)
    factor = ptr16(address[_THICKET_FACTOR])
    votes = ptr32(ptr32(member)[place])
    classes = ptr32(address[_THICKET_STATE])[_T_CLASSES]
    total = 0
    for c in range(classes):
        votes[c] = (votes[c] >> 8) * factor[c]  # 2**16 * 2**12, and so are all together
        total += votes[c]
    unit = (total >> 12) + 1
    best = 0
    for c in range(classes):
        votes[c] = votes[c] // unit * 4080  # about 2**12 * 4080 = 2**16 * 255 in all
        if votes[c] > votes[best]:
            best = c
    return best if votes[best] else -1


@micropython.viper
def judge_change(thicket, label: int):
    """After a change of label, note which members were right that could predict it."""
    address = ptr32(thicket)
    predictions = ptr32(address[_THICKET_PREDICTIONS])
    alone = ptr32(address[_THICKET_ALONE])
    for k in range(_MEMBERS):
        if predictions[k] >= 0:
            right = _ONE if predictions[k] == label else 0
            alone[k] = alone[k] + ((right - alone[k]) >> _CHANGES)


@micropython.viper
def draw_again(t):
    """Draw a sample of the class whose turn it is, any with the same chance.

    The next one of the class behind a place drawn at random would mostly be the first of a run,
    whose window is of two classes.
    """
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    address = ptr32(t[_GROVE])
    count = ptr16(address[_STORE_COUNT])
    labels = ptr8(address[_RING_LABELS])
    label = state[_T_TURN] + 1
    while label >= state[_T_CLASSES] or count[label] == 0:
        label = label + 1 if label < state[_T_CLASSES] else 0
    before = int(below(t[_GROVE], _GROVE_RNG, count[label]))
    place = 0
    while labels[place] != label or before:  # count[label] of `held` labels, so place < held
        if labels[place] == label:
            before -= 1
        place += 1
    state[_T_TURN] = label
    state[_T_PLACE] = place


@micropython.viper
def ask_again(t):
    """Judge the members by the sample that was drawn, and begin the neighbours' search."""
    state = ptr32(ptr32(t[_THICKET])[_THICKET_STATE])
    sum_of_codes = int(fetch(t[_GROVE], t[_ROW], state[_T_PLACE]))
    ask_grove(t[_GROVE], t[_ROW], 0)
    compare_classes(t, _FULL)
    judge_again(t, _GROVE, int(even_out(t[_THICKET], t[_GROVE], _GROVE_VOTES)))
    if state[_T_WITH_BAYES]:
        judge_again(t, _BAYES, int(ask_bayes(t[_BAYES], t[_ROW], 0)))
    if state[_T_WITH_SOFTMAX] and sum_of_codes & _LEARNED == 0:
        ask_softmax(t[_SOFTMAX], t[_ROW], 0)
        predicted = int(even_out(t[_THICKET], t[_SOFTMAX], _SOFTMAX_VOTES))
        judge_again(t, _SOFTMAX, predicted)
    ptr32(ptr32(t[_AGAIN])[_NEIGHBOURS_STATE])[_N_SKIP] = state[_T_PLACE]
    begin(t[_AGAIN], t[_ROW], 0)


@micropython.viper
def weigh_features(t) -> int:
    """Return the evidence that features tell the classes, 0..256, of the best member.

    A skill, Q10, is how much better than chance a member is: 1 if it makes no error. For chance,
    its deviation is proportional to 1 / sqrt(others).
    """
    address = ptr32(t[_THICKET])
    state = ptr32(address[_THICKET_STATE])
    count = ptr16(ptr32(t[_GROVE])[_STORE_COUNT])
    others = -1  # classes that are held, but one
    for c in range(state[_T_CLASSES]):
        if count[c]:
            others += 1
    if others < 1 or state[_T_EVEN] == _ALWAYS_EVEN:
        return _FULL
    tells = ptr32(address[_THICKET_TELLS])
    best = 1024
    for k in range(_NEIGHBOURS, _TELLING):
        skill = (others + 1) * (tells[k] >> 17)  # 2**8 * 2**10
        if k == _OF_BAYES:
            skill -= state[_T_FEATURES] * _FLATTERED * others  # 2**8 * 2**4 * 2**8
        best = skill if skill > best else best
    best = (best - 1024) // others
    best = (best * best * others - _CHANCE) >> 8  # 2**20 * 2**8
    by_trees = ((others + 1) * (tells[_GROVE] >> 17) - 1024) // others - _BY_HEART
    by_trees = by_trees * 5 >> 2
    best = by_trees if by_trees > best else best
    return 0 if best < 0 else best if best < _FULL else _FULL


@micropython.viper
def search_part(t, plan: int, part: int):
    """Do one of the parts of a search."""
    count = ptr32(ptr32(t)[_NEIGHBOURS_STATE])[plan + _N_COUNT]
    search(0, 0, t, plan, count * part // _PARTS - count * (part - 1) // _PARTS)


@micropython.viper
def judge_again(t, k: int, predicted: int):
    """Note whether member k was right about the replayed sample; it may have abstained."""
    if predicted < 0:
        return
    address = ptr32(t[_THICKET])
    alone = ptr32(address[_THICKET_ALONE])
    tells = ptr32(address[_THICKET_TELLS])
    right = _ONE if predicted == ptr32(address[_THICKET_STATE])[_T_TURN] else 0
    alone[k] = alone[k] + ((right - alone[k]) >> _MEMORY_AGAIN)
    grove = ptr32(t[_GROVE])
    turn = ptr32(address[_THICKET_STATE])[_T_TURN]
    if ptr16(grove[_STORE_COUNT])[turn] == ptr32(grove[_RING_SHAPE])[_R_HELD]:
        return  # of one class alone, no member can be wrong
    k = _OF_BAYES if k == _BAYES else k
    replayed = tells[k] & _REPLAYED
    mean = tells[k] >> 7
    mean += (right - mean) // (replayed + 1)
    replayed = replayed + 1 if replayed < _REPLAYED else replayed
    tells[k] = (mean << 7) + replayed


@micropython.viper
def learn_again(t):
    """Let the softmax regression learn some of the samples held; there is at least one."""
    address = ptr32(t[_GROVE])
    held = ptr32(address[_RING_SHAPE])[_R_HELD]
    labels = ptr8(address[_RING_LABELS])
    lessons = _LESSONS
    if ptr32(address[_RING_SHAPE])[_R_LENGTH] > _FULL_LESSONS:
        lessons = _LESSONS >> 1
    for _ in range(lessons):
        place = int(below(t[_GROVE], _GROVE_RNG, held))
        if int(fetch(t[_GROVE], t[_ROW], place)) & _LEARNED:
            ask_softmax(t[_SOFTMAX], t[_ROW], 0)
            step(t[_SOFTMAX], labels[place], _FARTHER)
