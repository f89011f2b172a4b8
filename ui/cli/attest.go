package cli

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/spf13/cobra"

	"coffer/api/secret"
)

// AttestOptions are the flags of `coffer attest`.
type AttestOptions struct {
	Networks    string // the network file
	Data        string // data directory
	Keys        string // file of the keys, "" for the usual one in the data directory
	Listen      string
	Hosts       []string
	Plain       bool // plain HTTP, on this machine alone
	Metrics     string
	Connections int
	JSON        bool
	LogJSON     bool
	LogLevel    slog.Level
}

func (p Program) attest() *cobra.Command {
	var o AttestOptions
	w := words{format: "text", level: "info"}
	cmd := &cobra.Command{
		Use:   "attest",
		Short: "Attest an operator's deliveries, as another party",
		Long: `Runs an attester of an operator's network. An escrow releases a payment only for the signatures of enough
attesters; this program signs when it has found the delivery in a final block of the target chain, which it reads
through the nodes that your own network file names. It keeps nothing but its keys.

Its key is made at the first start, for this network alone, in a file of the data directory that a passphrase guards.
The operator writes its address into the list of attesters. Without --passphrase-fd you type the passphrase.

The operator asks with an API key that ` + "`coffer serve keys add --data DIR`" + ` makes; while there is none,
one is printed that is valid for this process only.`,
		Example: `  coffer attest --networks networks.toml
  coffer attest --networks networks.toml --data ./attester --listen 0.0.0.0:8444 --host attester.example
  coffer attest --networks networks.toml --passphrase-fd 3 3< passphrase`,
		PersistentPreRunE: func(cmd *cobra.Command, _ []string) error {
			if cmd.Flags().Changed("profile") {
				return &UsageError{Problem: "an attester has no profile", Hint: "--data names its data directory"}
			}
			return notEmpty(cmd, "data")
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := notEmpty(cmd, "networks", "keys", "host", "metrics"); err != nil {
				return err
			}
			if o.Networks == "" {
				return Misused(cmd, "--networks names the network file")
			}
			if err := o.settle(w); err != nil {
				return err
			}
			return p.Attest(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Networks, "networks", "", "the network `FILE` with the operator's table [operator] and your own "+
		"nodes")
	f.StringVar(&o.Data, "data", "", "data `directory`, made when it is not there (default: below the user's data "+
		"directory)")
	f.StringVar(&o.Keys, "keys", "", "the `FILE` with its keys, which a passphrase guards (default: attester.keys in "+
		"the data directory)")
	f.StringVar(&o.Listen, "listen", "127.0.0.1:8444", "where to listen, as `HOST:PORT`; port 0 takes a free one")
	f.StringSliceVar(&o.Hosts, "host", nil,
		"further host `name` or address that the operator uses, for the certificate; may be given several times")
	f.BoolVar(&o.Plain, "plain-http", false, "answer without TLS, at a loopback address: for a proxy on this machine "+
		"that ends TLS")
	f.StringVar(&o.Metrics, "metrics", "",
		"answer with Prometheus metrics at this loopback `HOST:PORT`, such as 127.0.0.1:9465 (default: no metrics)")
	f.IntVar(&o.Connections, "max-connections", defaultConnections,
		"connections open at once; one address may have a quarter of this `number`")
	f.BoolVar(&o.JSON, "json", false, "print one line of JSON with address, attester and key once the port accepts")
	f.StringVar(&w.format, "log-format", w.format, "form of the log on standard error: `text or json`")
	f.StringVar(&w.level, "log-level", w.level, "the least that is logged: `debug, info, warn or error`")
	return Passing(cmd, p.Terminal)
}

// settle reads the words and checks what needs no attester.
func (o *AttestOptions) settle(w words) (err error) {
	if o.LogJSON, o.LogLevel, err = w.log(); err != nil {
		return err
	}
	if !isHostPort(o.Listen) {
		return &UsageError{Problem: "--listen takes an address and a port from 0 to 65535, such as 127.0.0.1:8444"}
	}
	if o.Connections < minConnections || o.Connections > maxConnections {
		return &UsageError{Problem: fmt.Sprintf("--max-connections takes %d to %d", minConnections, maxConnections)}
	}
	return checkNames(o.Hosts, nil)
}

// KeysPassphrase asks for the passphrase of a file of keys, twice where it is made with it and nothing gives it.
func (p Prompt) KeysPassphrase(ctx context.Context, file string, fresh bool) (secret.Secret, error) {
	given := PassphraseGiven(ctx)
	question := keysQuestion + file + " (not shown): "
	if fresh && !given {
		question = "The keys are made now, and this passphrase guards them; without it they are gone.\n" + question
	}
	first, err := p.Secret(ctx, question)
	if err != nil || !fresh || given {
		return first, err
	}
	again, err := p.Secret(ctx, "The same once more: ")
	if err == nil && string(first.Reveal()) != string(again.Reveal()) {
		err = &UsageError{Problem: "the two passphrases differ; nothing was made"}
	}
	again.Wipe()
	if err != nil {
		first.Wipe()
		return secret.Secret{}, err
	}
	return first, nil
}

// anyoneSentence is what is typed before every account is served with real money.
const anyoneSentence = "serve anyone with real money"

// ConfirmAnyone asks whether every account is to be served with real money. yes is that of the flag.
func (p Prompt) ConfirmAnyone(ctx context.Context, yes bool) error {
	if yes {
		return nil
	}
	const problem = `accounts = "any" of the network file serves every account, with real money`
	if !p.Terminal {
		return &UsageError{Problem: problem, Hint: "list the accounts, or give --serve-anyone-with-real-money"}
	}
	p.Say(problem + ": any account may cost sponsor_usd_per_day of gas a day.")
	typed, err := p.Line(ctx, "Type \""+anyoneSentence+"\" to go on: ")
	if err == nil && !strings.EqualFold(typed, anyoneSentence) {
		err = &UsageError{Problem: "nothing was opened: list the accounts in the network file"}
	}
	return err
}
