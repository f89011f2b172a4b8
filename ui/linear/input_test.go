package linear

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode"
	"unicode/utf8"
)

func TestLinesAreReadOnlyWhenAskedFor(t *testing.T) {
	keys := strings.NewReader("one\ntwo\n")
	in := newInput(iotest.OneByteReader(keys), utc)
	defer in.close()
	l, err := in.next(context.Background())
	if err != nil || l.text != "one" || keys.Len() != 4 {
		t.Errorf("%+v, %v; %d bytes are left", l, err, keys.Len())
	}
	for _, want := range []error{nil, errEnd, errEnd} {
		if _, err := in.next(context.Background()); !errors.Is(err, want) {
			t.Errorf("%v, want %v", err, want)
		}
	}
}

func TestAnErrorOfTheInputIsKept(t *testing.T) {
	broken := errors.New("the cable is cut")
	in := newInput(iotest.ErrReader(broken), utc)
	defer in.close()
	for range 2 {
		if _, err := in.next(context.Background()); !errors.Is(err, broken) {
			t.Error(err)
		}
	}
}

func TestLinesThatAreNoTextAreRefused(t *testing.T) {
	for text, ok := range map[string]bool{
		"yes": true, " yes \r": true, "ja\tdoch": true, "Überweisung": true, "日本": true, "yes\x1b[A": false,
		"\x03": false, "a\x00b": false, "\xff": false, "\u009b31m": false,
	} {
		if l := cleanLine(text); (l.wrong == "") != ok {
			t.Errorf("%q: %+v", text, l)
		}
	}
}

func TestALineHasABound(t *testing.T) {
	r := bufio.NewReaderSize(strings.NewReader(strings.Repeat("1", maxLine)+"\n"+strings.Repeat("2", maxLine+1)+
		"\nnext\n"), 16)
	for _, want := range []struct {
		length int
		wrong  bool
	}{{maxLine, false}, {0, true}, {4, false}} {
		l, err := readLine(r)
		if err != nil || len(l.text) != want.length || (l.wrong != "") != want.wrong {
			t.Errorf("%d bytes, %q, %v", len(l.text), l.wrong, err)
		}
	}
}

func FuzzReadLine(f *testing.F) {
	f.Add([]byte("1\nyes\n250.98\n"), 16)
	f.Add([]byte("\r\n\x1b[A\n\xff\nno end"), 1)
	f.Add(bytes.Repeat([]byte("x"), 5000), 17)
	f.Fuzz(func(t *testing.T, b []byte, size int) {
		r := bufio.NewReaderSize(bytes.NewReader(b), 16+max(0, size)%100)
		given := strings.Split(string(b), "\n")
		for i := range len(given) - 1 {
			l, err := readLine(r)
			if err != nil {
				t.Fatalf("line %d: %v", i, err)
			}
			if l.wrong != "" && l.text != "" {
				t.Fatalf("a line that is no answer has text: %+v", l)
			}
			if !utf8.ValidString(l.text) || strings.ContainsFunc(l.text, unicode.IsControl) ||
				strings.TrimSpace(l.text) != strings.Trim(l.text, " ") && strings.ContainsAny(l.text, "\r\n\t") {
				t.Fatalf("%q", l.text)
			}
			want := strings.Trim(strings.ReplaceAll(given[i], "\t", " "), " \r")
			if l.wrong == "" && l.text != want {
				t.Fatalf("%q became %q", want, l.text)
			}
		}
		if l, err := readLine(r); !errors.Is(err, io.EOF) {
			t.Fatalf("a line without an end: %+v, %v", l, err)
		}
	})
}

func FuzzPrinterWritesPlainLines(f *testing.F) {
	f.Add("Total $1,234.56", 78, 2)
	f.Add("\x1b[2J\u202e日本\u200b"+strings.Repeat("w", 200), 20, 4)
	f.Fuzz(func(t *testing.T, text string, width, indent int) {
		var b bytes.Buffer
		p := newPrinter(&b, width%200)
		p.where(max(0, indent)%5, text, address(text))
		p.raw(text)
		r := &rig{t: t, paper: &paper{}}
		r.opts.Width = p.width
		lines := strings.SplitAfter(b.String(), "\n")
		r.paper.all.WriteString(strings.Join(lines[:len(lines)-2], "")) // a raw line has no width limit
		r.plain()
	})
}
