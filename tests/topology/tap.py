# SPDX-License-Identifier: MIT
"""tap.py -- runs functions as the tests of a TAP program."""
import sys
import traceback


def main(cases, prepare):
    """Run the cases, or those that the arguments of the program name.  Each case gets the object that `prepare` makes
    once, and whose end() is called at the end.  Return the exit status."""
    wanted = [case for case in cases if not sys.argv[1:] or case.__name__ in sys.argv[1:]]
    failed, rig = 0, None
    print(f"1..{len(wanted)}", flush=True)
    try:
        rig = prepare()
        for number, case in enumerate(wanted, 1):
            try:
                case(rig)
                verdict = "ok"
            except Exception:  # pylint: disable=broad-exception-caught  # any exception fails the case
                print("".join(f"# {line}\n" for line in traceback.format_exc().splitlines()), end="")
                verdict, failed = "not ok", failed + 1
            print(f"{verdict} {number} - {case.__name__.replace('_', ' ')}", flush=True)
    finally:
        if rig:
            rig.end()
    return 1 if failed else 0
