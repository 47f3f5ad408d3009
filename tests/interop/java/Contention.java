// SPDX-License-Identifier: MIT

import java.io.IOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.redisson.api.RBucket;
import org.redisson.api.RLock;
import org.redisson.client.codec.StringCodec;

/**
 * Many Java threads contend for one lock for a given time. Each section reads a number in
 * Redis, sleeps for the given time, and writes the next number. Two holders at once lose an
 * update, so the number is the count of sections only if the lock excluded.
 *
 * <p>With places=FILE names=N the threads contend for N locks, and the numbers are in a file
 * that all peers map. peer_contention.c does the same.
 */
final class Contention {
    private static final int PLACE_BYTES = 64;
    private static final int COUNT_AT = 8;
    private static final VarHandle LONG =
            MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

    private final Function<String, RLock> locks;
    private final String name;
    private final ByteBuffer places;
    private final int names;
    private final AtomicInteger begun = new AtomicInteger();
    private final RBucket<String> number;
    private final int threads;
    private final long endNs;
    private final long sectionUs;
    private final List<Long> waitsUs = new ArrayList<>();
    private String wrong;

    Contention(Function<String, RLock> locks, Clients clients, Command command) throws IOException {
        this.locks = locks;
        this.name = command.text("name");
        this.number =
                clients.single().getBucket(command.text("number"), StringCodec.INSTANCE);
        this.threads = (int) command.number("threads");
        this.endNs = System.nanoTime() + command.number("ms") * 1_000_000;
        this.sectionUs = command.number("sectionus");
        this.names = command.has("names") ? (int) command.number("names") : 0;
        this.places = command.has("places") ? map(command.text("places")) : null;
    }

    private ByteBuffer map(String path) throws IOException {
        try (FileChannel file =
                FileChannel.open(
                        Path.of(path), StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            return file.map(FileChannel.MapMode.READ_WRITE, 0, (long) names * PLACE_BYTES);
        }
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
        int which = places == null ? 0 : begun.getAndIncrement() % names;
        RLock lock = locks.apply(places == null ? name : name + which);
        try {
            while (System.nanoTime() < endNs) {
                takeTurn(lock, which);
            }
        } catch (Exception e) {
            complain(e.toString());
        }
    }

    private void takeTurn(RLock lock, int which) throws InterruptedException {
        long begunNs = System.nanoTime();
        lock.lock();
        long waitedUs = (System.nanoTime() - begunNs) / 1000;
        try {
            if (places != null) {
                countUpInFile(which * PLACE_BYTES);
            } else {
                countUp();
            }
        } finally {
            lock.unlock();
        }
        synchronized (this) {
            waitsUs.add(waitedUs);
        }
    }

    private void countUp() throws InterruptedException {
        String now = number.get();
        if (sectionUs > 0) {
            TimeUnit.MICROSECONDS.sleep(sectionUs);
        }
        number.set(Long.toString((now != null ? Long.parseLong(now) : 0) + 1));
    }

    private void countUpInFile(int at) throws InterruptedException {
        if ((long) LONG.getAndAdd(places, at, 1L) != 0) {
            complain("two holders were inside");
        }
        long count = (long) LONG.getVolatile(places, at + COUNT_AT);
        if (sectionUs > 0) {
            TimeUnit.MICROSECONDS.sleep(sectionUs);
        }
        LONG.setVolatile(places, at + COUNT_AT, count + 1);
        LONG.getAndAdd(places, at, -1L);
    }

    private synchronized void complain(String what) {
        wrong = what.replace('\n', ' ');
    }
}
