package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken") }

func TestPlainWritesWordsAndNoMarks(t *testing.T) {
	var b strings.Builder
	w := Plain(&b)
	fmt.Fprint(w, markPastes)
	fmt.Fprint(w, "Passphrase: ")
	if n, err := fmt.Fprint(w, plainPastes+"\n"); err != nil || n != len(plainPastes)+1 ||
		b.String() != "Passphrase: \n" {
		t.Errorf("%d %v %q", n, err, b.String())
	}
	if _, err := fmt.Fprint(Plain(broken{}), "x"); err == nil {
		t.Error("an error was swallowed")
	}
}
