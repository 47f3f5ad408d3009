# SPDX-License-Identifier: MIT
# A ZooKeeper server from Debian's package, as the laboratory starts one.
FROM debian:bookworm-slim
RUN apt-get update && apt-get install -y --no-install-recommends \
        libzookeeper-java default-jre-headless \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid 10002 --user-group --no-create-home zookeeper \
    && install -d -o zookeeper -g zookeeper -m 0700 /var/lib/zookeeper
COPY docker/zookeeper.cfg /etc/zookeeper.cfg
USER 10002:10002
EXPOSE 2181
ENTRYPOINT ["java", "-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", \
            "-cp", "/usr/share/java/zookeeper.jar:/usr/share/java/slf4j-simple.jar", \
            "org.apache.zookeeper.server.ZooKeeperServerMain", "/etc/zookeeper.cfg"]
