// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.client.codec.StringCodec;

/**
 * Many Java threads contend for one lock for a given time. Each section reads a number in
 * Redis, sleeps for as long as it was told, and writes the next number: two holders at once
 * lose an update.
 */
final class Crowd {
    private final RLock lock;
    private final RBucket<String> number;
    private final int threads;
    private final long endNs;
    private final long sectionUs;
    private final List<Long> waitsUs = new ArrayList<>();
    private String wrong;

    Crowd(RLock lock, Clients clients, Command command) {
        this.lock = lock;
        this.number =
                clients.single().getBucket(command.text("number"), StringCodec.INSTANCE);
        this.threads = (int) command.number("threads");
        this.endNs = System.nanoTime() + command.number("ms") * 1_000_000;
        this.sectionUs = command.number("sectionus");
    }

    String run() throws InterruptedException {
        Thread[] all = new Thread[threads];
        for (int i = 0; i < threads; i++) {
            all[i] = new Thread(this::contend);
            all[i].start();
        }
        for (Thread thread : all) {
            thread.join();
        }
        if (wrong != null || waitsUs.isEmpty()) {
            return "error " + (wrong != null ? wrong : "no grant at all");
        }
        long[] sorted = waitsUs.stream().mapToLong(Long::longValue).toArray();
        Arrays.sort(sorted);
        return "ok grants=" + sorted.length
                + " p50us=" + sorted[sorted.length / 2]
                + " p99us=" + sorted[(int) (sorted.length * 99L / 100)]
                + " maxus=" + sorted[sorted.length - 1];
    }

    private void contend() {
        try {
            while (System.nanoTime() < endNs) {
                takeTurn();
            }
        } catch (Exception e) {
            complain(e.toString());
        }
    }

    private void takeTurn() throws InterruptedException {
        long begunNs = System.nanoTime();
        lock.lock();
        long waitedUs = (System.nanoTime() - begunNs) / 1000;
        try {
            String now = number.get();
            if (sectionUs > 0) {
                TimeUnit.MICROSECONDS.sleep(sectionUs);
            }
            number.set(Long.toString((now != null ? Long.parseLong(now) : 0) + 1));
        } finally {
            lock.unlock();
        }
        synchronized (this) {
            waitsUs.add(waitedUs);
        }
    }

    private synchronized void complain(String what) {
        wrong = what.replace('\n', ' ');
    }
}
