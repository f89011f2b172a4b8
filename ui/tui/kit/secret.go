package kit

import (
	"strings"
	"unicode"
	"unicode/utf8"

	tea "charm.land/bubbletea/v2"

	"coffer/api/secret"
	"coffer/ui/tui/theme"
)

// maxSecret is the longest passphrase in bytes. The buffer has this size from the start, so that growing leaves no copy
// behind.
const maxSecret = 1024

// SecretField takes a passphrase. It never draws the text: one mask sign replaces each character. The bytes are in one
// buffer, which Take hands over and Wipe clears; nothing else of the field holds them. A paste is one text without line
// breaks, and submits nothing.
type SecretField struct {
	Error string // what is wrong with it; the screen around the field draws it
	buf   []byte
}

// NewSecretField makes an empty field.
func NewSecretField() *SecretField { return &SecretField{} }

// Empty reports whether nothing is typed.
func (f *SecretField) Empty() bool { return len(f.buf) == 0 }

// Update handles a key or a paste.
func (f *SecretField) Update(msg tea.Msg) {
	switch m := msg.(type) {
	case tea.PasteMsg:
		f.paste(m.Content)
	case tea.KeyPressMsg:
		switch m.String() {
		case "backspace":
			f.cut()
		case "ctrl+u":
			f.Wipe()
		default:
			f.add(m.Text)
		}
	}
}

// cut removes the last character.
func (f *SecretField) cut() {
	_, n := utf8.DecodeLastRune(f.buf)
	end := len(f.buf) - n
	clear(f.buf[end:])
	f.buf = f.buf[:end]
}

func (f *SecretField) paste(text string) {
	text = strings.TrimRight(text, "\r\n") // of a copied line
	if strings.ContainsFunc(text, unicode.IsControl) {
		f.Error = "not pasted: a passphrase is one line"
		return
	}
	f.add(text)
}

func (f *SecretField) add(text string) {
	switch {
	case text == "":
		return
	case len(f.buf)+len(text) > maxSecret:
		f.Error = "too long for a passphrase"
		return
	case f.buf == nil:
		f.buf = make([]byte, 0, maxSecret)
	}
	f.Error = ""
	f.buf = append(f.buf, text...)
}

// Take hands the secret over and leaves the field empty. The caller wipes it.
func (f *SecretField) Take() secret.Secret {
	s := secret.New(f.buf)
	f.buf = nil
	return s
}

// Wipe clears the typed bytes.
func (f *SecretField) Wipe() {
	clear(f.buf)
	f.buf = f.buf[:0]
}

// Text draws the mask in exactly w cells, with the cursor behind it.
func (f *SecretField) Text(th theme.Theme, w int) string {
	n := min(utf8.RuneCount(f.buf), max(0, w-1))
	return th.Input.Render(strings.Repeat(th.Signs.Mask, n)) + CursorMark + strings.Repeat(" ", max(0, w-n))
}
