package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api/secret"
)

// PassphraseFlag is the flag that names an inherited file descriptor with the passphrase of the keys.
const PassphraseFlag = "passphrase-fd"

// maxPassphrase bounds a passphrase, in bytes.
const maxPassphrase = 1024

// passphraseQuestion begins every question for a passphrase; a given passphrase never answers another question, such
// as the one for an API key, which goes to the service.
const passphraseQuestion = "Passphrase of profile "

// keysQuestion begins the question for the passphrase of a file with a service's keys.
const keysQuestion = "Passphrase of the keys in "

// PassphraseQuestion asks for the passphrase of a profile's keys. A Prompt prints lines above it before it asks.
func PassphraseQuestion(profile string) string {
	return passphraseQuestion + profile + " (not shown): "
}

// asksPassphrase reports whether a question, by its last line, asks for the passphrase of the keys.
func asksPassphrase(question string) bool {
	_, question = above(question)
	return strings.HasPrefix(question, passphraseQuestion) || strings.HasPrefix(question, keysQuestion)
}

// above splits a question into the lines to print before and its last line.
func above(question string) (lines []string, last string) {
	all := strings.Split(question, "\n")
	return all[:len(all)-1], all[len(all)-1]
}

// serviceQuestion begins every question for the key of a service.
const serviceQuestion = "API key for profile "

// A Passphrase is the content of --passphrase-fd, for one question at most; the zero value has none.
type Passphrase struct {
	given bool
	pass  secret.Secret
}

// GivenPassphrase is a passphrase from a source other than a descriptor. It takes the secret.
func GivenPassphrase(pass secret.Secret) *Passphrase { return &Passphrase{given: true, pass: pass} }

// readFlag reads the descriptor of --passphrase-fd, if given, before anything else is opened. terminal means
// that a user is there to be asked.
func readFlag(cmd *cobra.Command, terminal bool) (*Passphrase, error) {
	if !cmd.Flags().Changed(PassphraseFlag) {
		return &Passphrase{}, nil
	}
	n, err := cmd.Flags().GetInt(PassphraseFlag)
	if err != nil {
		return nil, err
	}
	if n == 0 && terminal {
		return nil, &UsageError{Problem: "--" + PassphraseFlag + " 0 would show on the terminal what is typed",
			Hint: "leave the flag out and type the passphrase"}
	}
	f, err := inherited(n)
	if err != nil {
		return nil, err
	}
	pass, err := readPassphrase(f)
	return &Passphrase{given: true, pass: pass}, errors.Join(err, f.Close())
}

// Take answers a question for the passphrase of the keys with the given one, once. mine is false where the question is
// for another source.
func (p *Passphrase) Take(question string) (pass secret.Secret, mine bool, err error) {
	if p == nil || !p.given || !asksPassphrase(question) {
		return secret.Secret{}, false, nil
	}
	if p.pass.Empty() {
		return secret.Secret{}, true, &AccessError{Problem: "the passphrase of --" + PassphraseFlag +
			" does not open the keys"}
	}
	pass = secret.New(bytes.Clone(p.pass.Reveal()))
	p.Wipe()
	return pass, true, nil
}

// Wipe wipes a given passphrase that was not taken.
func (p *Passphrase) Wipe() {
	p.pass.Wipe()
	p.pass = secret.Secret{}
}

// passphraseKey finds the passphrase of a command in its context.
type passphraseKey struct{}

// Passing adds the flag of a passphrase to a command; while the command runs, a Prompt answers with what the flag
// gave. It wraps the existing RunE.
func Passing(cmd *cobra.Command, terminal bool) *cobra.Command {
	cmd.Flags().Int(PassphraseFlag, -1, "read the passphrase of the keys from this inherited file descriptor `N`")
	run := cmd.RunE
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		p, err := readFlag(cmd, terminal)
		if err != nil {
			return err
		}
		defer p.Wipe()
		cmd.SetContext(context.WithValue(cmd.Context(), passphraseKey{}, p))
		return run(cmd, args)
	}
	return cmd
}

// given answers a question from --passphrase-fd, if the command has it.
func given(ctx context.Context, question string) (secret.Secret, bool, error) {
	p, _ := ctx.Value(passphraseKey{}).(*Passphrase)
	return p.Take(question)
}

// PassphraseGiven reports whether the running command was given the passphrase of the keys and has not taken it yet.
func PassphraseGiven(ctx context.Context) bool {
	p, _ := ctx.Value(passphraseKey{}).(*Passphrase)
	return p != nil && p.given && !p.pass.Empty()
}

// Unasked is the error of a question that needs a user when none is there.
func Unasked(question string) error {
	if asksPassphrase(question) {
		return &AccessError{
			Problem: "the keys are locked and there is no terminal to ask on",
			Hint:    "give the passphrase with --" + PassphraseFlag + " N, where the command has it",
		}
	}
	if strings.HasPrefix(question, serviceQuestion) {
		return &AccessError{Problem: "the API key is needed, but there is no terminal",
			Hint: "store it where you can type, once: coffer keys api-key set"}
	}
	return &UsageError{Problem: "a passphrase is needed, but there is no terminal",
		Hint: "run it where you can type; no flag and no variable takes a secret"}
}

// readPassphrase reads the passphrase of a descriptor.
func readPassphrase(r io.Reader) (secret.Secret, error) {
	line, err := firstLine(r)
	switch {
	case err != nil:
		return secret.Secret{}, &UsageError{Problem: "the passphrase cannot be read from the descriptor of --" +
			PassphraseFlag}
	case line == nil:
		return secret.Secret{}, &UsageError{Problem: fmt.Sprintf("--%s has to give one line of 1 to %d bytes",
			PassphraseFlag, maxPassphrase)}
	}
	return secret.New(line), nil
}

// secretLine reads a secret of one line, or says problem.
func secretLine(r io.Reader, problem string) (secret.Secret, error) {
	line, err := firstLine(r)
	if err != nil || line == nil {
		return secret.Secret{}, &UsageError{Problem: problem}
	}
	return secret.New(line), nil
}

// firstLine takes the first line, or everything when no line ends; nil when it is empty or too long. It reads no byte
// beyond.
func firstLine(r io.Reader) ([]byte, error) {
	line := make([]byte, 0, maxPassphrase+1) // never grows, so no copy stays behind
	var one [1]byte
	defer clear(one[:])
	for len(line) <= maxPassphrase {
		n, err := r.Read(one[:])
		if n == 1 && one[0] == '\n' || n == 0 && errors.Is(err, io.EOF) {
			break
		}
		if n == 0 && err != nil {
			clear(line)
			return nil, err
		}
		line = append(line, one[:n]...)
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 || len(line) > maxPassphrase {
		clear(line)
		return nil, nil
	}
	return line, nil
}

// named is the file of a checked descriptor.
func named(n int) (*os.File, error) {
	if f := os.NewFile(uintptr(n), "passphrase"); f != nil {
		return f, nil
	}
	return nil, notInherited(n)
}

func notInherited(n int) error {
	return &UsageError{
		Problem: fmt.Sprintf("--%s %d is no open file that this program was started with", PassphraseFlag, n),
		Hint:    "for instance: coffer call FILE --yes --passphrase-fd 3 3< <(pass show coffer)",
	}
}
