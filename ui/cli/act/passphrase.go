package act

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api/secret"
	"coffer/ui/cli"
)

const passphraseFlag = "passphrase-fd"

// maxPassphrase bounds a passphrase, in bytes.
const maxPassphrase = 1024

// passphraseQuestion begins every question for a passphrase; what was given for one is never the answer to another question, such as that for an API key,
// which goes to the service.
const passphraseQuestion = "Passphrase of profile "

// addPassphrase gives a command the flag of a passphrase.
func addPassphrase(cmd *cobra.Command) {
	cmd.Flags().Int(passphraseFlag, -1, "read the passphrase of the keys from this inherited file descriptor `N`")
}

// passphrase is where secrets come from while a command runs.
type passphrase struct {
	given  bool
	pass   secret.Secret
	person Ask // nil without a terminal
}

// passphrase reads the descriptor of --passphrase-fd, if it was given, before anything else is opened.
func (c Commands) passphrase(cmd *cobra.Command) (*passphrase, error) {
	p := &passphrase{}
	if c.Terminal {
		p.person = c.Prompt.Secret
	}
	if !cmd.Flags().Changed(passphraseFlag) {
		return p, nil
	}
	n, err := cmd.Flags().GetInt(passphraseFlag)
	if err != nil {
		return nil, err
	}
	if n == 0 && c.Terminal {
		return nil, usage("leave the flag out: the passphrase is asked for", "--%s 0 would show on the terminal what is typed", passphraseFlag)
	}
	f, err := inherited(n)
	if err != nil {
		return nil, err
	}
	p.given = true
	p.pass, err = readPassphrase(f)
	return p, errors.Join(err, f.Close())
}

// readPassphrase takes the first line, or everything when there is no end of a line. It reads no byte beyond.
func readPassphrase(r io.Reader) (secret.Secret, error) {
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
			return secret.Secret{}, usage("", "the passphrase cannot be read from the descriptor of --%s", passphraseFlag)
		}
		line = append(line, one[:n]...)
	}
	line = bytes.TrimSuffix(line, []byte("\r"))
	if len(line) == 0 || len(line) > maxPassphrase {
		clear(line)
		return secret.Secret{}, usage("", "--%s has to give one line of 1 to %d bytes", passphraseFlag, maxPassphrase)
	}
	return secret.New(line), nil
}

// ask answers a question for the passphrase with the one that was given, once; everything else is for the person.
func (p *passphrase) ask(ctx context.Context, question string) (secret.Secret, error) {
	if p.given && strings.HasPrefix(question, passphraseQuestion) {
		if p.pass.Empty() {
			return secret.Secret{}, outcome(cli.ExitAccess, nil, "the passphrase of --%s does not open the keys", passphraseFlag)
		}
		out := secret.New(bytes.Clone(p.pass.Reveal()))
		p.wipe()
		return out, nil
	}
	if p.person == nil {
		return secret.Secret{}, outcome(cli.ExitAccess, nil, "the keys are locked and there is no terminal to ask on: give the passphrase with --%s N", passphraseFlag)
	}
	return p.person(ctx, question)
}

func (p *passphrase) wipe() {
	p.pass.Wipe()
	p.pass = secret.Secret{}
}

// named is a file of a descriptor that was checked.
func named(n int) (*os.File, error) {
	if f := os.NewFile(uintptr(n), "passphrase"); f != nil {
		return f, nil
	}
	return nil, notInherited(n)
}

func notInherited(n int) error {
	return usage("for instance: coffer call FILE --yes --passphrase-fd 3 3< <(pass show coffer)", "--%s %d is no open file that this program was started with", passphraseFlag, n)
}
