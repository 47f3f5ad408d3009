// SPDX-License-Identifier: MIT

import java.util.ArrayList;
import java.util.List;
import org.redisson.Redisson;
import org.redisson.api.RedissonClient;
import org.redisson.config.ClusterServersConfig;
import org.redisson.config.Config;

/**
 * The clients of Redisson: one for the server or the cluster, and one for each server of the
 * multi lock.
 */
final class Clients {
    private static final String CLUSTER = "redis-cluster://";

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
        if (url.startsWith(CLUSTER)) {
            useCluster(config, url.substring(CLUSTER.length()));
        } else {
            config.useSingleServer()
                    .setAddress(url)
                    .setClientName("redisson")
                    .setConnectionMinimumIdleSize(1)
                    .setSubscriptionConnectionMinimumIdleSize(1);
        }
        return Redisson.create(config);
    }

    /** `rest` is the URL after its scheme: [[user]:password@]host:port[,host:port...]. */
    @SuppressWarnings("deprecation") // releases before 4.0 have the password only here
    private static void useCluster(Config config, String rest) {
        int at = rest.lastIndexOf('@');
        String[] login = rest.substring(0, Math.max(at, 0)).split(":", 2);
        ClusterServersConfig cluster =
                config.useClusterServers()
                        .setClientName("redisson")
                        .setMasterConnectionMinimumIdleSize(1)
                        .setSlaveConnectionMinimumIdleSize(1)
                        .setSubscriptionConnectionMinimumIdleSize(1);
        if (login.length == 2) {
            cluster.setUsername(login[0].isEmpty() ? null : login[0]).setPassword(login[1]);
        }
        for (String node : rest.substring(at + 1).split(",")) {
            cluster.addNodeAddress("redis://" + node);
        }
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
