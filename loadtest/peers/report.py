# SPDX-License-Identifier: MIT
"""report.py -- the tables of a measurement, from its results alone, and the verdicts."""

import statistics

import contestants

VALID, INVALID, THRESHOLD, UNAVAILABLE = 0, 1, 3, 69  # rows of base/text/exit_codes.h


class BadResults(Exception):
    """A file that is no results of this program."""


def spread(values):
    return statistics.median(values), min(values), max(values)


def ratios(ours, theirs):
    """The ratios of neighbours, which are slices of the same round."""
    return [a / b for a, b in zip(ours["per_s"], theirs["per_s"])]


def number(value):
    return f"{value:.2f}" if value < 10 else f"{value:.1f}" if value < 100 else f"{value:.0f}"


def of_spread(values):
    return "{} ({} - {})".format(*map(number, spread(values)))


class Cells:
    """The cells of the results, by part and by number in flight."""

    def __init__(self, cells):
        self.cells = cells

    def of(self, part, in_flight):
        return [c for c in self.cells
                if c["part"] == part.name and c["in_flight"] == in_flight]

    def ours(self, part, in_flight, setting):
        for cell in self.of(part, in_flight):
            if cell["peer"] == contestants.OURS and cell["setting"] == setting:
                return cell
        return None

    def peer(self, part, limit):
        """The cell of the limit's peer; if it names none, that with the highest median."""
        theirs = [c for c in self.of(part, limit.in_flight) if c["peer"] != contestants.OURS
                  and limit.peer in ("", c["name"])]
        return max(theirs, key=lambda c: statistics.median(c["per_s"]), default=None)


def table(part, cells, slices):
    done = min(len(cell["per_s"]) for cell in cells.cells if cell["part"] == part.name)
    cut = f" of {slices}: the time was over" if done < slices else ""
    lines = [f"{part.title[0].upper()}{part.title[1:]}: pairs per second, median of {done}{cut} "
             "(least - most)", "",
             f"{'in flight':>9}  {'who':<27}{'pairs/s':>28}  ours / theirs, and which of ours"]
    for in_flight in part.sizes:
        for cell in cells.of(part, in_flight):
            line = f"{in_flight:>9}  {cell['name']:<27}{of_spread(cell['per_s']):>28}"
            ours = cells.ours(part, in_flight, cell["beside"])
            if ours:
                line += f"  {of_spread(ratios(ours, cell))} {cell['beside']}"
            lines.append(line.rstrip())
        lines.append("")
    return lines


def limit_line(part, limit, cells):
    """The line of a limit, and whether it was reached; None: not measured."""
    ours = cells.ours(part, limit.in_flight, limit.setting)
    peer = cells.peer(part, limit)
    if not ours or not peer:
        who = ("this build has no such lock of ours" if not ours
               else f"{limit.peer} was not measured" if limit.peer else "no peer was measured")
        return f"{limit.text}: not measured, since {who}", None
    values = ratios(ours, peer)
    reached = statistics.median(values) >= limit.ratio
    return (f"{limit.text}: {of_spread(values)} times {who_is(limit, peer)}; "
            f"at least {limit.ratio:g} {word(reached)}"), reached


def who_is(limit, peer):
    return peer["name"] if limit.peer else f"the best peer, {peer['name']}"


def word(reached):
    return "reached" if reached else "MISSED"


def service_lines(rows):
    """The results of `seckill bench` as lines, and whether each target was reached."""
    lines, verdicts = [], []
    for row in rows:
        # The row beside a batch's SQL has no target.
        verdict = word(row["reached"]) if "reached" in row else "(pgbench: the batch's SQL)"
        verdicts += [row["reached"]] if "reached" in row else []
        if "claim" in row:
            value = row["value"]
            lines.append(f"{row['claim']}: {number(value['median'])} ({number(value['min'])} - "
                         f"{number(value['max'])}), limit {row['target']:g} "
                         f"{verdict}")
        else:
            lines.append(
                f"{row['order_path']}, lock {row['lock']}, {row['clients']} clients: "
                f"{row['http_per_s']:.0f} orders/s; pgbench -c{row['pgbench_clients']}: "
                f"{row['pgbench_per_s']:.0f}; ratio {number(row['ratio'])} "
                f"({number(row['ratio_min'])} - {number(row['ratio_max'])}), "
                f"p99 {row['p99_ms']:.1f} ms {verdict}")
    return lines, verdicts


def settings_lines(results):
    lines = ["Who, with which setting, and the file of theirs that does it", ""]
    seen = {}
    for cell in results["cells"]:
        seen.setdefault((cell["part"], cell["name"]), cell)
    for (part, name), cell in seen.items():
        lines.append(f"{part:<13}{name:<27}{cell['text']:<44}{cell['file']}".rstrip())
    lines += ["", "Versions", ""]
    lines += [f"{name:<16}{text}" for name, text in results["versions"].items()]
    return lines


def how(results):
    return [
        f"How: {results['slices']} slices of {results['slice_ms']} ms of each, interleaved: in "
        "each round each runs once at",
        "each size on the same servers, and another begins.  Ratios are of slices of one round.",
        "Every program runs on through all rounds and is warmed up before the first.  After each",
        "slice the servers' own counts have to show that the names were taken and freed, and no",
        "name may be left; with one name for all, a count that is not atomic has to be whole.",
        f"Load average before: {results['load'][0]}, after: {results['load'][1]}; the programs and "
        f"the servers share {results['processors']} processors."]


def part_lines(results, cells):
    """The tables, and whether each limit was reached."""
    lines, limits, verdicts = [], [], []
    for part in contestants.PARTS:
        if not any(cell["part"] == part.name for cell in results["cells"]):
            continue
        lines += table(part, cells, results["slices"])
        for limit in part.limits:
            text, reached = limit_line(part, limit, cells)
            limits.append(text)
            if reached is not None:
                verdicts.append(reached)
    return lines + limits, verdicts


def absent_lines(results):
    lines = [f"not measured: {a['name']}: {a['reason']}; to install: {a['install']}"
             for a in results["missing"]]
    return lines + [f"FAILED: {f['part']}: {f['name']}: {f['reason']}"
                    for f in results["failures"]]


def render(results):
    """The text of the results, and the exit status that they mean."""
    try:
        cells = Cells(results["cells"])
        lines, verdicts = part_lines(results, cells)
        if results["service"]:
            of_service, more = service_lines(results["service"])
            lines += ["", "The service (`seckill bench`): beside pgbench, and beside an HTTP "
                      "handler that does nothing", "", *of_service]
            verdicts += more
        absent = absent_lines(results)
        lines += [""] + absent if absent else []
        lines += ["", *settings_lines(results), "", *how(results)]
    except (KeyError, TypeError, ValueError, AttributeError, ZeroDivisionError) as error:
        raise BadResults(f"{type(error).__name__}: {error}") from error
    return "\n".join(lines) + "\n", status(results, verdicts)


def status(results, verdicts):
    if results["failures"]:
        return INVALID
    if not results["cells"] and not results["service"]:
        return UNAVAILABLE
    return VALID if all(verdicts) else THRESHOLD
