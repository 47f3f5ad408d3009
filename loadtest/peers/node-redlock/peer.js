// SPDX-License-Identifier: MIT
// Pairs of acquire and release by node-redlock, for peers.py, on one server or on five.
//
//     peer.js plain|pipelined SERVERS PREFIX FILE
'use strict';

const {createRequire} = require('module');
const {serve} = require('../slices.js');

const fetched = createRequire(process.env.PEER_MODULES + '/');
const Redis = fetched('ioredis');
const Redlock = fetched('redlock').default;

const LEASE_MS = 30000;
const RETRY_MS = 1;

serve(async (setting, urls) => {
    const clients = urls.map((url) => new Redis(url, {enableAutoPipelining: setting === 'pipelined'}));
    const redlock = new Redlock(clients, {
        retryCount: -1,
        retryDelay: RETRY_MS,
        retryJitter: RETRY_MS,
    });

    redlock.on('error', () => {}); // of a node that refuses, for each try; acquire() tells the end
    await Promise.all(clients.map((client) => client.ping()));
    return (name) => {
        let lock;

        return {
            acquire: async () => {
                lock = await redlock.acquire([name], LEASE_MS);
            },
            release: () => lock.release(),
        };
    };
});
