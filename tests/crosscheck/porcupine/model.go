// SPDX-License-Identifier: MIT

// A model of a lock for Porcupine: owners, levels of re-entry, readers, fences.
//
// Porcupine has no clock, so operations stand for the effects of time.  The operation `expire`
// may end a hold at any instant after its lease.  The operation `stale` has a single instant: from
// then on a refusal needs a later answer that proves the hold.
package main

import "sort"

type hold struct {
	who, begun, level int
	shared            bool
	until, fence      int64
	stale, owed       bool
}

type ghost struct {
	who, call int
	shared    bool
}

// A state is immutable: every step returns new states.
type state struct {
	holds   []hold
	ghosts  []ghost
	highest int64
}

type input struct {
	// acquire, release, renew, or an effect of time: expire, stale, dead (a session may end), ghost
	// and gone (the effect of an acquire without an answer begins and ends), end (of the history)
	Kind   string
	Who    int
	Begun  int // the acquire that began the hold of this call
	Call   int
	Level  int
	Shared bool
	Until  int64
	Fence  int64
	Status string
	Caps   *caps
}

type caps struct{ owned, reentrant, fenced, refusals bool }

func (s state) copy() state {
	return state{append([]hold(nil), s.holds...), append([]ghost(nil), s.ghosts...),
		s.highest}
}

func (s state) own(in input) int {
	for i, h := range s.holds {
		if h.who == in.Who && h.shared == in.Shared {
			return i
		}
	}
	return -1
}

func (s state) without(i int) state {
	then := s.copy()
	then.holds = append(then.holds[:i], then.holds[i+1:]...)
	return then
}

func stands(shared, other bool) bool { return !(shared && other) }

// The holds of other owners that exclude the caller, and whether a request without an answer, which
// may be the caller's own, excludes it.
func (s state) against(in input) (fresh, stale []int, haunted bool) {
	for i, h := range s.holds {
		if h.who == in.Who || !stands(h.shared, in.Shared) {
			continue
		}
		if h.stale {
			stale = append(stale, i)
		} else {
			fresh = append(fresh, i)
		}
	}
	for _, g := range s.ghosts {
		haunted = haunted || stands(g.shared, in.Shared)
	}
	return fresh, stale, haunted
}

func (s state) hasRival(in input) bool {
	fresh, stale, _ := s.against(in)
	for _, g := range s.ghosts {
		if g.who != in.Who && stands(g.shared, in.Shared) {
			return true
		}
	}
	return len(fresh)+len(stale) > 0
}

func grant(s state, in input) []interface{} {
	i := s.own(in)
	if i >= 0 {
		h := s.holds[i]
		if !in.Caps.reentrant || in.Level == 1 ||
			(in.Level != 0 && in.Level != h.level+1) ||
			(in.Fence != 0 && in.Fence != h.fence) {
			return nil
		}
		then := s.copy()
		then.holds[i].level++
		if in.Until > h.until {
			then.holds[i].until, then.holds[i].stale = in.Until, false
		}
		return []interface{}{then}
	}
	if in.Level > 1 || s.hasRival(in) || (in.Caps.fenced && in.Fence <= s.highest) {
		return nil
	}
	then := s.copy()
	then.holds = append(then.holds, hold{who: in.Who, begun: in.Call, level: 1,
		shared: in.Shared, until: in.Until, fence: in.Fence})
	sort.Slice(then.holds, func(a, b int) bool {
		return then.holds[a].begun < then.holds[b].begun
	})
	if in.Fence > then.highest {
		then.highest = in.Fence
	}
	return []interface{}{then}
}

func refuse(s state, in input) []interface{} {
	i := s.own(in)
	if i >= 0 && in.Caps.reentrant {
		return nil
	}
	fresh, stale, haunted := s.against(in)
	mine := false
	for _, h := range s.holds {
		mine = mine || h.who == in.Who && (!in.Caps.reentrant || h.shared && !in.Shared)
	}
	if !in.Caps.refusals || len(fresh) > 0 || haunted || mine {
		return []interface{}{s}
	}
	var then []interface{}
	for _, j := range stale {
		if in.Caps.owned {
			owes := s.copy()
			owes.holds[j].owed = true
			then = append(then, owes)
		}
	}
	return then
}

func find(s state, in input) []interface{} {
	i := s.own(in)
	if i < 0 {
		if in.Caps.owned {
			return nil
		}
		return []interface{}{s}
	}
	if in.Kind == "release" && s.holds[i].level == 1 {
		return []interface{}{s.without(i)}
	}
	then := s.copy()
	then.holds[i].owed = false
	if in.Kind == "release" {
		then.holds[i].level--
	} else if in.Until > then.holds[i].until {
		then.holds[i].until, then.holds[i].stale = in.Until, false
	}
	return []interface{}{then}
}

// A release without an answer ends one level of its hold, or was not executed.
func perhapsRelease(s state, in input) []interface{} {
	i := s.own(in)
	if i < 0 || s.holds[i].begun != in.Begun {
		return []interface{}{s}
	}
	if s.holds[i].level > 1 {
		then := s.copy()
		then.holds[i].level--
		return []interface{}{s, then}
	}
	if s.holds[i].owed {
		return []interface{}{s}
	}
	return []interface{}{s, s.without(i)}
}

// The effect of time on the hold that `in.Begun` began: its lease may end (expire), only a later
// answer proves that it still exists (stale), or its session may end with its process (dead).
func pass(s state, in input) []interface{} {
	for i, h := range s.holds {
		if h.begun != in.Begun || (in.Kind != "dead" && h.until > in.Until) {
			continue
		}
		if in.Kind == "stale" {
			then := s.copy()
			then.holds[i].stale = true
			return []interface{}{then}
		}
		if h.owed {
			return []interface{}{s}
		}
		return []interface{}{s, s.without(i)}
	}
	return []interface{}{s}
}

func haunt(s state, in input) []interface{} {
	then := s.copy()
	if in.Kind == "ghost" {
		if s.hasRival(in) {
			return []interface{}{s}
		}
		then.ghosts = append(then.ghosts, ghost{in.Who, in.Call, in.Shared})
		sort.Slice(then.ghosts, func(a, b int) bool {
			return then.ghosts[a].call < then.ghosts[b].call
		})
		return []interface{}{s, then}
	}
	for i, g := range s.ghosts {
		if g.call == in.Call {
			then.ghosts = append(then.ghosts[:i], then.ghosts[i+1:]...)
			return []interface{}{then}
		}
	}
	return []interface{}{s}
}

func step(from interface{}, asked interface{}, _ interface{}) []interface{} {
	s, in := from.(state), asked.(input)
	switch in.Kind {
	case "expire", "stale", "dead":
		return pass(s, in)
	case "ghost", "gone":
		return haunt(s, in)
	case "end":
		for _, h := range s.holds {
			if h.owed {
				return nil
			}
		}
		return []interface{}{s}
	}
	switch {
	case in.Status == "lost":
		if s.own(in) >= 0 {
			return nil
		}
		return []interface{}{s}
	case in.Kind != "acquire" && in.Status == "ok":
		return find(s, in)
	case in.Kind == "release":
		return perhapsRelease(s, in)
	case in.Status == "ok":
		return grant(s, in)
	}
	return refuse(s, in)
}
