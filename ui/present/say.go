package present

import "strings"

// Line is one fact of a page for front ends without columns and colours: its tones are words. Word is the one that Text
// begins with, and Code the level and the code of a finding. Row tells a fact without a label, which belongs to the one
// above, from a sentence.
type Line struct {
	Level       int
	Label, Text string
	Word, Code  string
	Row         bool
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
	case KindLedger:
		for _, e := range b.Entries {
			l := Line{Level: b.Level, Label: e.Label, Text: e.spoken(raw)}
			if len(b.Spans) > 0 {
				l.Level, l.Label = b.Level-1, spoken(b.Spans, raw)
			}
			out = append(out, l)
		}
	case KindPairs:
		var asked, holds Page
		for _, x := range b.Pairs {
			asked, holds = append(asked, x.Brief...), append(holds, x.Holds...)
		}
		out = append(append(out, Line{Text: AskedTitle + ":"}), asked.Say(raw)...)
		out = append(append(out, Line{Text: HoldsTitle + ":"}), holds.Say(raw)...)
	case KindChanges:
		for _, c := range b.Changes {
			text := c.New + ", was " + c.Old + ", the same"
			if c.Diff != "" {
				text = c.New + ", was " + c.Old + ", " + spoken([]Span{ended(ToneWarn, c.Diff)}, raw)
			}
			out = append(out, Line{Level: 1, Label: c.Label, Text: text})
		}
	default:
		l := Line{Level: b.Level + b.Depth, Label: b.Label, Text: spoken(b.Spans, raw), Code: b.Code,
			Row: b.Kind == KindRow}
		if len(b.Right) > 0 {
			l.Text += ", " + spoken(b.Right, raw)
		}
		if len(b.Spans) > 0 && b.Spans[0].Sign == Before {
			l.Word = b.Spans[0].Tone.word()
		}
		l.Text = strings.TrimPrefix(l.Text, l.Label+": ") // "Unknown: Unknown: 2 figures"
		out = append(out, l)
	}
	return out
}

func (e Entry) spoken(raw bool) string {
	var parts []string
	if e.Amount != nil {
		text := spoken(amountSpans(*e.Amount), raw)
		if e.Arrow {
			text = "pays " + text
		}
		parts = append(parts, text, Worth(*e.Amount))
	} else if e.Text != "" {
		parts = append(parts, e.Text)
	}
	if note := spoken(e.Note, raw); note != "" {
		parts = append(parts, note)
	}
	return strings.Join(parts, ", ")
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
func spoken(spans []Span, raw bool) string {
	var b strings.Builder
	for _, s := range spans {
		text, word := s.Text, s.Tone.word()
		if raw && s.Raw != "" {
			text = s.Raw
		}
		rest := strings.TrimLeft(text, " ,")
		switch {
		case s.Tone == ToneZeros:
			continue
		case s.Tone == ToneGap:
			text = ", "
		case s.Sign == Given:
			text += " (given)"
		case s.Sign == Pending:
			text += " (not given yet)"
		case s.Sign != NoSign && word != "" && rest != "":
			text = text[:len(text)-len(rest)] + word + ": " + rest
		}
		b.WriteString(text)
	}
	return strings.TrimSpace(b.String())
}
