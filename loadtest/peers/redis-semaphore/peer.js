// SPDX-License-Identifier: MIT
// Pairs of acquire and release by redis-semaphore, for peers.py: Mutex on one server,
// RedlockMutex on five.
//
//     peer.js plain|pipelined SERVERS PREFIX FILE
'use strict';

const {createRequire} = require('module');
const {serve} = require('../slices.js');

const fetched = createRequire(process.env.PEER_MODULES + '/');
const Redis = fetched('ioredis');
const {Mutex, RedlockMutex} = fetched('redis-semaphore');

const LEASE_MS = 30000;
const RETRY_MS = 1;

serve(async (setting, urls) => {
    const clients = urls.map((url) => new Redis(url, {enableAutoPipelining: setting === 'pipelined'}));
    const options = {
        lockTimeout: LEASE_MS,
        acquireTimeout: 60 * 60 * 1000,
        retryInterval: RETRY_MS,
        refreshInterval: 0,
    };

    await Promise.all(clients.map((client) => client.ping()));
    return (name) =>
        clients.length === 1 ? new Mutex(clients[0], name, options) : new RedlockMutex(clients, name, options);
});
