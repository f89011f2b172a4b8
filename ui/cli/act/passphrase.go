package act

import (
	"context"

	"github.com/spf13/cobra"

	"coffer/api/secret"
	"coffer/ui/cli"
)

// addPassphrase gives a command the flag of a passphrase.
func addPassphrase(cmd *cobra.Command) { cli.AddPassphrase(cmd) }

// passphrase is where secrets come from while a command runs.
type passphrase struct {
	*cli.Passphrase
	person Ask // nil without a terminal
}

// passphrase reads the descriptor of --passphrase-fd, if it was given, before anything else is opened.
func (c Commands) passphrase(cmd *cobra.Command) (*passphrase, error) {
	given, err := cli.ReadPassphrase(cmd, c.Terminal)
	p := &passphrase{Passphrase: given}
	if c.Terminal {
		p.person = c.Prompt.Secret
	}
	return p, err
}

// ask answers a question for the passphrase with the one that was given, once; everything else is for the person.
func (p *passphrase) ask(ctx context.Context, question string) (secret.Secret, error) {
	pass, mine, err := p.Take(question)
	switch {
	case mine:
		return pass, err
	case p.person == nil:
		return secret.Secret{}, cli.Unasked(question)
	}
	return p.person(ctx, question)
}
