# SPDX-License-Identifier: MIT
"""grown.py -- a real story and a real report, made as large as pages may become."""
import json
import os
import re

from files import seckill

RECORDING = re.compile(r'(<script type="application/json" class="recording">)(.*?)(</script>)', re.S)


def change_recording(story, path, change):
    """Write a copy of the story page to `path`; `change` is called with its recording."""
    def put(found):
        recording = json.loads(found[2])
        change(recording)
        return found[1] + json.dumps(recording).replace("<", "\\u003c") + found[3]
    with open(story, encoding="utf-8") as old, open(path, "w", encoding="utf-8") as new:
        new.write(RECORDING.sub(put, old.read()))


def grow_recording(recording, count):
    """Tell the same again, one time after another, until there are at least `count` events."""
    lines, length = recording["lines"], max(line[2] for line in recording["lines"]) + 1000
    recording["lines"] = [[k, f + i * length, t + i * length, *rest] for i in range(count // len(lines) + 1) for k, f, t, *rest in lines]
    assert len(recording["lines"]) >= count


def grow_comparison(run, directory, count):
    """The report, in a new directory, of a comparison with `count` cells: those of `run` under other names."""
    with open(os.path.join(run, "data.json"), encoding="utf-8") as old:
        data = json.load(old)
    cells = data["results"]["summary"]["cells"]
    data["results"]["summary"]["cells"] = [{**cells[i % len(cells)], "lock": f"{cells[i % len(cells)]['lock']}-{i // len(cells)}"}
                                           for i in range(count)]
    os.mkdir(directory)
    with open(os.path.join(directory, "data.json"), "w", encoding="utf-8") as new:
        json.dump(data, new)
    seckill("report", directory)
    return os.path.join(directory, "report.html"), len(cells)
