// SPDX-License-Identifier: MIT

// Reads lines of JSON, each of which has one lock, and prints a line for each lock: its number, and
// Ok or Illegal, depending on whether an order of its calls explains their answers, or Unknown if
// that takes longer than two seconds.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"reflect"
	"time"

	"github.com/anishathalye/porcupine"
)

type operation struct {
	input
	From, To int64
}

type lock struct {
	Number     int
	Caps       []string
	Operations []operation
}

func (l lock) caps() *caps {
	found := map[string]bool{}
	for _, cap := range l.Caps {
		found[cap] = true
	}
	return &caps{found["owned"], found["reentrant"], found["fenced"],
		found["exclusive"] || found["local"]}
}

func (l lock) history() []porcupine.Operation {
	var history []porcupine.Operation
	claimed := l.caps()
	for i, op := range l.Operations {
		op.input.Caps = claimed
		history = append(history, porcupine.Operation{ClientId: i, Input: op.input,
			Call: op.From, Return: op.To})
	}
	return history
}

func main() {
	model := (&porcupine.NondeterministicModel{
		Init:  func() []interface{} { return []interface{}{state{}} },
		Step:  step,
		Equal: func(a, b interface{}) bool { return reflect.DeepEqual(a, b) },
	}).ToModel()
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		var l lock
		if err := json.Unmarshal(lines.Bytes(), &l); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(70)
		}
		fmt.Println(l.Number,
			porcupine.CheckOperationsTimeout(model, l.history(), 2*time.Second))
	}
}
