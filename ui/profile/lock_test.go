package profile

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"coffer/api/secret"
	"coffer/config"
	"coffer/ui/cli"
	"coffer/wallet/vault"
)

// typing is a user who answers questions for a passphrase.
type typing struct {
	answers []string
	asked   []string
}

func (p *typing) ask(_ context.Context, question string) (secret.Secret, error) {
	p.asked = append(p.asked, question)
	next := p.answers[0]
	p.answers = p.answers[1:]
	return secret.New([]byte(next)), nil
}

func TestAWrongPassphraseIsToldBeforeItIsAskedForAgain(t *testing.T) {
	const right, question = "correct horse battery", "Passphrase of profile mine (not shown): "
	dir := t.TempDir()
	open := func(p *typing) *Opened {
		v, err := vault.OpenFile(vault.Options{Profile: "mine",
			NetworkID: "0x" + "1212121212121212121212121212121212121212121212121212121212121212", Dir: dir,
			Clock: time.Now, Random: zeros{}, WorkFactor: 1})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = v.Close() })
		return &Opened{Profile: config.Profile{Name: "mine"}, vault: v, host: Host{Ask: p.ask}}
	}
	if err := open(nil).vault.Create(t.Context(), secret.New([]byte(right))); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		answers, asked []string
		want           error
	}{
		"right at once": {[]string{right}, []string{question}, nil},
		"wrong, right": {[]string{"not this one", right},
			[]string{question, "Wrong passphrase, try 2 of 3.\n" + question}, nil},
		"nothing, right": {[]string{"", right}, []string{question, "Nothing was typed, try 2 of 3.\n" + question},
			nil},
		"wrong each time": {[]string{"not this", "nor this", "nor that"},
			[]string{question, "Wrong passphrase, try 2 of 3.\n" + question,
				"Wrong passphrase, try 3 of 3.\n" + question}, vault.ErrPassphrase},
	} {
		p := &typing{answers: c.answers}
		err := open(p).Unlock(t.Context())
		if !errors.Is(err, c.want) || !slices.Equal(p.asked, c.asked) {
			t.Errorf("%s: %v, asked %q", name, err, p.asked)
		}
	}
}

// A wrong passphrase from --passphrase-fd is not asked for again: no user is there, and the only output is the error.
func TestAWrongPassphraseOfADescriptorIsTheEnd(t *testing.T) {
	given := cli.GivenPassphrase(secret.New([]byte("not this one")))
	for i, question := range []string{cli.PassphraseQuestion("mine"),
		again(false, 2) + cli.PassphraseQuestion("mine")} {
		_, mine, err := given.Take(question)
		if !mine || (err == nil) != (i == 0) || i == 1 && cli.Code(err) != cli.ExitAccess {
			t.Errorf("%q: %v, %v", question, mine, err)
		}
	}
	if code := cli.Code(cli.Unasked(again(true, 2) + cli.PassphraseQuestion("mine"))); code != cli.ExitAccess {
		t.Errorf("without a terminal: %d", code)
	}
}

// zeros is a source of bytes without randomness.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
