# SPDX-License-Identifier: MIT
"""files.py -- pages that are files: the commands that write them, and a browser before them."""
import subprocess

from laboratory import SECKILL

HOSTILE_DIRECTORY = "<img src=x onerror=window.isHacked=1>"


def seckill(*arguments, statuses=(0,)):
    """What the command prints; it has to end with one of these exit statuses."""
    done = subprocess.run([SECKILL, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode in statuses, (arguments, done.returncode, done.stdout, done.stderr)
    return done.stdout


def end_lab(lab):
    """Take the servers down, also those of a laboratory that came up in part."""
    subprocess.run([SECKILL, "lab", "down", "--dir", lab], capture_output=True, check=False)


def address(path, fragment=""):
    return "file://" + path.replace("<", "%3C").replace(">", "%3E").replace(" ", "%20") + "#" + fragment


def settled(fragment):
    """The fragment with a language and a theme.  Chromium hands on late what an earlier page has
    remembered, so that a page whose address names neither may open with the ones before."""
    named = {part.split("=")[0] for part in fragment.split("&")}
    return "&".join([fragment] * (fragment != "") + [f"{name}={value}" for name, value in (("lang", "en"), ("theme", "light")) if name not in named])


def open_file(page, path, fragment, what, is_ready):
    """The page anew, in English and light unless the fragment says otherwise."""
    page.driver.get("about:blank")
    page.driver.get(address(path, settled(fragment)))
    page.wait(what, is_ready)
