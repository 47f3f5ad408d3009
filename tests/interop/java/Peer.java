// SPDX-License-Identifier: MIT

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.redisson.Version;

/**
 * A Java program that executes commands with Redisson: one command a line, and one line with
 * the command's tag for each answer. The commands of a named thread run in order on a Java
 * thread of their own, so the same thread re-enters a lock, and a waiting command delays no
 * other thread.
 *
 * <p>Usage: Peer REDIS-URL NODE-URLS WATCHDOG-MS
 */
public final class Peer {
    private static final PrintStream OUT =
            new PrintStream(System.out, true, StandardCharsets.UTF_8);

    private final Map<String, ExecutorService> threads = new ConcurrentHashMap<>();
    private final Locks locks;
    private final Primitives primitives;

    private Peer(Clients clients) {
        this.locks = new Locks(clients);
        this.primitives = new Primitives(clients);
    }

    public static void main(String[] args) throws Exception {
        Clients clients =
                new Clients(args[0], args[1].split(","), Long.parseLong(args[2]));
        Peer peer = new Peer(clients);
        BufferedReader in =
                new BufferedReader(
                        new InputStreamReader(System.in, StandardCharsets.UTF_8));
        say("ready redisson-" + version());
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            peer.start(Command.parse(line));
        }
        // Locks that are held now are not released, as after a crash.
        Runtime.getRuntime().halt(0);
    }

    private static String version() {
        String version = Version.class.getPackage().getImplementationVersion();
        return version != null ? version : "unknown";
    }

    private static synchronized void say(String line) {
        OUT.println(line);
    }

    private void start(Command command) {
        threads.computeIfAbsent(
                        command.thread(), name -> Executors.newSingleThreadExecutor())
                .execute(() -> say(command.tag() + " " + answer(command)));
    }

    private String answer(Command command) {
        try {
            return Primitives.isKind(command.text("kind"))
                    ? primitives.run(command)
                    : locks.run(command);
        } catch (IllegalMonitorStateException e) {
            return "lost";
        } catch (Exception e) {
            String text = e.getClass().getSimpleName() + ": " + e.getMessage();
            return "error " + text.replace('\n', ' ');
        }
    }
}
