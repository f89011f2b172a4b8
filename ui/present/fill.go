package present

import "strings"

// Run is text in one style of a front end. Whole keeps it on one line if a line can hold it: addresses and short facts.
type Run[S comparable] struct {
	Text  string
	Style S
	Whole bool
}

type piece[S comparable] struct {
	text  string
	style S
}

// word is text that stays together unless it is wider than a line; gap is the number of spaces before it.
type word[S comparable] struct {
	pieces []piece[S]
	w, gap int
}

func (w *word[S]) add(text string, st S) {
	w.w += Width(text)
	if n := len(w.pieces); n > 0 && w.pieces[n-1].style == st {
		w.pieces[n-1].text += text
		return
	}
	w.pieces = append(w.pieces, piece[S]{text, st})
}

// Fill breaks runs into lines of at most w cells, at spaces where it can; a word wider than a line breaks anywhere. It
// never drops text. Every line starts with indent blank cells, which leave room for a label. write adds a piece of text
// in its style.
func Fill[S comparable](w, indent int, write func(S, *strings.Builder, string), runs ...Run[S]) []string {
	p := filler[S]{room: max(1, w-indent), lead: strings.Repeat(" ", max(0, indent)), write: write}
	for _, x := range words(runs, p.room) {
		p.put(x)
	}
	if p.used > 0 || len(p.lines) == 0 {
		p.newline()
	}
	return p.lines
}

func words[S comparable](runs []Run[S], room int) []word[S] {
	var out []word[S]
	var cur word[S]
	gap := 0
	end := func() {
		if cur.w > 0 {
			out = append(out, cur)
			gap = 0
		}
		cur = word[S]{}
	}
	for _, s := range runs {
		if s.Whole && Width(s.Text) <= room {
			if cur.w == 0 {
				cur.gap = gap
			}
			cur.add(s.Text, s.Style)
			continue
		}
		for i, part := range strings.Split(s.Text, " ") {
			if i > 0 {
				end()
				gap++
			}
			if part == "" {
				continue
			}
			if cur.w == 0 {
				cur.gap = gap
			}
			cur.add(part, s.Style)
		}
	}
	end()
	return out
}

type filler[S comparable] struct {
	write func(S, *strings.Builder, string)
	lines []string
	cur   strings.Builder
	used  int
	room  int
	lead  string
}

func (p *filler[S]) newline() {
	p.lines = append(p.lines, p.lead+p.cur.String())
	p.cur.Reset()
	p.used = 0
}

func (p *filler[S]) put(x word[S]) {
	if p.used > 0 && p.used+x.gap+x.w > p.room {
		p.newline()
	}
	if p.used > 0 {
		p.cur.WriteString(strings.Repeat(" ", x.gap))
		p.used += x.gap
	}
	for _, c := range x.pieces {
		p.split(c)
	}
}

// split writes one piece and breaks it wherever a line is full.
func (p *filler[S]) split(c piece[S]) {
	text := c.text
	for p.used+Width(text) > p.room {
		cut := 0
		at := p.used
		for i, r := range text {
			n := Width(string(r))
			if at+n > p.room {
				cut = i
				break
			}
			at += n
		}
		if cut == 0 && p.used == 0 {
			break // a single character wider than the line
		}
		p.write(c.style, &p.cur, text[:cut])
		text = text[cut:]
		p.used = 1
		p.newline()
	}
	p.write(c.style, &p.cur, text)
	p.used += Width(text)
}
