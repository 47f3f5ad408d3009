#!/bin/sh
# SPDX-License-Identifier: MIT
# ensemble.sh -- a server of the ZooKeeper ensemble of the profile `ensemble`.
set -eu
hostname | sed 's/^ensemble-//' >/var/lib/server/myid
exec java -Xmx256m -Dorg.slf4j.simpleLogger.defaultLogLevel=warn \
    -cp /usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar \
    org.apache.zookeeper.server.quorum.QuorumPeerMain /profiles/ensemble.cfg
