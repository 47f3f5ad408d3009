# SPDX-License-Identifier: MIT
# Servers of the profiles that have no official image, from Debian's packages: etcd, PgBouncer
# and Prometheus.  PACKAGES names those of one image.
FROM debian:bookworm-slim
ARG PACKAGES
ARG USER_ID
RUN apt-get update && apt-get install -y --no-install-recommends ${PACKAGES} \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid ${USER_ID} --user-group --no-create-home server \
    && install -d -o server -g server -m 0700 /var/lib/server
USER ${USER_ID}:${USER_ID}
