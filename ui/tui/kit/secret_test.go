package kit

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/colorprofile"
	"github.com/charmbracelet/x/ansi"
	"pgregory.net/rapid"

	"coffer/ui/tui/theme"
)

func typeSecret(f *SecretField, text string) {
	for _, r := range text {
		f.Update(tea.KeyPressMsg{Code: r, Text: string(r)})
	}
}

func TestR3ASecretIsNeverDrawn(t *testing.T) {
	th := theme.New(true, colorprofile.TrueColor, false)
	rapid.Check(t, func(rt *rapid.T) {
		f := NewSecretField()
		word := rapid.StringMatching(`[A-Z0-9äß€]{20,60}`).Draw(rt, "word")
		w := rapid.IntRange(1, 80).Draw(rt, "w")
		typeSecret(f, word)
		got := f.Text(th, w)
		if plain, _, _, _ := TakeCursor(got); ansi.StringWidth(plain) != w {
			rt.Fatalf("%d cells, want %d", ansi.StringWidth(plain), w)
		}
		if strings.Trim(ansi.Strip(strings.ReplaceAll(got, CursorMark, "")), " •") != "" {
			rt.Fatalf("%q shows more than the mask", got)
		}
		if all := fmt.Sprintf("%v %+v %s", f.Take(), reflect.TypeOf(f), f.Error); strings.Contains(all, word) {
			rt.Fatal("the word can be printed")
		}
	})
}

func TestSecretFieldEditsByCharacterAndWipes(t *testing.T) {
	f := NewSecretField()
	typeSecret(f, "grün€")
	f.Update(tea.KeyPressMsg{Code: tea.KeyBackspace})
	f.Update(tea.KeyPressMsg{Code: tea.KeyLeft}) // no text: nothing happens
	typeSecret(f, " 1")
	buf := f.buf[:cap(f.buf)]
	s := f.Take()
	if string(s.Reveal()) != "grün 1" || !f.Empty() {
		t.Fatalf("%q", s.Reveal())
	}
	s.Wipe()
	if !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Error("the buffer still holds a part of it")
	}
	typeSecret(f, "again")
	buf = f.buf[:cap(f.buf)]
	f.Update(tea.KeyPressMsg{Code: 'u', Mod: tea.ModCtrl})
	if !f.Empty() || !bytes.Equal(buf, make([]byte, len(buf))) {
		t.Error("ctrl+u leaves something")
	}
	f.Update(tea.KeyPressMsg{Code: tea.KeyBackspace}) // of an empty field
}

func TestR4APasteIntoASecretIsOneLine(t *testing.T) {
	f := NewSecretField()
	f.Update(tea.PasteMsg{Content: "two words\r\n"})
	f.Update(tea.PasteMsg{Content: "a\nb"})
	if f.Error == "" {
		t.Error("a paste of two lines is taken without a word")
	}
	f.Update(tea.PasteMsg{Content: strings.Repeat("x", maxSecret)})
	if !strings.Contains(f.Error, "too long") {
		t.Errorf("%q", f.Error)
	}
	if s := f.Take(); string(s.Reveal()) != "two words" {
		t.Errorf("%q", s.Reveal())
	}
}
