// SPDX-License-Identifier: MIT

import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.retry.RetryOneTime;

/**
 * Pairs of acquire and release by Curator's InterProcessMutex, for peers.py.
 *
 * <p>Peer mutex SERVERS PREFIX FILE
 */
final class Peer implements Slices.Locks {
    private static final int SESSION_MS = 30000;
    private static final int CONNECT_MS = 10000;
    private static final int RETRY_MS = 100;

    private final CuratorFramework client;

    Peer(String setting, String[] servers) {
        client =
                CuratorFrameworkFactory.newClient(
                        servers[0], SESSION_MS, CONNECT_MS, new RetryOneTime(RETRY_MS));
        client.start();
    }

    @Override
    public Slices.Lock blocking(String name, int index) {
        InterProcessMutex mutex = new InterProcessMutex(client, "/" + name.replace(':', '-'));
        return new Slices.Lock() {
            @Override
            public void acquire() throws Exception {
                mutex.acquire();
            }

            @Override
            public void release() throws Exception {
                mutex.release();
            }
        };
    }

    public static void main(String[] args) throws Exception {
        Slices.serve(args, Peer::new);
    }
}
