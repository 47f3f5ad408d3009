// SPDX-License-Identifier: MIT

// Package peers has the parts that the peers in Go share: the lines of peers.py, and workers.
// README.md has the command line and the lines.
package peers

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

const workersMax = 1024

const hot = ":hot"

// Lock is the lock of a name, used by one worker. Its Close, if it has one, ends a slice.
type Lock interface {
	Acquire() error
	Release() error
}

// IsHot tells whether all workers want this name.
func IsHot(name string) bool { return strings.HasSuffix(name, hot) }

// Start connects, and returns what makes a Lock of a name.
type Start func(setting string, servers []string) (func(name string) (Lock, error), error)

type slice struct {
	guard    []int64 // pairs, and who is inside
	prefix   string
	isHot    bool
	deadline time.Time
}

type count struct{ pairs, total, overlaps, errors int64 }

// Neither word is atomic for the workers as a whole: two holders at once lose a count or see
// each other. The loads and stores are of sync/atomic so that none is left out.
func (s *slice) beInside(index int, c *count) {
	me := int64(os.Getpid()*workersMax + index)
	atomic.StoreInt64(&s.guard[1], me)
	atomic.StoreInt64(&s.guard[0], atomic.LoadInt64(&s.guard[0])+1)
	if atomic.LoadInt64(&s.guard[1]) != me {
		c.overlaps++
	}
}

func (s *slice) pair(lock Lock, index int, c *count) error {
	if err := lock.Acquire(); err != nil {
		return err
	}
	if s.isHot {
		s.beInside(index, c)
	}
	return lock.Release()
}

func (s *slice) work(index int, makeLock func(string) (Lock, error), c *count) {
	name := fmt.Sprintf("%s:%d:%d", s.prefix, os.Getpid(), index)
	if s.isHot {
		name = s.prefix + hot
	}
	lock, err := makeLock(name)
	for err == nil && time.Now().Before(s.deadline) {
		if err = s.pair(lock, index, c); err == nil {
			c.total++
			if time.Now().Before(s.deadline) {
				c.pairs++
			}
		}
	}
	if closer, ok := lock.(io.Closer); ok && err == nil {
		err = closer.Close()
	}
	if err != nil {
		c.errors++
		fmt.Fprintln(os.Stderr, err)
	}
}

func (s *slice) run(inFlight int, makeLock func(string) (Lock, error)) {
	var all sync.WaitGroup
	var sum count
	counts := make([]count, inFlight)
	for i := range counts {
		all.Add(1)
		go func(i int) {
			s.work(i, makeLock, &counts[i])
			all.Done()
		}(i)
	}
	all.Wait()
	for _, c := range counts {
		sum.pairs += c.pairs
		sum.total += c.total
		sum.overlaps += c.overlaps
		sum.errors += c.errors
	}
	fmt.Printf("pairs=%d total=%d overlaps=%d errors=%d\n", sum.pairs, sum.total, sum.overlaps, sum.errors)
}

func mapGuard(path string) ([]int64, error) {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	words, err := syscall.Mmap(int(file.Fd()), 0, 16, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	return unsafe.Slice((*int64)(unsafe.Pointer(&words[0])), 2), nil
}

// Serve reads lines, runs slices, prints lines.
func Serve(start Start) error {
	if len(os.Args) != 5 {
		return fmt.Errorf("usage: SETTING SERVERS PREFIX FILE")
	}
	guard, err := mapGuard(os.Args[4])
	if err != nil {
		return err
	}
	makeLock, err := start(os.Args[1], strings.Split(os.Args[2], ","))
	if err != nil {
		return err
	}
	fmt.Println("ready")
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		var mode string
		var inFlight, durationMs int
		if _, err := fmt.Sscan(lines.Text(), &mode, &inFlight, &durationMs); err != nil {
			return err
		}
		s := &slice{guard, os.Args[3], mode == "hot", time.Now().Add(time.Duration(durationMs) * time.Millisecond)}
		s.run(inFlight, makeLock)
	}
	return lines.Err()
}
