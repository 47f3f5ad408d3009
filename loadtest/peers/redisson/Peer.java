// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RLock;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/**
 * Pairs of acquire and release by Redisson's locks, for peers.py.
 *
 * <p>Peer plain|fair|async|multi SERVERS PREFIX FILE
 */
final class Peer implements Slices.Locks {
    private static final int CONNECTIONS = 64;
    private static final long LEASE_S = 30;
    private static final int TIMEOUT_MS = 20000; // a busy machine's server is no dead one

    private final String setting;
    private final List<RedissonClient> clients = new ArrayList<>();

    Peer(String setting, String[] servers) {
        this.setting = setting;
        for (String url : servers) {
            clients.add(connect(url));
        }
    }

    private static RedissonClient connect(String url) {
        Config config = new Config();
        config.setUseScriptCache(true);
        config.setCheckLockSyncedSlaves(false); // there are none
        config.useSingleServer()
                .setAddress(url)
                .setTimeout(TIMEOUT_MS)
                .setConnectionPoolSize(CONNECTIONS)
                .setConnectionMinimumIdleSize(CONNECTIONS)
                .setSubscriptionConnectionPoolSize(CONNECTIONS)
                .setSubscriptionsPerConnection(CONNECTIONS);
        return Redisson.create(config);
    }

    private RLock lock(String name) {
        RedissonClient first = clients.get(0);
        switch (setting) {
            case "fair":
                return first.getFairLock(name);
            case "multi":
                return first.getMultiLock(
                        clients.stream().map(c -> c.getLock(name)).toArray(RLock[]::new));
            default:
                return first.getLock(name);
        }
    }

    @Override
    public Slices.Lock blocking(String name, int index) {
        RLock lock = lock(name);
        return new Slices.Lock() {
            @Override
            public void acquire() {
                lock.lock(LEASE_S, TimeUnit.SECONDS);
            }

            @Override
            public void release() {
                lock.unlock();
            }
        };
    }

    @Override
    public Slices.AsyncLock async(String name, int index) {
        if (!setting.equals("async")) {
            return null;
        }
        RLock lock = lock(name);
        long owner = index + 1L;
        return new Slices.AsyncLock() {
            @Override
            public CompletionStage<?> acquire() {
                return lock.lockAsync(LEASE_S, TimeUnit.SECONDS, owner);
            }

            @Override
            public CompletionStage<?> release() {
                return lock.unlockAsync(owner);
            }
        };
    }

    public static void main(String[] args) throws Exception {
        Slices.serve(args, Peer::new);
    }
}
