# SPDX-License-Identifier: MIT
"""A page per property.  A page has

    CAPS      one of these must be claimed, or the property is not judged; (): always
    IS_WHOLE  a history with holes cannot tell it
    breaks(e) how often the event breaks the rule

An event `e` is what happens to the lock at one moment of one order of the calls:

    e.kind   grant    the call takes the lock; e.is_new: not as a further level of e.own
             refusal  the call is told that another has it
             found    a release or renewal is told that its hold was there
             lost     a release or renewal is told that it was not; or the owner of a hold
                      was told so, and another got the lock
             inside   the caller learns of its grant, and begins to work
             unproved a refusal stood on a hold beyond its lease, which no later call found
    e.lock e.call e.index e.state e.now   whose, which, before what, when
    e.is_strict   answers come before the calls of the same instant
    e.is_there(hold)  may a store still keep it?
    e.own    the caller's hold in that mode, if it has one
    e.past   how the caller's last hold in that mode went
    e.is_abandoned   a hold that the caller abandoned surely lasts
    e.rivals holds of others that stand against the call
"""
from pages import exclusion, fairness, fence, kept, lease, ownership, reentry, refusal

# Between two explanations of a history the one is chosen that breaks fewer rules; of as
# many, the one that breaks those further down.
ALL = (exclusion, ownership, kept, reentry, fence, refusal, fairness, lease)
NAMES = tuple(page.__name__.split(".")[-1] for page in ALL)
