// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.RandomAccessFile;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicLong;

/**
 * The parts that the peers in Java share: the lines of peers.py, and workers. README.md has the command
 * line and the lines.
 */
final class Slices {
    private static final int WORKERS_MAX = 1024;

    /** The lock of a name, used by one worker. */
    interface Lock {
        void acquire() throws Exception;

        void release() throws Exception;
    }

    /** The lock of a name, used by one worker that is not a thread. */
    interface AsyncLock {
        CompletionStage<?> acquire();

        CompletionStage<?> release();
    }

    interface Start {
        Locks connect(String setting, String[] servers) throws Exception;
    }

    /** A peer implements one of the two; the other answers null. */
    interface Locks {
        default Lock blocking(String name, int index) {
            return null;
        }

        default AsyncLock async(String name, int index) {
            return null;
        }
    }

    private final Locks locks;
    private final MappedByteBuffer guard;
    private final String prefix;
    private final long pid = ProcessHandle.current().pid();
    private final AtomicLong pairs = new AtomicLong();
    private final AtomicLong total = new AtomicLong();
    private final AtomicLong overlaps = new AtomicLong();
    private final AtomicLong errors = new AtomicLong();
    private boolean isHot;
    private long deadlineNs;

    private Slices(Locks locks, MappedByteBuffer guard, String prefix) {
        this.locks = locks;
        this.guard = guard;
        this.prefix = prefix;
    }

    /** Neither word is atomic: two holders at once lose a count or see each other. */
    private void beInside(int index) {
        long me = pid * WORKERS_MAX + index;
        guard.putLong(8, me);
        guard.putLong(0, guard.getLong(0) + 1);
        if (guard.getLong(8) != me) {
            overlaps.incrementAndGet();
        }
    }

    private boolean goesOn() {
        return System.nanoTime() - deadlineNs < 0;
    }

    private void done(long[] count) {
        count[1]++;
        if (goesOn()) {
            count[0]++;
        }
    }

    private void add(long[] count) {
        pairs.addAndGet(count[0]);
        total.addAndGet(count[1]);
    }

    private void failed(Throwable error) {
        errors.incrementAndGet();
        System.err.println(error);
    }

    private String name(int index) {
        return isHot ? prefix + ":hot" : prefix + ":" + pid + ":" + index;
    }

    private void work(Lock lock, int index) {
        long[] count = new long[2];
        try {
            while (goesOn()) {
                lock.acquire();
                if (isHot) {
                    beInside(index);
                }
                lock.release();
                done(count);
            }
        } catch (Exception error) {
            failed(error);
        }
        add(count);
    }

    private void workAsync(AsyncLock lock, int index, long[] count, CompletableFuture<Void> end) {
        if (!goesOn()) {
            add(count);
            end.complete(null);
            return;
        }
        lock.acquire()
                .thenCompose(
                        granted -> {
                            if (isHot) {
                                beInside(index);
                            }
                            return lock.release();
                        })
                .whenComplete(
                        (released, error) -> {
                            if (error != null) {
                                failed(error);
                                add(count);
                                end.complete(null);
                                return;
                            }
                            done(count);
                            workAsync(lock, index, count, end);
                        });
    }

    private void run(int inFlight) throws InterruptedException {
        List<Thread> threads = new ArrayList<>();
        List<CompletableFuture<Void>> ends = new ArrayList<>();
        for (int i = 0; i < inFlight; i++) {
            int index = i;
            AsyncLock async = locks.async(name(i), i);
            if (async != null) {
                CompletableFuture<Void> end = new CompletableFuture<>();
                ends.add(end);
                workAsync(async, index, new long[2], end);
            } else {
                Lock lock = locks.blocking(name(i), i);
                threads.add(new Thread(() -> work(lock, index)));
            }
        }
        threads.forEach(Thread::start);
        for (Thread thread : threads) {
            thread.join();
        }
        ends.forEach(CompletableFuture::join);
    }

    private void runSlice(String mode, int inFlight, long durationMs) throws InterruptedException {
        isHot = mode.equals("hot");
        for (AtomicLong sum : List.of(pairs, total, overlaps, errors)) {
            sum.set(0);
        }
        deadlineNs = System.nanoTime() + durationMs * 1_000_000;
        run(inFlight);
        System.out.println(
                "pairs=" + pairs + " total=" + total + " overlaps=" + overlaps + " errors=" + errors);
    }

    /** Read lines, run slices, print lines. */
    static void serve(String[] args, Start start) throws Exception {
        try (RandomAccessFile file = new RandomAccessFile(args[3], "rw")) {
            MappedByteBuffer guard = file.getChannel().map(FileChannel.MapMode.READ_WRITE, 0, 16);
            guard.order(ByteOrder.nativeOrder());
            Slices slices = new Slices(start.connect(args[0], args[1].split(",")), guard, args[2]);
            System.out.println("ready");
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String[] words = line.split(" ");
                slices.runSlice(words[0], Integer.parseInt(words[1]), Long.parseLong(words[2]));
            }
        }
        System.exit(0);
    }
}
