# SPDX-License-Identifier: MIT
"""kinds.py -- the kinds of lock that histories are made of: their variant and claims."""
import collections

Kind = collections.namedtuple("Kind", "name variant caps")

_PLAIN = "exclusive local expires atomic"
_OWNED = _PLAIN + " owned renew"

ALL = tuple(Kind(name, variant, frozenset(caps.split())) for name, variant, caps in (
    ("single", "lua", _OWNED),
    ("without-owners", "naive", _PLAIN),
    ("two-steps", "setnx", "exclusive local expires"),
    ("re-entrant", "reentrant", _OWNED + " reentrant"),
    ("fenced", "fenced", _OWNED + " reentrant fenced"),
    ("fenced-plain", "fenced", _OWNED + " fenced"),
    ("fair", "fair", _OWNED + " reentrant fair"),
    ("fair-plain", "pg-fair", _OWNED + " fair"),
    ("readers-writers", "rwlock", _OWNED + " reentrant shared"),
    ("quorum", "redlock", _OWNED + " quorum"),
    ("every-node", "multi", _OWNED + " reentrant"),
    ("session", "pg-advisory", "exclusive local owned session"),
    ("session-fenced", "zk-basic", "exclusive local owned fenced session"),
    ("session-fair", "zk-seq", "exclusive local owned reentrant fenced fair session"),
    ("local", "local", "local owned"),
    ("none", "none", ""),
))
