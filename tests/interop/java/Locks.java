// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.redisson.RedissonMultiLock;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;

/** Executes the commands for locks of every kind with the API of Redisson. */
final class Locks {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private final Clients clients;

    Locks(Clients clients) {
        this.clients = clients;
    }

    String run(Command command) throws InterruptedException, IOException {
        RLock lock = find(command.text("kind"), command.text("name"));
        switch (command.verb()) {
            case "lock":
                return lock(lock, command.number("wait"), command.number("lease"));
            case "unlock":
                lock.unlock();
                return "ok";
            case "force":
                return lock.forceUnlock() ? "ok" : "lost";
            case "look":
                return look(lock);
            case "contend":
                return new Contention(one -> find(command.text("kind"), one), clients, command).run();
            default:
                throw new IllegalArgumentException("no verb " + command.verb());
        }
    }

    private RLock find(String kind, String name) {
        RedissonClient client = clients.single();
        switch (kind) {
            case "plain":
                return client.getLock(name);
            case "fair":
                return client.getFairLock(name);
            case "spin":
                return client.getSpinLock(name);
            case "fenced":
                return client.getFencedLock(name);
            case "read":
                return client.getReadWriteLock(name).readLock();
            case "write":
                return client.getReadWriteLock(name).writeLock();
            case "multi":
                return new RedissonMultiLock(
                        clients.nodes().stream()
                                .map(node -> node.getLock(name))
                                .toArray(RLock[]::new));
            default:
                throw new IllegalArgumentException("no kind " + kind);
        }
    }

    /** A wait of 0 is one attempt, a negative wait has no limit. A lease of 0 is renewed. */
    private static String lock(RLock lock, long wait, long lease)
            throws InterruptedException {
        long leaseOrWatchdog = lease == 0 ? -1 : lease;
        boolean got = true;

        if (lock instanceof RFencedLock) {
            Long fence =
                    ((RFencedLock) lock).tryLockAndGetToken(wait, leaseOrWatchdog, MS);
            if (fence != null) {
                return "ok fence=" + fence;
            }
            got = false;
        } else if (wait < 0) {
            lock.lock(leaseOrWatchdog, MS);
        } else if (wait == 0 && lease == 0) {
            got = ((Lock) lock).tryLock();
        } else {
            got = lock.tryLock(wait, leaseOrWatchdog, MS);
        }
        return got ? "ok" : wait == 0 ? "busy" : "timeout";
    }

    private static String look(RLock lock) {
        return "ok locked=" + (lock.isLocked() ? 1 : 0)
                + " mine=" + (lock.isHeldByCurrentThread() ? 1 : 0)
                + " count=" + lock.getHoldCount()
                + " left=" + lock.remainTimeToLive();
    }
}
