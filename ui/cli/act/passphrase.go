package act

import (
	"context"

	"github.com/spf13/cobra"

	"coffer/api/secret"
	"coffer/ui/cli"
)

// addPassphrase adds the flag of a passphrase to a command.
func addPassphrase(cmd *cobra.Command) { cli.AddPassphrase(cmd) }

// passphrase is the source of secrets while a command runs.
type passphrase struct {
	*cli.Passphrase
	person Ask // nil without a terminal
}

// passphrase reads the descriptor of --passphrase-fd, if given, before anything else is opened.
func (c Commands) passphrase(cmd *cobra.Command) (*passphrase, error) {
	given, err := cli.ReadPassphrase(cmd, c.Terminal)
	p := &passphrase{Passphrase: given}
	if c.Terminal {
		p.person = c.Prompt.Secret
	}
	return p, err
}

// ask answers a question for the passphrase with the given one, once; every other question goes to the user.
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
