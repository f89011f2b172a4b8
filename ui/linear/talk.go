package linear

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"coffer/ui/present"
	"coffer/wallet/consent"
)

// The ways in which a question ends without an answer.
var (
	errBack = errors.New("back")
	errQuit = errors.New("quit")
)

// The bounds of a question that confirms.
const (
	heels      = 200 * time.Millisecond // a line that follows an answer within it makes both a paste
	waited     = 50 * time.Millisecond  // a line that comes within it was there before the question
	maxDropped = 10_000                 // lines at one question before the input counts as a program's
)

// question is the question of a prompt. repeat prints its subject again; nil: the text says it all. top: there is
// nothing to go back to. careful: an empty line within half a second was meant for something else.
type question struct {
	text    string
	repeat  func()
	top     bool
	careful bool
}

func (s *session) put(q question) {
	s.asked++
	tail := " (? repeats, an empty line goes back)"
	if q.top {
		tail = " (? repeats)"
	}
	s.out.say(q.text + tail)
}

// steps asks one question after the other. An empty line goes back to the one before, and out from the first.
func (s *session) steps(ctx context.Context, all ...func(context.Context) error) error {
	asked := make([]bool, len(all)) // a step that had nothing to ask is no place to go back to
	for i := 0; i < len(all); {
		before := s.asked
		err := all[i](ctx)
		asked[i] = s.asked > before
		switch {
		case err == nil:
			i++
			continue
		case !errors.Is(err, errBack):
			return err
		}
		for i--; i >= 0 && !asked[i]; i-- {
		}
		if i < 0 {
			return errBack
		}
	}
	return nil
}

// ask asks until there is an answer. The error is errBack for an empty line.
func (s *session) ask(ctx context.Context, q question) (string, error) {
	s.put(q)
	shown, told := s.now(), false
	for {
		l, err := s.next(ctx)
		switch {
		case err != nil:
			return "", err
		case s.typed && l.at.Sub(shown) < waited:
			if !told {
				s.out.say("What was typed before this question, or in one paste with the line before, was dropped.")
			}
			shown, told = l.at, true
		case q.careful && l.text == "" && l.at.Sub(shown) < consent.Quiet:
		case l.wrong != "":
			s.out.say(l.wrong + " Type it again.")
		case s.helped(l.text, q):
		case l.text == "" && q.top: // a listener would have to hear the whole list; ? says it
			s.put(q)
		case l.text == "":
			return "", errBack
		default:
			return l.text, nil
		}
	}
}

func (s *session) again(q question) {
	if q.repeat != nil {
		q.repeat()
	}
	s.put(q)
}

// helped answers a question mark: with the subject of the question, or with the meaning of the words.
func (s *session) helped(text string, q question) bool {
	switch strings.Join(strings.Fields(text), "") {
	case "?":
		s.out.say("Type ? terms for what the words mean.")
		s.again(q)
	case "?terms":
		for _, t := range present.Terms() {
			s.out.say(t.Name + ": " + t.Text)
		}
		s.put(q)
	default:
		return false
	}
	return true
}

// next is the next line of the input. When printing fails, it accepts no answer either.
func (s *session) next(ctx context.Context) (line, error) {
	if s.out.err != nil {
		return line{}, s.out.err
	}
	l, err := s.in.next(ctx)
	if err == nil && s.ctx.Vault.Touch != nil {
		s.ctx.Vault.Touch()
	}
	return l, err
}

// confirm asks for something that has to be typed now and by hand. A line is an answer only when half a second has
// passed since the question and since the previous line, and when no line follows at once.
func (s *session) confirm(ctx context.Context, q question) (string, error) {
	s.put(q)
	quietSince, dropped := s.now(), 0
	for {
		l, err := s.next(ctx)
		if err != nil {
			return "", err
		}
		early := l.at.Sub(quietSince) < consent.Quiet
		quietSince = l.at
		if early {
			if dropped++; dropped == 1 {
				s.out.say("What was typed before this question, or within half a second of it, was dropped. Wait a " +
					"moment, then type.")
			}
			if dropped >= maxDropped {
				s.out.say("That was too fast to have been typed. Nothing was confirmed.")
				return "", errQuit
			}
			continue
		}
		switch {
		case l.wrong != "":
			s.out.say(l.wrong + " Type it again.")
			continue
		case s.helped(l.text, q):
			quietSince = s.now()
			continue
		}
		more, err := s.followed(ctx)
		switch {
		case err != nil:
			return "", err
		case more:
			s.out.say("Several lines came at once. That is a paste, and a paste confirms nothing: type it by hand.")
			quietSince = s.now()
		case l.text == "":
			return "", errBack
		default:
			return l.text, nil
		}
	}
}

// followed reports whether another line comes right behind an answer.
func (s *session) followed(ctx context.Context) (bool, error) {
	short, stop := context.WithTimeout(ctx, heels)
	defer stop()
	_, err := s.in.next(short)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return false, s.out.err
	}
	return err == nil, err
}

// menu is a list of choices: items by their numbers, words by their letters. do is what each item does, where it says
// so.
type menu struct {
	title string
	items []string
	do    []func() error
	words []word
	top   bool
	brief bool // the list was just printed: it returns for a question mark only

	careful bool // as in question
}

// word is a choice without a number: what to type and what it does.
type word struct{ key, text string }

// add appends an item and what it does.
func (m *menu) add(text string, do func() error) {
	m.items, m.do = append(m.items, text), append(m.do, do)
}

// offer shows a list of items that do something, and does the chosen one.
func (s *session) offer(ctx context.Context, m menu) error {
	i, _, err := s.choose(ctx, m)
	if err != nil {
		return err
	}
	return m.do[i]()
}

// one asks for an element of a list.
func one[T any](ctx context.Context, s *session, title string, list []T, words func(T) string) (x T, err error) {
	m := menu{title: title}
	for _, it := range list {
		m.items = append(m.items, words(it))
	}
	i, _, err := s.choose(ctx, m)
	if err == nil {
		x = list[i]
	}
	return x, err
}

// longMenu is how many choices are said at once: a listener has to hear them all.
const longMenu = 25

// choose shows a list and asks for a choice: the index of an item, or -1 and the key of a word with the text typed
// after it.
func (s *session) choose(ctx context.Context, m menu) (int, string, error) {
	most := longMenu
	show := func() {
		if m.title != "" {
			s.out.say(m.title)
		}
		for i, t := range m.items[:min(len(m.items), most)] {
			s.out.put(2, plain(strconv.Itoa(i+1)+". "+t))
		}
		if more := len(m.items) - most; more > 0 {
			s.out.put(2, plain("and "+itoa(more)+" more: type the first word of one, or a question mark for all"))
		}
		most = len(m.items)
		for _, w := range m.words {
			s.out.put(2, plain(w.key+": "+w.text))
		}
	}
	switch {
	case !m.brief:
		show()
	case m.title != "":
		s.out.say(m.title)
	}
	q := question{text: m.asks(), repeat: show, top: m.top, careful: m.careful}
	for {
		text, err := s.ask(ctx, q)
		if err != nil {
			return -1, "", err
		}
		for _, w := range m.words {
			if strings.EqualFold(strings.Fields(text)[0], w.key) {
				return -1, strings.ToLower(text), nil
			}
		}
		found := present.Chosen(text, m.items)
		switch len(found) {
		case 0:
			s.out.say("\"" + clean(text, 40) + "\" is not one of the choices.")
		case 1:
			return found[0], "", nil
		default:
			s.out.say("\"" + clean(text, 40) + "\" can mean more than one choice: " + numbers(found) + ".")
		}
	}
}

// numbers names choices by their numbers, the first few of many.
func numbers(of []int) string {
	const most = 5
	var out []string
	for _, i := range of[:min(len(of), most)] {
		out = append(out, strconv.Itoa(i+1))
	}
	if len(of) > most {
		out = append(out, "one of "+itoa(len(of)-most)+" more")
	}
	return either(out)
}

// asks names the choices in one sentence.
func (m menu) asks() string {
	var parts []string
	switch n := len(m.items); n {
	case 0:
	case 1:
		parts = append(parts, "1")
	default:
		parts = append(parts, "a number from 1 to "+strconv.Itoa(n))
	}
	for _, w := range m.words {
		parts = append(parts, w.key)
	}
	return "Type " + either(parts) + ":"
}

// either names things of which one is meant.
func either(of []string) string {
	if last := len(of) - 1; last > 0 {
		of = append(of[:last-1], of[last-1]+" or "+of[last])
	}
	return strings.Join(of, ", ")
}

// yes asks a yes-or-no question on which only convenience depends.
func (s *session) yes(ctx context.Context, text string) (bool, error) {
	for {
		a, err := s.ask(ctx, question{text: text + " Type yes or no:"})
		if err != nil {
			return false, err
		}
		switch strings.ToLower(a) {
		case "yes", "y":
			return true, nil
		case "no", "n":
			return false, nil
		}
		s.out.say("Type yes or no.")
	}
}
