// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** The Redisson instances: one for the server, one for each node of the multi lock. */
final class Clients {
    private final String[] nodeUrls;
    private final long watchdogMs;
    private final RedissonClient single;
    private List<RedissonClient> nodes;

    Clients(String url, String[] nodeUrls, long watchdogMs) {
        this.nodeUrls = nodeUrls;
        this.watchdogMs = watchdogMs;
        this.single = connect(url);
    }

    private RedissonClient connect(String url) {
        Config config = new Config();
        config.setLockWatchdogTimeout(watchdogMs);
        config.setThreads(2);
        config.setNettyThreads(2);
        config.useSingleServer()
                .setAddress(url)
                .setClientName("redisson")
                .setConnectionMinimumIdleSize(1)
                .setSubscriptionConnectionMinimumIdleSize(1);
        return Redisson.create(config);
    }

    RedissonClient single() {
        return single;
    }

    synchronized List<RedissonClient> nodes() {
        if (nodes == null) {
            nodes = new ArrayList<>();
            for (String url : nodeUrls) {
                nodes.add(connect(url));
            }
        }
        return nodes;
    }
}
