// SPDX-License-Identifier: MIT

//go:build go1.20

package main

import (
	"github.com/go-redsync/redsync/v4/redis"
	adapter "github.com/go-redsync/redsync/v4/redis/rueidis"
	"github.com/redis/rueidis"
	"github.com/redis/rueidis/rueidiscompat"
)

// rueidis sends the requests of all goroutines over one connection, in a pipeline.
func init() {
	connectors["rueidis"] = func(url string) (redis.Pool, error) {
		options, err := rueidis.ParseURL(url)
		if err != nil {
			return nil, err
		}
		options.DisableCache = true
		client, err := rueidis.NewClient(options)
		if err != nil {
			return nil, err
		}
		return adapter.NewPool(rueidiscompat.NewAdapter(client)), nil
	}
}
