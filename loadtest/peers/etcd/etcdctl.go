// SPDX-License-Identifier: MIT

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// A process of `etcdctl lock` is one pair: it prints its key once it holds, and gives the lock
// back when it is interrupted.
type command struct {
	server, name string
	process      *exec.Cmd
}

func (c *command) Acquire() error {
	c.process = exec.Command("etcdctl", "--endpoints="+c.server, "lock", c.name)
	c.process.Env = append(os.Environ(), "ETCDCTL_API=3")
	c.process.Stderr = os.Stderr
	out, err := c.process.StdoutPipe()
	if err != nil {
		return err
	}
	if err = c.process.Start(); err != nil {
		return err
	}
	key, err := bufio.NewReader(out).ReadString('\n')
	if err != nil || !strings.HasPrefix(key, c.name+"/") {
		_ = c.process.Process.Kill()
		return fmt.Errorf("etcdctl lock printed %q in the place of its key: %v", key, c.process.Wait())
	}
	return nil
}

func (c *command) Release() error {
	if err := c.process.Process.Signal(syscall.SIGINT); err != nil {
		return err
	}
	return c.process.Wait()
}
