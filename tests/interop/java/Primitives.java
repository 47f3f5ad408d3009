// SPDX-License-Identifier: MIT

import java.util.concurrent.TimeUnit;
import org.redisson.api.RCountDownLatch;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Executes the commands for semaphores, permits and latches with the API of Redisson. */
final class Primitives {
    private static final TimeUnit MS = TimeUnit.MILLISECONDS;

    private final RedissonClient client;

    Primitives(Clients clients) {
        this.client = clients.single();
    }

    static boolean isKind(String kind) {
        return kind.equals("semaphore")
                || kind.equals("permits")
                || kind.equals("latch");
    }

    String run(Command command) throws InterruptedException {
        String name = command.text("name");
        switch (command.text("kind")) {
            case "semaphore":
                return run(command, client.getSemaphore(name));
            case "permits":
                return run(command, client.getPermitExpirableSemaphore(name));
            default:
                return run(command, client.getCountDownLatch(name));
        }
    }

    private static String run(Command command, RSemaphore semaphore)
            throws InterruptedException {
        switch (command.verb()) {
            case "set":
                return semaphore.trySetPermits(permits(command)) ? "ok" : "busy";
            case "acquire":
                return acquire(command, semaphore);
            case "release":
                semaphore.release(permits(command));
                return "ok";
            case "add":
                semaphore.addPermits(permits(command));
                return "ok";
            case "count":
                return "ok count=" + semaphore.availablePermits();
            case "drain":
                return "ok count=" + semaphore.drainPermits();
            default:
                throw new IllegalArgumentException("no verb " + command.verb());
        }
    }

    private static String acquire(Command command, RSemaphore semaphore)
            throws InterruptedException {
        long wait = command.number("wait");
        if (wait < 0) {
            semaphore.acquire(permits(command));
            return "ok";
        }
        if (wait == 0) {
            return semaphore.tryAcquire(permits(command)) ? "ok" : "busy";
        }
        return semaphore.tryAcquire(permits(command), wait, MS) ? "ok" : "timeout";
    }

    private static String run(Command command, RPermitExpirableSemaphore semaphore)
            throws InterruptedException {
        switch (command.verb()) {
            case "set":
                return semaphore.trySetPermits(permits(command)) ? "ok" : "busy";
            case "acquire":
                return acquire(command, semaphore);
            case "release":
                return semaphore.tryRelease(command.text("id")) ? "ok" : "lost";
            case "renew":
                return semaphore.updateLeaseTime(
                                command.text("id"), command.number("lease"), MS)
                        ? "ok"
                        : "lost";
            case "count":
                return "ok count=" + semaphore.availablePermits();
            case "taken":
                return "ok count=" + semaphore.acquiredPermits();
            default:
                throw new IllegalArgumentException("no verb " + command.verb());
        }
    }

    private static String acquire(Command command, RPermitExpirableSemaphore semaphore)
            throws InterruptedException {
        long wait = command.number("wait");
        long lease = command.number("lease");
        String id =
                wait < 0
                        ? semaphore.acquire(lease, MS)
                        : semaphore.tryAcquire(wait, lease, MS);
        if (id != null) {
            return "ok id=" + id;
        }
        return wait == 0 ? "busy" : "timeout";
    }

    private static String run(Command command, RCountDownLatch latch)
            throws InterruptedException {
        switch (command.verb()) {
            case "set":
                return latch.trySetCount(permits(command)) ? "ok" : "busy";
            case "acquire":
                if (command.number("wait") < 0) {
                    latch.await();
                    return "ok";
                }
                return latch.await(command.number("wait"), MS) ? "ok" : "timeout";
            case "release":
                latch.countDown();
                return "ok";
            case "count":
                return "ok count=" + latch.getCount();
            default:
                throw new IllegalArgumentException("no verb " + command.verb());
        }
    }

    private static int permits(Command command) {
        return (int) command.number("permits");
    }
}
