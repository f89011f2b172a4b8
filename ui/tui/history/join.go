package history

import (
	"maps"
	"slices"
)

// extend appends a page to section i: it updates records that the section has in place and appends the others. after is
// the continuation that returned the page, token the one that came with it; "" is the end of history. It returns how
// many records were new to the section, and whether the section now reaches the section below it, or the end.
func (b *book) extend(i int, page []*record, after, token string) (added int, met bool) {
	sec := b.sections[i]
	has := make(map[string]bool, len(page))
	fresh := make([]*record, 0, len(page))
	skip, last := 0, ""
	for k, r := range page {
		has[r.id], last = true, r.id
		if c := b.byID[r.id]; c != nil && c.sec == sec {
			b.replace(c, r)
			if skip == k {
				skip++
			}
			continue
		}
		fresh = append(fresh, r)
	}
	target := b.cut(i, last, func(id string) bool { return has[id] })
	for _, r := range fresh {
		b.remove(r.id) // still somewhere below: the service re-ordered the list meanwhile
	}
	if len(fresh) > 0 {
		c := &chunk{sec: sec, after: after, skip: skip}
		sec.chunks = append(sec.chunks, c)
		b.enter(c, fresh)
	}
	met = b.link(i, target, token, len(page) > 0)
	return len(fresh), met
}

// adopt puts a run that was read from the top above everything else. It reports whether the run reaches the records in
// memory, or the end.
func (b *book) adopt(run *book) (met bool) {
	sec := run.top()
	old := b.byID
	b.sections = slices.Insert(b.sections, 0, sec)
	target := b.cut(0, sec.last(), func(id string) bool { return run.byID[id] != nil })
	for id := range run.byID {
		if old[id] != nil {
			b.remove(id)
		}
	}
	maps.Copy(b.byID, run.byID)
	b.held += run.held
	b.changed()
	token := sec.next
	if !sec.ended && token == "" {
		return false // the run is empty
	}
	return b.link(0, target, token, true)
}

// last is the id of the last record, "" when it is not in memory.
func (s *section) last() string {
	if len(s.chunks) == 0 {
		return ""
	}
	rows := s.chunks[len(s.chunks)-1].rows
	if len(rows) == 0 {
		return ""
	}
	return rows[len(rows)-1].id
}

// cut removes the records further below that a run of section i, ending with the record last, replaces: everything up
// to last when it finds last there, else the sections whose last record the run has. It returns the section in which it
// found last.
func (b *book) cut(i int, last string, has func(id string) bool) *section {
	c := b.byID[last]
	if c != nil && c.sec != b.sections[i] && slices.Index(b.sections, c.sec) > i {
		t := c.sec
		b.dropSections(i+1, slices.Index(b.sections, t))
		for t.chunks[0] != c {
			b.drop(t.chunks[0])
			t.chunks = t.chunks[1:]
		}
		n := c.index(last) + 1
		b.leave(c, n)
		c.rows, c.skip = c.rows[n:], c.skip+n
		c.n, c.sums = len(c.rows), nil
		t.prune()
		return t
	}
	for i+1 < len(b.sections) && has(b.sections[i+1].last()) {
		b.dropSections(i+1, i+2)
	}
	return nil
}

// link joins section i with the one that follows it. some says that the page had records.
func (b *book) link(i int, target *section, token string, some bool) (met bool) {
	defer b.changed()
	sec := b.sections[i]
	sec.next, sec.ended = token, token == ""
	for k := len(b.sections) - 1; k > i; k-- {
		b.sections[k].prune()
		if len(b.sections[k].chunks) == 0 && b.sections[k] != target {
			b.dropSections(k, k+1)
		}
	}
	switch {
	case sec.ended:
		b.dropSections(i+1, len(b.sections))
		return true
	case target != nil && target.live:
		sec.take(target)
		b.sections = slices.Delete(b.sections, i+1, i+2)
		return true
	case target != nil:
		target.gap = false
		if len(target.chunks) == 0 {
			b.dropSections(i+1, i+2)
		}
		return true
	case some && i+1 < len(b.sections):
		b.sections[i+1].gap = true
	}
	return false
}

// take appends a live section to this one.
func (s *section) take(t *section) {
	for _, c := range t.chunks {
		c.sec = s
	}
	s.chunks = append(s.chunks, t.chunks...)
	for token := range t.seen {
		s.seen[token] = true
	}
	s.next, s.ended, s.stopped, s.further = t.next, t.ended, t.stopped, t.further
}

// prune removes empty chunks.
func (s *section) prune() {
	s.chunks = slices.DeleteFunc(s.chunks, func(c *chunk) bool { return c.n == 0 })
}

// refill restores the page of a chunk that was released. Records that other chunks hold by now stay there, in their new
// state.
func (b *book) refill(c *chunk, page []*record) {
	b.held -= len(c.found)
	c.found = nil
	rows := make([]*record, 0, len(page))
	for _, r := range page[min(c.skip, len(page)):] {
		if o := b.byID[r.id]; o != nil {
			b.replace(o, r)
			continue
		}
		rows = append(rows, r)
	}
	b.enter(c, rows)
	c.sec.prune()
}

// Chunks that are never released: pinTop at the top, so that a refresh meets known records, pinEdge at the ends of a
// section, so that the next page does, and pinView around the window.
const (
	pinTop  = bridgePages + 2
	pinEdge = 2
	pinView = 4
)

// shed releases rows, those farthest from the lines between from and to first, until at most most records are in
// memory.
func (b *book) shed(from, to, most int) {
	for b.held > most {
		c := b.farthest(from, to)
		if c == nil {
			return
		}
		b.release(c)
	}
}

func (b *book) farthest(from, to int) *chunk {
	var best *chunk
	most := 0
	mid := (from + to) / 2
	spans := b.layout()
	pos := 0 // of the chunk in its section
	for k, s := range spans {
		if k > 0 && spans[k-1].sec != s.sec || s.chunk == nil {
			pos = 0
		}
		if s.chunk == nil {
			continue
		}
		pos++
		edge := pos <= pinEdge || pos > len(s.sec.chunks)-pinEdge || s.sec == b.top() && pos <= pinTop
		near := s.row < to+pinView*PageSize && s.row+s.chunk.n > from-pinView*PageSize
		if edge || near || !s.sec.live || !s.chunk.held() {
			continue
		}
		far := s.row - mid
		if far < 0 {
			far = -far
		}
		if best == nil || far > most {
			best, most = s.chunk, far
		}
	}
	return best
}

// release releases the rows of a chunk, but keeps its filter matches and its sums.
func (b *book) release(c *chunk) {
	c.sums = b.sumsOf(c)
	var found []*record
	if b.keep != nil {
		for _, r := range c.rows {
			if b.keep(r) {
				found = append(found, r)
			}
		}
	}
	n := c.n
	b.drop(c)
	c.n, c.found, c.query = n, found, b.query
	b.held += len(found)
}

// unsearched is the number of records that were released before the filter saw them.
func (b *book) unsearched() int {
	n := 0
	for _, s := range b.layout() {
		if s.chunk != nil && !s.chunk.held() && s.chunk.query != b.query {
			n += s.chunk.n
		}
	}
	return n
}

// setFilter sets which records to keep when their chunk is released; nil: none.
func (b *book) setFilter(keep func(*record) bool) {
	b.query++
	b.keep = keep
	for _, s := range b.sections {
		for _, c := range s.chunks {
			b.held -= len(c.found)
			c.found = nil
		}
	}
}
