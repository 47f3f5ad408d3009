# SPDX-License-Identifier: MIT
"""fence -- the fence grew with every new holder.

State: the highest fence so far.  A grant of a first level is legal when its fence is higher.
Grants are compared in the order in which the store made them, which may differ from the order of
their answers.

Not judged here: the fences of further levels (reentry); the writes that the protected resource
accepted.
"""
CAPS = ("fenced",)
IS_WHOLE = False


def breaks(e):
    if e.kind != "grant" or not e.is_new:
        return 0
    return int(e.call.fence <= e.state.highest)
