// SPDX-License-Identifier: MIT

// Pairs of acquire and release by the lock of etcd's own client, and by etcd's own command, for
// peers.py.
//
//	etcd session|etcdctl SERVERS PREFIX FILE
package main

import (
	"context"
	"fmt"
	"os"

	clientv3 "go.etcd.io/etcd/client/v3"
	"go.etcd.io/etcd/client/v3/concurrency"
	"seckill/peers"
)

const leaseS = 30

type lock struct {
	mutex *concurrency.Mutex
	own   *concurrency.Session
}

func (l lock) Acquire() error { return l.mutex.Lock(context.Background()) }
func (l lock) Release() error { return l.mutex.Unlock(context.Background()) }

func (l lock) Close() error {
	if l.own == nil {
		return nil
	}
	return l.own.Close()
}

// The owner is the session: workers with names of their own share one, and those that want
// one name have each a session of their own.
func start(setting string, servers []string) (func(string) (peers.Lock, error), error) {
	if setting == "etcdctl" {
		return func(name string) (peers.Lock, error) {
			return &command{server: servers[0], name: name}, nil
		}, nil
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: servers})
	if err != nil {
		return nil, err
	}
	session, err := concurrency.NewSession(client, concurrency.WithTTL(leaseS))
	if err != nil {
		return nil, err
	}
	return func(name string) (peers.Lock, error) {
		if !peers.IsHot(name) {
			return lock{concurrency.NewMutex(session, name), nil}, nil
		}
		own, err := concurrency.NewSession(client, concurrency.WithTTL(leaseS))
		if err != nil {
			return nil, err
		}
		return lock{concurrency.NewMutex(own, name), own}, nil
	}, nil
}

func main() {
	if err := peers.Serve(start); err != nil {
		fmt.Fprintln(os.Stderr, "etcd:", err)
		os.Exit(69)
	}
}
