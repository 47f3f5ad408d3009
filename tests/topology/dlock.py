# SPDX-License-Identifier: MIT
"""dlock.py -- calls the functions of the lock library that the tests in Python need."""
import ctypes

OK, BUSY, TIMEOUT, LOST, UNKNOWN, IO = 0, 1, 2, 3, 10, 11
LEASE_SIZE = 368  # the size in the ABI of the library, which does not change


class Options(ctypes.Structure):
    """dlock_options up to etcd_timeout_ms; the library gives the fields after it their defaults."""
    _fields_ = [("size", ctypes.c_size_t)] + [
        (name, ctypes.c_char_p) for name in ("variant", "redis_url", "redlock_urls", "record_dir", "database_url", "zookeeper_url")
    ] + [("lease_ms", ctypes.c_int), ("watchdog", ctypes.c_bool), ("retry", ctypes.c_char_p), ("redlock_sequential", ctypes.c_bool)] + [
        (name, ctypes.c_int) for name in ("redis_timeout_ms", "redlock_node_timeout_ms", "database_timeout_ms", "zookeeper_timeout_ms")
    ] + [("on_lost", ctypes.c_void_p), ("on_lost_arg", ctypes.c_void_p), ("handover", ctypes.c_int64), ("database_pooler", ctypes.c_char_p),
        ("etcd_url", ctypes.c_char_p), ("etcd_timeout_ms", ctypes.c_int64)]


class System:
    """A dlock_system on PostgreSQL, or with the options given."""
    library = None

    def __init__(self, variant, database_url=None, lease_ms=20000, **more):
        if not System.library:
            System.library = ctypes.CDLL("build/libdlock.so.1")
            System.library.dlock_error.restype = ctypes.c_char_p
            System.library.dlock_lease_valid.restype = ctypes.c_bool
            System.library.dlock_pay_debts.restype = ctypes.c_uint64
        options = Options()
        self.library.dlock_options_init(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        for name, value in {"variant": variant, "database_url": database_url, "lease_ms": lease_ms, **more}.items():
            setattr(options, name, value.encode() if isinstance(value, str) else value)
        self.handle = ctypes.c_void_p()
        answer = self.library.dlock_open(ctypes.byref(self.handle), ctypes.byref(options))
        assert answer == OK, (variant, answer, self.error())

    def error(self):
        return self.library.dlock_error().decode()

    def acquire(self, name, wait_ms=0):
        """Return the status and the lease."""
        lease = ctypes.create_string_buffer(LEASE_SIZE)
        return self.library.dlock_acquire(self.handle, name.encode(), ctypes.c_int64(wait_ms), lease), lease

    def hold(self, name):
        answer, lease = self.acquire(name, 5000)
        assert answer == OK, (name, answer, self.error())
        return lease

    def is_valid(self, lease):
        return self.library.dlock_lease_valid(self.handle, lease)

    def renew(self, lease):
        return self.library.dlock_renew(self.handle, lease)

    def release(self, lease):
        return self.library.dlock_release(self.handle, lease)

    def pay_debts(self, wait_ms):
        """Return the number of debts that remain."""
        return self.library.dlock_pay_debts(self.handle, ctypes.c_int64(wait_ms))

    def close(self):
        self.library.dlock_close(self.handle)
