package setup

import (
	"unicode/utf8"

	"coffer/ui/tui/kit"
	"coffer/ui/tui/theme"
	"coffer/wallet/vault"
)

// strength rates a new passphrase below its field.
func (m *Model) strength(r row, w int) []string {
	if r.id != rowPass || r.secret.Empty() || m.wrong[rowPass] != "" {
		return nil
	}
	var meaning theme.Meaning
	var words string
	r.secret.Look(func(typed []byte) { meaning, words = strengthOf(typed) })
	return kit.Prose(w, margin+labelW, kit.Marked(m.theme, meaning, words)...)
}

// The bits from which a passphrase is rated fair and strong. Every guess costs about a second of work (scrypt, 2^18).
const (
	fairBits   = 45
	strongBits = 65
)

// strengthOf estimates how hard a passphrase is to guess. Every character that neither repeats nor continues the
// previous one counts the bits of its alphabet; a word counts as a word, not as its letters. It is a hint: it knows no
// dictionary. It keeps nothing of the passphrase.
func strengthOf(typed []byte) (theme.Meaning, string) {
	const perWord = 11 // bits, of a list of some thousand words
	n, bits, words, run := utf8.RuneCount(typed), 0, 0, 0
	letters := true
	var before rune
	seen := [256]bool{}
	distinct := 0
	for rest := typed; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		rest = rest[size:]
		if !seen[r&0xff] {
			seen[r&0xff] = true
			distinct++
		}
		switch {
		case r >= 'a' && r <= 'z':
			run++
			if r != before && r != before+1 {
				bits += 4
			}
		case r == ' ' || r == '-':
			if run >= 3 {
				words++
			}
			run = 0
		default:
			letters = false
			run = 0
			if r != before && r != before+1 {
				bits += 6
			}
		}
		before = r
	}
	if run >= 3 {
		words++
	}
	if letters && words > 0 {
		bits = min(bits, words*perWord)
	}
	bits = min(bits, distinct*6)
	switch {
	case n < vault.MinPassphrase:
		return theme.Danger, clean(vault.ErrWeakPassphrase)
	case bits < fairBits:
		return theme.Warn,
			"weak: anyone who gets the file can guess it. Take five or more words that do not belong together"
	case bits < strongBits:
		return theme.Warn, "fair: one or two more words make it strong"
	}
	return theme.Good, "strong"
}
