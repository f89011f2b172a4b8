package verify

import (
	"fmt"
	"strings"
	"unicode"

	"coffer/api/catalog"
)

// maxSymbol bounds a symbol that is shown, in characters.
const maxSymbol = 32

// Symbols knows the symbols that this program ships, and tells what looks like one of them (TH-B4). It is immutable;
// NewSymbols makes it.
type Symbols struct {
	table map[rune]string
	known map[string]string // skeleton to symbol
}

// SymbolView is a foreign symbol as it may be shown. Plain: it is of the allowed ASCII characters, and Text is the
// symbol itself. Otherwise Text has every other character as \u{…} and must be marked "unverified". Like is the shipped
// symbol that it looks like, "" when there is none; an asset that we do not ship and that looks like one of ours must
// not be traded.
type SymbolView struct {
	Text  string
	Plain bool
	Like  string
}

// String is Text, marked where it is not plain.
func (v SymbolView) String() string {
	if v.Plain {
		return v.Text
	}
	return v.Text + " (unverified)"
}

// NewSymbols collects the symbols of the catalogue: of chains, aggregates and entities.
func NewSymbols(c *catalog.Catalog) Symbols {
	s := Symbols{table: confusables(), known: map[string]string{}}
	for _, info := range append(c.Chains(), c.Solana()) {
		s.known[s.skeleton(info.NativeSymbol)] = info.NativeSymbol
	}
	for _, a := range c.Aggregates() {
		s.known[s.skeleton(a.Symbol)] = a.Symbol
		for _, e := range a.Entities {
			if e.Symbol == a.Symbol {
				continue
			}
			s.known[s.skeleton(e.Symbol)] = e.Symbol
		}
	}
	return s
}

// Judge looks at the symbol of an asset that the catalogue does not have. The reason is nil for a plain symbol that
// looks like no other; it refuses to trade what looks like a shipped symbol, the exact symbol included, and warns about
// one that is not plain.
func (s Symbols) Judge(symbol string) (SymbolView, *Reason) {
	v := SymbolView{Plain: plainSymbol(symbol)}
	v.Text = escapeSymbol(symbol)
	for _, form := range []string{symbol, strings.TrimFunc(symbol, decoration)} {
		if like, ok := s.known[s.skeleton(form)]; ok {
			v.Like = like
			return v, &Reason{Code: "B4", Level: Refuse,
				Title: "The symbol looks like that of a known asset, but this is another one.",
				Want:  "another symbol than " + like, Got: v.Text}
		}
	}
	if !v.Plain {
		return v, &Reason{Code: "B4", Level: Warn,
			Title: "The symbol has characters that symbols do not have; it is unverified.",
			Want:  "letters, digits and . + - _ $", Got: v.Text}
	}
	return v, nil
}

// decoration is what can be put around a symbol without changing how it reads.
func decoration(r rune) bool { return r != '+' && !unicode.IsLetter(r) && !unicode.IsNumber(r) }

func plainSymbol(s string) bool {
	for i := range len(s) {
		if !plainByte(s[i]) {
			return false
		}
	}
	return len(s) > 0 && len(s) <= maxSymbol
}

func plainByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte(".+-_$", c) >= 0
}

// escapeSymbol writes a symbol in ASCII: what is not allowed becomes \u{hex}.
func escapeSymbol(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > maxSymbol {
			b.WriteString("...")
			break
		}
		if r < 0x80 && plainByte(byte(r)) {
			b.WriteByte(byte(r))
			continue
		}
		fmt.Fprintf(&b, "\\u{%x}", r)
	}
	return b.String()
}

// maxSkeleton bounds the work on one symbol, in characters: no known symbol is nearly as long.
const maxSkeleton = 256

// skeleton writes a symbol the way it reads, after the idea of UTS-39: what is invisible is left out, look-alikes
// become one letter, letter case is folded, and pairs that read as one letter become that. Two symbols with one
// skeleton can be taken for each other.
func (s Symbols) skeleton(symbol string) string {
	var b strings.Builder
	n := 0
	for _, r := range symbol {
		if n++; n > maxSkeleton {
			break
		}
		if invisible(r) {
			continue
		}
		b.WriteString(s.fold(r))
	}
	return strings.NewReplacer("VV", "W", "RN", "M", "CI", "D").Replace(b.String())
}

func invisible(r rune) bool {
	return unicode.In(r, unicode.M, unicode.C, unicode.Z, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector)
}

// fold maps one character to what it reads as.
func (s Symbols) fold(r rune) string {
	r = styled(r)
	if to, ok := s.table[r]; ok {
		return to
	}
	up := unicode.ToUpper(r)
	if to, ok := s.table[up]; ok {
		return to
	}
	return string(up)
}
