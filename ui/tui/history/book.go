package history

import (
	"slices"
	"sort"
)

// The list consists of sections, newest first. A section is a gapless run of records in the order of the service, in
// chunks of one page each. A section that was read from the service continues with its next continuation; one from the
// cache cannot, and pages replace it as they are read. Chunks far from the window release their rows; the chunk stays,
// and its continuation reads it again.

// chunk is one page, or what remains of it.
type chunk struct {
	sec   *section
	after string    // the continuation that returned it
	skip  int       // leading records of that page that the chunks above hold
	rows  []*record // nil: released
	n     int       // rows, even when released
	found []*record // of released rows: those that match the filter of query
	query int
	sums  []monthSum
}

func (c *chunk) held() bool { return c.rows != nil }

// section is a gapless run.
type section struct {
	chunks  []*chunk
	seen    map[string]bool // continuations asked for since the reading began
	next    string          // continuation after the last record; "" with ended or without live
	live    bool            // read from the service since the start
	gap     bool            // records may be missing above it
	ended   bool            // the service has no more records
	stopped string          // why reading stops before the end
	further bool            // reading may still continue, when asked to
}

// canGo reports whether there is a continuation to ask for.
func (s *section) canGo() bool { return s.live && !s.ended && s.stopped == "" }

// book is the list. byID finds the chunk of each record in memory.
type book struct {
	sections []*section
	byID     map[string]*chunk
	held     int    // records in memory
	spans    []span // nil: has to be computed again
	total    int    // lines of the list, gaps included
	read     int    // records in it, including released ones
	keep     func(*record) bool
	query    int // the number of the filter that keep implements
	months   func([]*record) []monthSum
}

// span is a chunk or a gap in the lines of the list, starting at row.
type span struct {
	row   int
	sec   *section
	chunk *chunk // nil: a gap above sec
}

// newRun returns a book of one live section without records, for reading from the top.
func (b *book) newRun() *book {
	run := &book{byID: map[string]*chunk{}, months: b.months, keep: b.keep, query: b.query}
	run.sections = []*section{{live: true, seen: map[string]bool{}}}
	return run
}

// hold adds records from the cache below everything else; records that are there already stay unchanged.
func (b *book) hold(kept []*record) {
	s := &section{gap: len(b.sections) > 0}
	for part := range slices.Chunk(kept, PageSize) {
		fresh := slices.DeleteFunc(slices.Clone(part), func(r *record) bool { return b.byID[r.id] != nil })
		if len(fresh) > 0 {
			c := &chunk{sec: s}
			s.chunks = append(s.chunks, c)
			b.enter(c, fresh)
		}
	}
	if len(s.chunks) > 0 {
		b.sections = append(b.sections, s)
	}
	b.changed()
}

// forget turns every section into a cached one: its continuations are no longer valid. Released rows leave a gap.
func (b *book) forget() {
	var out []*section
	for _, s := range b.sections {
		var cur *section
		gap := s.gap
		for _, c := range s.chunks {
			if !c.held() {
				b.held -= len(c.found)
				cur, gap = nil, true
				continue
			}
			if cur == nil {
				cur = &section{gap: gap}
				out = append(out, cur)
			}
			c.sec, c.after, c.skip = cur, "", 0
			cur.chunks = append(cur.chunks, c)
		}
	}
	b.sections = out
	b.changed()
}

func (b *book) top() *section { return b.sections[0] }

func (b *book) changed() { b.spans = nil }

// layout lists the spans.
func (b *book) layout() []span {
	if b.spans != nil {
		return b.spans
	}
	row, read := 0, 0
	b.spans = make([]span, 0, 8)
	for _, s := range b.sections {
		if s.gap {
			b.spans = append(b.spans, span{row: row, sec: s})
			row++
		}
		for _, c := range s.chunks {
			b.spans = append(b.spans, span{row: row, sec: s, chunk: c})
			row += c.n
			read += c.n
		}
	}
	b.total, b.read = row, read
	return b.spans
}

// lines is the number of lines of the list.
func (b *book) lines() int { b.layout(); return b.total }

// count is the number of records of the list.
func (b *book) count() int { b.layout(); return b.read }

// at returns the span of a line, and its record if it is in memory.
func (b *book) at(i int) (span, *record) {
	spans := b.layout()
	k := sort.Search(len(spans), func(k int) bool { return spans[k].row > i }) - 1
	if k < 0 || i >= b.total {
		return span{}, nil
	}
	for k > 0 && spans[k].chunk != nil && spans[k].chunk.n == 0 {
		k--
	}
	s := spans[k]
	if s.chunk == nil || !s.chunk.held() || i-s.row >= len(s.chunk.rows) {
		return s, nil
	}
	return s, s.chunk.rows[i-s.row]
}

// indexOf is the line of a record in memory, -1 without it.
func (b *book) indexOf(id string) int {
	c := b.byID[id]
	if c == nil {
		return -1
	}
	for _, s := range b.layout() {
		if s.chunk == c {
			return s.row + c.index(id)
		}
	}
	return -1
}

func (c *chunk) index(id string) int {
	return slices.IndexFunc(c.rows, func(r *record) bool { return r.id == id })
}

// each calls fn for every record in memory, in the order of the list, until it returns false.
func (b *book) each(fn func(*record) bool) {
	for _, s := range b.sections {
		for _, c := range s.chunks {
			list := c.rows
			if !c.held() && c.query == b.query {
				list = c.found
			}
			for _, r := range list {
				if !fn(r) {
					return
				}
			}
		}
	}
}

// enter gives a chunk its rows and adds them to byID.
func (b *book) enter(c *chunk, rows []*record) {
	c.rows, c.n, c.sums = rows, len(rows), nil
	for _, r := range rows {
		b.byID[r.id] = c
	}
	b.held += len(rows)
	b.changed()
}

// leave removes the first n rows of a chunk from byID.
func (b *book) leave(c *chunk, n int) {
	for _, r := range c.rows[:n] {
		if b.byID[r.id] == c {
			delete(b.byID, r.id)
		}
	}
	b.held -= n
	b.changed()
}

// replace puts a newer record in the place of the old one.
func (b *book) replace(c *chunk, r *record) {
	if i := c.index(r.id); i >= 0 {
		c.rows[i] = r
		c.sums = nil
		b.changed()
	}
}

// remove removes one record.
func (b *book) remove(id string) {
	c := b.byID[id]
	if c == nil {
		return
	}
	i := c.index(id)
	c.rows = slices.Delete(c.rows, i, i+1)
	c.n, c.sums = len(c.rows), nil
	delete(b.byID, id)
	b.held--
	b.changed()
}

// drop removes a chunk's rows from the book.
func (b *book) drop(c *chunk) {
	b.leave(c, len(c.rows))
	b.held -= len(c.found)
	c.rows, c.found = nil, nil
}

// dropSections removes whole sections.
func (b *book) dropSections(from, to int) {
	for _, s := range b.sections[from:to] {
		for _, c := range s.chunks {
			b.drop(c)
		}
	}
	b.sections = slices.Delete(b.sections, from, to)
	b.changed()
}
