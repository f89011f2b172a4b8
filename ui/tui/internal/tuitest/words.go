package tuitest

import (
	"math/rand/v2"
	"reflect"
	"testing"

	tea "charm.land/bubbletea/v2"

	"coffer/ui/tui/screen"
)

// Words generates what people type into fields, random but the same for one seed: names, addresses, amounts, and any
// printable characters.
type Words struct{ random *rand.Rand }

// NewWords makes the generator of a seed.
func NewWords(seed uint64) *Words {
	return &Words{rand.New(rand.NewPCG(seed, seed))} //nolint:gosec // words of a test, the same for one seed
}

// Next is a word of 1 to 17 characters, now and then with a space in it.
func (w *Words) Next() string {
	told := []string{
		"usdc", "0xA1", "appr", "5 ether", "123456", "q", ":send", "?", "/x", "https://a.b/?c=1", "~/file.json", "X",
		"nnn", "ddd", "U", "+", ",", "W", "T", "L", "h", "i", "jk", "gG",
	}
	if w.random.IntN(3) == 0 {
		return told[w.random.IntN(len(told))]
	}
	out := make([]byte, 1+w.random.IntN(5))
	for i := range out {
		out[i] = byte('!' + w.random.IntN('~'-'!'+1))
	}
	return string(out)
}

// Type presses the characters of a text in order, as the shell passes them on, and returns the messages of the
// commands. It fails the test when a character would be a key of the shell or of the screen: then the screen does not
// capture typed text.
func Type(t testing.TB, s screen.Screen, text string) (sent []tea.Msg) {
	t.Helper()
	for _, c := range text {
		if !s.Capturing() {
			t.Fatalf("%q of %q would be a key and no text", c, text)
		}
		key := tea.KeyPressMsg{Code: c, Text: string(c)}
		if c == ' ' {
			key.Code = tea.KeySpace
		}
		sent = append(sent, Messages(s.Update(key))...)
	}
	return sent
}

// Messages runs a command and all commands inside it, in order, and returns their messages.
func Messages(cmd tea.Cmd) []tea.Msg {
	if cmd == nil {
		return nil
	}
	msg := cmd()
	if v := reflect.ValueOf(msg); v.IsValid() && v.Kind() == reflect.Slice &&
		v.Type().Elem() == reflect.TypeFor[tea.Cmd]() {
		var out []tea.Msg
		for i := range v.Len() {
			c, _ := v.Index(i).Interface().(tea.Cmd)
			out = append(out, Messages(c)...)
		}
		return out
	}
	if msg == nil {
		return nil
	}
	return []tea.Msg{msg}
}
