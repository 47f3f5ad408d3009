// SPDX-License-Identifier: MIT

// Pairs of acquire and release by redsync, for peers.py, on one server or on five.
//
//	redsync pool|rueidis SERVERS PREFIX FILE
package main

import (
	"fmt"
	"os"
	"time"

	"github.com/go-redsync/redsync/v4"
	"github.com/go-redsync/redsync/v4/redis"
	"github.com/go-redsync/redsync/v4/redis/goredis/v9"
	goredislib "github.com/redis/go-redis/v9"
	"seckill/peers"
)

const (
	lease       = 30 * time.Second
	retry       = time.Millisecond
	triesMax    = 1 << 30
	connections = 64
)

type lock struct{ mutex *redsync.Mutex }

func (l lock) Acquire() error { return l.mutex.Lock() }

func (l lock) Release() error {
	ok, err := l.mutex.Unlock()
	if err == nil && !ok {
		err = fmt.Errorf("the lock was lost")
	}
	return err
}

// By setting; rueidis.go adds one where Go is new enough for it.
var connectors = map[string]func(url string) (redis.Pool, error){"pool": connect}

func connect(url string) (redis.Pool, error) {
	options, err := goredislib.ParseURL(url)
	if err != nil {
		return nil, err
	}
	options.PoolSize = connections
	return goredis.NewPool(goredislib.NewClient(options)), nil
}

func start(setting string, servers []string) (func(string) (peers.Lock, error), error) {
	var pools []redis.Pool
	connect, ok := connectors[setting]
	if !ok {
		return nil, fmt.Errorf("there is no setting %s in this build", setting)
	}
	for _, url := range servers {
		pool, err := connect(url)
		if err != nil {
			return nil, err
		}
		pools = append(pools, pool)
	}
	rs := redsync.New(pools...)
	return func(name string) (peers.Lock, error) {
		return lock{rs.NewMutex(name, redsync.WithExpiry(lease), redsync.WithTries(triesMax),
			redsync.WithRetryDelay(retry))}, nil
	}, nil
}

func main() {
	if err := peers.Serve(start); err != nil {
		fmt.Fprintln(os.Stderr, "redsync:", err)
		os.Exit(69)
	}
}
