package present

import "strings"

// Line is one fact of a page for front ends without columns and colours: its tones are words. Spans are the value. Word
// is the one that it begins with, and Code the level and the code of a finding. Row tells a fact without a label, which
// belongs to the one above, from a sentence.
type Line struct {
	Level int
	Label string
	Spans []Span
	Word  string
	Code  string
	Row   bool
}

// Text is the value in one piece.
func (l Line) Text() string { return joined(l.Spans) }

func joined(spans []Span) string {
	var b strings.Builder
	for _, s := range spans {
		b.WriteString(s.Text)
	}
	return strings.TrimSpace(b.String())
}

// Say writes a page as lines. raw leaves addresses and bytes in one piece, for copying.
func (p Page) Say(raw bool) []Line {
	var out []Line
	for _, b := range p {
		out = append(out, b.say(raw)...)
	}
	return out
}

func (b Block) say(raw bool) []Line {
	var out []Line
	switch b.Kind {
	case KindBlank:
	case KindFold:
		if out = b.Fold.Inside.Say(raw); len(out) > 0 && !b.Fold.Apart {
			out = append([]Line{{Spans: []Span{say(b.Label + ":")}}}, out...)
		}
	case KindLedger:
		for _, e := range b.Entries {
			l := Line{Level: b.Level, Label: strings.TrimSpace(e.Group + " " + e.Label), Spans: e.spoken(raw)}
			if len(b.Spans) > 0 {
				l.Level, l.Label = b.Level-1, joined(b.Spans)
			}
			out = append(out, l)
		}
	case KindPairs:
		var asked, holds Page
		for _, x := range b.Pairs {
			asked, holds = append(asked, x.Brief...), append(holds, x.Holds...)
		}
		out = append(append(out, Line{Spans: []Span{say(AskedTitle + ":")}}), asked.Say(raw)...)
		out = append(append(out, Line{Spans: []Span{say(HoldsTitle + ":")}}), holds.Say(raw)...)
	case KindChanges:
		for _, c := range b.Changes {
			end := say(c.Diff)
			if c.Worse {
				end = ended(ToneWarn, c.Diff)
			}
			out = append(out, Line{Level: 1, Label: c.Label,
				Spans: spoken([]Span{say(c.New + ", was " + c.Old + ", "), end}, raw)})
		}
	default:
		l := Line{Level: b.Level + b.Depth, Label: b.Label, Code: b.Code, Row: b.Kind == KindRow}
		spans := b.Spans
		if len(b.Right) > 0 {
			spans = append(append(spans[:len(spans):len(spans)], gap()), b.Right...)
		}
		if len(spans) > 0 && spans[0].Sign == Before {
			l.Word = spans[0].Tone.word()
		}
		l.Spans = spoken(spans, raw)
		if len(l.Spans) > 0 {
			l.Spans[0].Text = strings.TrimPrefix(l.Spans[0].Text, l.Label+": ") // "Unknown: Unknown: 2 figures"
		}
		out = append(out, l)
	}
	return out
}

func (e Entry) spoken(raw bool) []Span {
	var out []Span
	if e.Amount != nil {
		out = append(append(out, amountSpans(*e.Amount)...), gap(), say(Worth(*e.Amount)))
	} else if e.Text != "" {
		out = append(out, say(e.Text))
	}
	if len(out) > 0 && len(e.Note) > 0 {
		out = append(out, gap())
	}
	return spoken(append(out, e.Note...), raw)
}

// word is what a tone is called where it has no colour; "" for one that says nothing by itself.
func (t Tone) word() string {
	switch t {
	case ToneWarn:
		return "Warning"
	case ToneDanger:
		return "Danger"
	case ToneUnknown:
		return "Unknown"
	}
	return ""
}

// spoken writes spans without colours. The word of a tone comes before its text, and after a comma that the text begins
// with.
func spoken(spans []Span, raw bool) []Span {
	var out []Span
	for _, s := range spans {
		word, rest := s.Tone.word(), strings.TrimLeft(s.Text, " ,")
		if _, counted, _ := strings.Cut(rest, " "); word != "" && strings.HasPrefix(counted, strings.ToLower(word)) {
			word = "" // "1 warning" says it
		}
		switch {
		case s.Tone == ToneZeros:
			continue
		case s.Tone == ToneGap:
			s.Text = ", "
		case raw && s.Raw != "":
			s.Text = s.Raw
		case s.Sign == Given:
			s.Text += " (given)"
		case s.Sign == Pending:
			s.Text += " (not given yet)"
		case s.Sign != NoSign && word != "" && rest != "":
			s.Text = s.Text[:len(s.Text)-len(rest)] + word + ": " + rest
		}
		out = append(out, s)
	}
	return out
}
