# SPDX-License-Identifier: MIT
# Servers without an official image, from the packages of Debian that PACKAGES names.
FROM debian:bookworm-slim
ARG PACKAGES
ARG USER_ID
RUN apt-get update && apt-get install -y --no-install-recommends ${PACKAGES} \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --uid ${USER_ID} --user-group --no-create-home server \
    && install -d -o server -g server -m 0700 /var/lib/server
USER ${USER_ID}:${USER_ID}
ENV ETCD_UNSUPPORTED_ARCH=arm64
