# SPDX-License-Identifier: MIT
"""One module for each property of a lock.  Each module has

    CAPS      the property is judged only for a lock with at least one of these promises; ():
              for every lock
    IS_WHOLE  True: records with a gap are not enough to judge the property
    breaks(e) how often the event `e` breaks the property

An event `e` is one step of the lock at one instant, in one of the possible orders of the calls:

    e.kind   grant    the call is granted the lock; e.is_new: False if the grant is a further
                      level of the hold e.own
             refusal  the call is refused because another owner has the lock
             found    a release or a renewal is answered that its hold existed
             lost     a release or a renewal is answered that its hold did not exist; or an
                      owner was told of the loss of its hold, and another owner got the lock
             inside   the caller learns of its grant, and begins to work
             unproved a refusal needs a hold that lasted beyond its lease, and no later answer
                      proves that the hold lasted so long
    e.lock e.call e.index e.state e.now   the lock, the call and its index, the state of the lock
                      before the event, the instant
    e.is_strict   True: answers precede the calls of the same instant
    e.is_there(hold)  True: a store may still keep the hold
    e.own    the hold of the caller in the mode of the call, or None
    e.past   the end of the last hold of the caller in that mode, or None
    e.is_abandoned   True: the caller abandoned a hold that certainly still exists
    e.rivals the holds of other owners that exclude the call
"""
from pages import exclusion, fairness, fence, kept, lease, ownership, reentry, refusal

# The search compares two explanations of a history by the first property whose number of
# violations differs, and chooses the explanation with fewer violations of that property.
ALL = (exclusion, ownership, kept, reentry, fence, refusal, fairness, lease)
NAMES = tuple(page.__name__.split(".")[-1] for page in ALL)
