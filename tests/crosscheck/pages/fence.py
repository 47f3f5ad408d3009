# SPDX-License-Identifier: MIT
"""fence -- the fence grew with every new holder.

State: the highest fence given out.  A grant of a first level is legal when its fence is
higher.  Grants are in the order in which the lock was taken, not in which they were heard.

Leaves out: fences of other levels (reentry); what the protected resource accepted.
"""
CAPS = ("fenced",)
IS_WHOLE = False


def breaks(e):
    if e.kind != "grant" or not e.is_new:
        return 0
    return int(e.call.fence <= e.state.highest)
