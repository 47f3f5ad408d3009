// SPDX-License-Identifier: MIT
// slices.js -- the parts that the peers on Node share: the lines of peers.py, and workers.
// ./README.md has the command line and the lines.
'use strict';

const fs = require('fs');
const readline = require('readline');

const WORKERS_MAX = 1024;

// The guarded section: neither word is atomic, so two holders at once lose a count or see
// each other.
function beInside(guard, index, count) {
    const me = BigInt(process.pid * WORKERS_MAX + index);
    const words = new BigInt64Array(1);

    words[0] = me;
    fs.writeSync(guard, words, 0, 8, 8);
    fs.readSync(guard, words, 0, 8, 0);
    words[0] += 1n;
    fs.writeSync(guard, words, 0, 8, 0);
    fs.readSync(guard, words, 0, 8, 8);
    if (words[0] !== me) {
        count.overlaps++;
    }
}

// A worker takes and frees one name until the deadline. makeLock(name) has acquire() and
// release().
async function work(slice, index, makeLock, count) {
    const lock = makeLock(slice.isHot ? `${slice.prefix}:hot` : `${slice.prefix}:${process.pid}:${index}`);

    try {
        while (performance.now() < slice.deadline) {
            await lock.acquire();
            if (slice.isHot) {
                beInside(slice.guard, index, count);
            }
            await lock.release();
            count.total++;
            if (performance.now() < slice.deadline) {
                count.pairs++;
            }
        }
    } catch (error) {
        count.errors++;
        console.error(`${error.name}: ${error.message}`);
    }
}

// Read lines, run slices, print lines. start(setting, urls) answers with makeLock.
async function serve(start) {
    const [setting, servers, prefix, path] = process.argv.slice(2);
    const guard = fs.openSync(path, 'r+');
    const makeLock = await start(setting, servers.split(','));

    console.log('ready');
    for await (const line of readline.createInterface({input: process.stdin})) {
        const [mode, inFlight, durationMs] = line.split(' ');
        const count = {pairs: 0, total: 0, overlaps: 0, errors: 0};
        const slice = {guard, prefix, isHot: mode === 'hot', deadline: performance.now() + Number(durationMs)};

        await Promise.all(Array.from({length: Number(inFlight)}, (_, i) => work(slice, i, makeLock, count)));
        console.log(`pairs=${count.pairs} total=${count.total} overlaps=${count.overlaps} errors=${count.errors}`);
    }
    process.exit(0);
}

module.exports = {serve};
